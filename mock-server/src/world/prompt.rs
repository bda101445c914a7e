//! What a person sends: taken at once, or a follow-up of the turn that runs.

use super::goal::GoalCall;
use super::letter::Letter;
use super::routes::body_of;
use super::session::{Message, merge};
use super::structured::kept_format;
use super::{ApiRequest, ReplyBody, Ticket, World};
use crate::mistakes::Mistake;
use crate::profile::FollowUps;
use serde_json::{Value, json};

/// What a person sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    /// Waits for the end of the turn.
    pub(crate) ticket: Option<Ticket>,
    /// The id that the client chose for its message.
    pub(crate) message: Option<String>,
    /// Who is to answer, and with which model.
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<Value>,
    pub(crate) variant: Option<String>,
    /// Tools switched on or off, from now on.
    pub(crate) tools: Option<Value>,
    /// What the message keeps beside: `system`, `format`.
    pub(crate) kept: Value,
    /// Nobody is to answer.
    pub(crate) no_reply: bool,
    /// The parts, as the client wrote them.
    pub(crate) parts: Vec<Value>,
    /// The command whose words these are.
    pub(crate) command: Option<Executed>,
    /// The goal that is told with it; nobody is to answer.
    pub(crate) goal: Option<Box<GoalCall>>,
}

/// A command that was called: its name and what was said with it.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// Who waits for its end.
    pub(crate) ticket: Option<Ticket>,
    /// They get no more than a yes.
    pub(crate) is_yes: bool,
}

/// A prompt whose message is stored.
#[derive(Debug)]
pub(crate) struct Queued {
    /// Waits for the end of the turn.
    pub(crate) ticket: Option<Ticket>,
    /// The prompt's message.
    pub(crate) message: String,
    /// The command whose words it says.
    pub(crate) command: Option<Executed>,
    /// Somebody has sent it and does not wait.
    pub(crate) is_unwaited: bool,
    /// The call of another session that gives it as work.
    pub(crate) of_call: Option<(String, usize)>,
}

impl Queued {
    /// One that nobody has sent.
    pub(crate) fn of_server(message: String) -> Self {
        Self { ticket: None, message, command: None, is_unwaited: false, of_call: None }
    }

    /// The work that a call of another session gives.
    pub(crate) fn of_call(message: String, session: &str, call: usize) -> Self {
        Self { of_call: Some((session.to_owned(), call)), ..Self::of_server(message) }
    }
}

impl Prompt {
    /// Who waits for it, for itself or for the command whose words it says.
    pub(crate) fn waiting(&self) -> Option<Ticket> {
        self.ticket.or_else(|| self.command.as_ref()?.ticket)
    }
}

impl World {
    /// `POST /session/{id}/message`, and `prompt_async`, which nobody waits for.
    pub(super) fn send_prompt(&mut self, request: &ApiRequest, id: &str, waiting: Option<Ticket>) {
        let body = self.operations.known_body("session.prompt", body_of(request));
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        let system = body.get("system").map(|system| ("system".to_owned(), system.clone()));
        let format = body.get("format").map(|format| ("format".to_owned(), kept_format(format)));
        let kept = system.into_iter().chain(format);
        let prompt = Prompt {
            ticket: waiting,
            message: text("messageID"),
            agent: text("agent"),
            model: body.get("model").cloned(),
            variant: text("variant"),
            tools: body.get("tools").cloned(),
            kept: kept.collect(),
            no_reply: body["noReply"] == true,
            parts: body["parts"].as_array().cloned().unwrap_or_default(),
            ..Prompt::default()
        };
        if waiting.is_none() {
            self.reply(request.ticket, 204, ReplyBody::Empty);
        }
        self.prompt(id, prompt);
    }

    /// Takes a prompt: what it carries is read, then it is stored.
    pub(crate) fn prompt(&mut self, session: &str, prompt: Prompt) {
        let Some(owner) = self.sessions.get(session) else { return };
        let is_busy = owner.run.is_some();
        self.forget_reverted(session);
        if !is_busy {
            self.remove_empty_failures(session);
        }
        if let Some(letter) = self.open_letter(session, prompt) {
            self.settle_sandbox(session);
            self.read_letter(letter);
        }
    }

    /// All is read: the turn begins at once, or this is a follow-up of the one that is running.
    pub(crate) fn store_letter(&mut self, letter: Letter) {
        if let Some((giver, call)) = &letter.work_of {
            let (giver, call) = (giver.clone(), *call);
            let (message, _) = self.store_message(&letter.session, letter.info, letter.parts);
            return self.task_written(&giver, call, message);
        }
        let Letter { session, prompt, info, parts, .. } = letter;
        if !self.knows_session(&session) {
            return self.unknown_error_to(prompt.waiting());
        }
        if let Some(call) = &prompt.goal {
            let (message, _) = self.store_untouched(&session, info, parts);
            return self.goal_stored(&session, &message, call);
        }
        let is_busy = self.run_mut(&session).is_some();
        let (message, parts) = self.store_message(&session, info, parts);
        self.switch_tools(&session, prompt.tools.as_ref());
        if prompt.no_reply {
            // A question that no turn waits for any more stays until somebody wants an answer.
            if is_busy && self.profile.prompts_dismiss {
                self.dismiss_suggestions(&session);
                self.dismiss_questions(&session);
            }
            if is_busy
                && self.profile.follow_ups == FollowUps::NextStep
                && let Some(owner) = self.sessions.get_mut(&session)
            {
                // The turn answers whatever was said last, wanted or not.
                owner.queue.push_back(Queued::of_server(message.clone()));
            }
            if let Some(ticket) = prompt.ticket {
                let told = self.told_of_letter(&session, &message, &parts);
                self.reply_json(ticket, told);
            }
            return;
        }
        let is_unwaited = prompt.waiting().is_none() && !self.is_prompt_of_goal(&session, &message);
        let (ticket, command) = (prompt.ticket, prompt.command);
        let queued = Queued { ticket, message, command, is_unwaited, of_call: None };
        if !is_busy {
            if self.profile.prompts_dismiss {
                self.dismiss_suggestions(&session);
                self.dismiss_questions(&session);
            }
            self.begin_turn(&session, queued);
        } else if let Some(queued) = self.wait_for_person_line(&session, queued)
            && let Some(owner) = self.sessions.get_mut(&session)
        {
            owner.queue.push_back(queued);
            if let Some(run) = owner.run.as_mut() {
                run.has_follow_up = true;
            }
            self.emit_queue(&session);
            if self.profile.prompts_dismiss {
                self.dismiss_suggestions(&session);
                self.dismiss_questions(&session);
            }
        }
    }

    /// The message with the parts that came with this letter: under its id others may have come before.
    fn told_of_letter(&self, session: &str, message: &str, parts: &[String]) -> Value {
        let stored = self.sessions.get(session).and_then(|owner| owner.message(message)).map(Message::wire);
        let mut told = stored.unwrap_or_default();
        if let Some(all) = told["parts"].as_array_mut() {
            all.retain(|part| parts.iter().any(|id| part["id"] == id.as_str()));
        }
        told
    }

    /// The rules of the session become those of the prompt.
    fn switch_tools(&mut self, session: &str, tools: Option<&Value>) {
        let rule = |(tool, on): (&String, &Value)| {
            let action = if on == true { "allow" } else { "deny" };
            json!({"permission": tool, "action": action, "pattern": "*"})
        };
        let rules: Vec<Value> = tools.and_then(Value::as_object).into_iter().flatten().map(rule).collect();
        if rules.is_empty() {
            return;
        }
        let (now, keeps) = (self.now_ms, self.profile.tool_switches_add);
        self.change_session(session, |owner| {
            let kept = owner.permission.take().filter(|_| keeps);
            let mut all = kept.and_then(|kept| kept.as_array().cloned()).unwrap_or_default();
            all.retain(|known| !rules.iter().any(|rule| rule["permission"] == known["permission"]));
            all.extend(rules);
            owner.permission = Some(Value::Array(all));
            owner.touch(now);
        });
    }

    /// Which prompts wait for a turn of their own.
    pub(crate) fn emit_queue(&mut self, session: &str) {
        if self.profile.follow_ups == FollowUps::OwnTurns
            && let Some(owner) = self.sessions.get(session)
        {
            let queued: Vec<&str> = owner.queue.iter().map(|queued| queued.message.as_str()).collect();
            let properties = json!({"sessionID": session, "queued": queued});
            self.emit_session(session, "session.queue.changed", properties);
        }
    }

    /// Stores a prompt that nobody has to read first.
    pub(crate) fn store_prompt(&mut self, session: &str, prompt: Prompt) -> String {
        let Some(letter) = self.open_letter(session, prompt) else { return String::new() };
        self.store_message(session, letter.info, letter.prompt.parts).0
    }

    /// Reads what is given as work by a call: the files and agents that it names.
    pub(crate) fn read_work(&mut self, session: &str, mut prompt: Prompt, work_of: (&str, usize)) {
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default();
        let text = prompt.parts.first().and_then(|part| part["text"].as_str()).unwrap_or_default();
        let names = self.names_in(text, &directory);
        prompt.parts.extend(names);
        if let Some(mut letter) = self.open_letter(session, prompt) {
            letter.work_of = Some((work_of.0.to_owned(), work_of.1));
            self.read_letter(letter);
        }
    }

    /// Who is to answer, with which model; `None` when there is nobody of that name.
    fn open_letter(&mut self, session: &str, prompt: Prompt) -> Option<Letter> {
        if self.stumbles_over_folder(session, prompt.waiting()) {
            return None;
        }
        let is_known = prompt.agent.is_some() || self.profile.prompts_keep_agent && self.has_agent(session);
        if !is_known && let Some((mistake, why)) = self.agents_for(session).lacks_default() {
            self.refuse_prompt(session, prompt.waiting(), mistake, &why);
            return None;
        }
        let kept = if self.profile.prompts_keep_agent {
            self.agent_of(session)
        } else {
            self.default_agent(session)
        };
        let agent = prompt.agent.clone().unwrap_or_else(|| kept.to_owned());
        if self.is_nobody(session, &agent) {
            self.refuse_prompt(session, prompt.waiting(), Mistake::Agent, "UnknownError: UnknownError");
            return None;
        }
        let agent = self.own_name(session, agent);
        let message = prompt.message.clone().unwrap_or_else(|| self.ids.ascending("msg", self.now_ms));
        let own = self.own_model_of(session, &agent);
        let mut model = prompt.model.clone().or(own).unwrap_or_else(|| self.model_of(session));
        if !self.profile.prompts_keep_agent {
            // A fork's first prompt goes on with the model of those that it has copied, and not as hard as they.
            if let Some(fields) = model.as_object_mut() {
                fields.shift_remove("variant");
            }
        }
        if let Some(variant) =
            prompt.variant.clone().or_else(|| self.variant_of_agent(session, &agent, &model))
        {
            model["variant"] = json!(variant);
        }
        self.note_agent_and_model(session, &agent, &model);
        let mut info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": self.now_ms},
            "agent": agent, "model": model,
        });
        if let Some(tools) = &prompt.tools {
            info["tools"] = tools.clone();
        }
        merge(&mut info, prompt.kept.clone());
        Some(Letter::new(session, prompt, info))
    }

    /// A message is told before its parts. They are told in the order in which they were written, and stand in the
    /// order of their ids. Returns the message's id and those of its parts.
    fn store_message(&mut self, session: &str, info: Value, parts: Vec<Value>) -> (String, Vec<String>) {
        let stored = self.store_untouched(session, info, parts);
        let now = self.now_ms;
        self.change_session(session, |owner| owner.touch(now));
        stored
    }

    fn store_untouched(&mut self, session: &str, info: Value, parts: Vec<Value>) -> (String, Vec<String>) {
        let message = info["id"].as_str().unwrap_or_default().to_owned();
        self.push_message(session, &message, info);
        let now = self.now_ms;
        let number = |mut part: Value, ids: &mut super::ids::Ids| {
            if part.get("id").is_none() {
                part["id"] = json!(ids.ascending("prt", now));
            }
            part
        };
        let parts: Vec<Value> = parts.into_iter().map(|part| number(part, &mut self.ids)).collect();
        let ids = parts.iter().filter_map(|part| part["id"].as_str().map(str::to_owned)).collect();
        for part in parts {
            self.add_part(session, &message, part);
        }
        if let Some(stored) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message)) {
            stored.parts.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
        }
        (message, ids)
    }

    /// The model that an agent wants in a session, if it wants one.
    pub(crate) fn own_model_of(&self, session: &str, agent: &str) -> Option<Value> {
        let is_configured =
            self.settings_for(session).get("agent").is_some_and(|agents| agents.get(agent).is_some());
        if is_configured { self.agent_for(session, agent)?.model.clone() } else { None }
    }

    /// The model that answers when a prompt names none: that of the session, or of the prompt before.
    pub(crate) fn model_of(&self, session: &str) -> Value {
        let owner = self.sessions.get(session);
        match owner.and_then(|owner| owner.model.as_ref()) {
            Some(model) => {
                let mut known = json!({"providerID": model["providerID"], "modelID": model["id"]});
                let variant = model.get("variant").filter(|variant| **variant != "default");
                if let Some(variant) = variant.filter(|_| self.profile.prompts_keep_agent) {
                    known["variant"] = variant.clone();
                }
                known
            }
            None => {
                let prompts = owner.into_iter().flat_map(|owner| owner.messages.iter().rev());
                let mut models = prompts.filter(|message| message.role() == "user").map(|m| &m.info["model"]);
                let known = models.find(|model| model.is_object());
                known.cloned().unwrap_or_else(|| self.model_of_settings(session))
            }
        }
    }

    /// The model that the settings name for everybody.
    fn model_of_settings(&self, session: &str) -> Value {
        let settings = self.settings_for(session);
        let named = settings.get("model").and_then(Value::as_str).and_then(|named| named.split_once('/'));
        let (provider, model) = named.unwrap_or(("fake", "fake"));
        json!({"providerID": provider, "modelID": model})
    }

    /// A session tells who works in it as soon as that changes.
    pub(crate) fn note_agent_and_model(&mut self, session: &str, agent: &str, model: &Value) {
        let variant = model.get("variant").cloned().unwrap_or_else(|| json!("default"));
        let wanted = json!({"id": model["modelID"], "providerID": model["providerID"], "variant": variant});
        let Some(owner) = self.sessions.get(session) else { return };
        let known = owner.model.as_ref().map(|known| {
            let mut known = known.clone();
            if known.get("variant").is_none() {
                known["variant"] = json!("default");
            }
            known
        });
        if owner.agent.as_deref() == Some(agent) && known.as_ref() == Some(&wanted) {
            return;
        }
        let now = self.now_ms;
        self.change_session(session, |owner| {
            owner.agent = Some(agent.to_owned());
            owner.model = Some(wanted);
            owner.touch(now);
        });
    }

    /// The next step answers all that was asked meanwhile; it is told as the answer to the last of it.
    pub(crate) fn take_follow_ups(&mut self, session: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.as_mut() else { return };
        for queued in owner.queue.drain(..) {
            run.prompt.clone_from(&queued.message);
            run.take_waiting(queued);
        }
    }
}
