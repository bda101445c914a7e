//! Kilo's `/goal`: the server prompts its own agent until that reports an end, is stopped, fails, or gets nothing done.
//! What is wanted and how it stands is kept with the session, where clients read it; who works toward it is known only
//! while the process lives.

use super::abort::Cut;
use super::prompt::Prompt;
use super::routes::body_of;
use super::run::TurnEnd;
use super::session::Session;
use super::{ApiRequest, Effect, Purpose, Ticket, World};
use serde_json::{Map, Value, json};
use words::{ACTIVE, CLEARED, HELP, PAUSED, wish};

mod outcome;
mod report;
mod words;

pub(crate) use report::{REPORT, ReportPlan};

/// Where a session keeps it.
const KEY: &str = "kilo.goal";
/// So long the server waits before it prompts again.
const REST_MS: u64 = 5000;
/// A goal has no more letters.
const LETTERS: usize = 10_000;

/// Somebody works toward a goal.
#[derive(Debug)]
pub(crate) struct Goal {
    text: String,
    agent: String,
    model: Value,
    /// The server's prompt whose turn runs, or has ended last.
    prompt: String,
    /// What the agent has reported in that turn: the status and the reason.
    report: Option<(String, String)>,
    /// The person has said no to something that it wanted.
    is_blocked: bool,
    /// The person has said something meanwhile: the turn ended early for that.
    is_superseded: bool,
    /// The turn is still to be judged.
    is_open: bool,
    /// The rest is over, but the session is busy with something else.
    is_due: bool,
}

/// The command, on its way.
#[derive(Debug, Clone)]
pub(crate) struct GoalCall {
    ticket: Ticket,
    arguments: String,
    kind: Kind,
    /// What the client wants.
    wanted: Value,
}

#[derive(Debug, Clone)]
enum Kind {
    Look,
    Pause,
    Clear,
    /// What is to be reached, and as the person said it.
    Start(String, String),
}

/// How a goal stands, as a session keeps it.
#[derive(Debug, Clone)]
struct Kept {
    text: String,
    status: String,
    reason: Option<String>,
}

impl Kept {
    fn read(metadata: Option<&Value>) -> Option<Self> {
        let kept = metadata?.get(KEY)?;
        let text = kept["text"].as_str().filter(|text| !text.trim().is_empty())?.to_owned();
        let status = kept["status"].as_str();
        let status = status.filter(|status| ["active", "complete", "blocked", "paused"].contains(status));
        let status = status.unwrap_or(if kept["active"] == true { "active" } else { "paused" }).to_owned();
        Some(Self { text, status, reason: kept["reason"].as_str().map(str::to_owned) })
    }

    fn wire(&self) -> Value {
        let mut wire = json!({"text": self.text, "status": self.status, "active": self.status == "active"});
        if let Some(reason) = &self.reason {
            wire["reason"] = json!(reason);
        }
        wire
    }
}

impl Session {
    /// What is told of what its creator wants to be kept with it: a goal that nobody works toward is none.
    pub(crate) fn told_metadata(&self) -> Option<Value> {
        let mut told = self.metadata.clone();
        if let (Some(mut kept), Some(told)) = (Kept::read(self.metadata.as_ref()), told.as_mut()) {
            match (&self.goal, kept.status.as_str()) {
                (Some(_), _) => "active".clone_into(&mut kept.status),
                (None, "active") => "paused".clone_into(&mut kept.status),
                _ => {}
            }
            told[KEY] = kept.wire();
        }
        told
    }
}

impl World {
    /// `POST /session/{id}/command` with the command `goal`.
    pub(super) fn call_goal(&mut self, request: &ApiRequest, id: &str) {
        let wanted = body_of(request);
        let arguments = wanted["arguments"].as_str().unwrap_or_default().to_owned();
        let said = arguments.trim();
        let literal = said.strip_prefix("-- ").map(str::trim);
        let known = self.sessions.get(id).and_then(|owner| Kept::read(owner.metadata.as_ref()));
        let kind = match said {
            "" => Kind::Look,
            "pause" => Kind::Pause,
            "clear" => Kind::Clear,
            _ => {
                let of_before = || known.map(|known| known.text).unwrap_or_default();
                let text = match literal {
                    Some(literal) => literal.to_owned(),
                    None if said == "resume" => of_before(),
                    None => said.to_owned(),
                };
                if text.is_empty() || text.encode_utf16().count() > LETTERS || !self.may_start_goal(id) {
                    return self.plain_bad_request(request.ticket);
                }
                Kind::Start(text, literal.unwrap_or(said).to_owned())
            }
        };
        let call = GoalCall { ticket: request.ticket, arguments, kind, wanted };
        let starts = matches!(call.kind, Kind::Start(..));
        let was_active = self.sessions.get(id).is_some_and(|owner| owner.goal.is_some());
        let is_busy = self.run_mut(id).is_some();
        if !matches!(call.kind, Kind::Look) && was_active || starts && is_busy {
            self.pause_goal(id);
            if is_busy {
                return self.abort_turn_then(id, Cut::Goal(id.to_owned(), Box::new(call)));
            }
            let directory = self.sessions.get(id).map(|owner| owner.directory.clone()).unwrap_or_default();
            self.tell_all_idle(&directory, id);
        }
        self.answer_goal(id, call);
    }

    /// One that is put aside or taken back can't have a goal, nor one whose agents wait for an answer.
    fn may_start_goal(&self, id: &str) -> bool {
        let waits = |session: &str| {
            self.permissions.pending.iter().any(|pending| pending.session == session)
                || self.questions.iter().any(|open| open.session == session)
        };
        let is_here = self.sessions.get(id).is_some_and(|o| o.archived.is_none() && o.revert.is_none());
        is_here && !waits(id) && !self.descendants(id).iter().any(|below| waits(below))
    }

    /// What ran in the session is over: the command is answered.
    pub(crate) fn answer_goal(&mut self, session: &str, call: GoalCall) {
        let now = self.now_ms;
        let known = self.sessions.get(session).and_then(|owner| Kept::read(owner.metadata.as_ref()));
        let text = match &call.kind {
            Kind::Start(text, said) => {
                let kept = Kept { text: text.clone(), status: "active".to_owned(), reason: None };
                let shown = json!({"type": "text", "text": format!("/goal {said}"), "ignored": true});
                self.begin_goal(session, text);
                self.keep_goal(session, Some(&kept));
                return self.prompt_goal(session, &call.clone(), shown);
            }
            Kind::Clear => {
                self.keep_goal(session, None);
                CLEARED.to_owned()
            }
            Kind::Pause => PAUSED.to_owned(),
            Kind::Look => known.map_or(HELP.to_owned(), |known| {
                format!("Goal {}: {}\n{}\n{HELP}", known.status, known.text, known.reason.unwrap_or_default())
            }),
        };
        let owner = self.sessions.get(session);
        let model = owner.and_then(|owner| owner.model.clone()).map_or_else(
            || json!({"providerID": "local", "modelID": "goal"}),
            |model| json!({"providerID": model["providerID"], "modelID": model["id"], "variant": model["variant"]}),
        );
        let agent = owner.and_then(|owner| owner.agent.clone()).unwrap_or_else(|| "code".to_owned());
        let message = self.ids.ascending("msg", now);
        let asked = call.wanted["messageID"].as_str().map(str::to_owned);
        let asked = asked.unwrap_or_else(|| self.ids.ascending("msg", now));
        let info = self.goal_info(session, &message, &asked, (&agent, &model));
        let part = json!({
            "id": self.ids.ascending("prt", now), "sessionID": session, "messageID": message, "type": "text",
            "text": text,
        });
        self.goal_answered(session, &call, info, &part);
    }

    /// A message that no model has written.
    fn goal_info(&self, session: &str, id: &str, prompt: &str, by: (&str, &Value)) -> Value {
        let (agent, model) = by;
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default();
        let mut info = json!({
            "id": id, "sessionID": session, "role": "assistant",
            "time": {"created": self.now_ms, "completed": self.now_ms}, "parentID": prompt,
            "modelID": model["modelID"], "providerID": model["providerID"], "mode": agent, "agent": agent,
            "path": {"cwd": directory, "root": self.worktree_of(&directory)}, "cost": 0,
            "tokens": super::tokens::Tokens::default().wire(),
        });
        if let Some(variant) = model.get("variant") {
            info["variant"] = variant.clone();
        }
        info["finish"] = json!("stop");
        info
    }

    fn goal_answered(&mut self, session: &str, call: &GoalCall, mut info: Value, part: &Value) {
        let properties = json!({
            "name": "goal", "sessionID": session, "arguments": call.arguments, "messageID": info["id"],
        });
        self.emit_session(session, "command.executed", properties);
        // An answer says of what is not there that it is nothing.
        if info.get("variant").is_none() {
            info["variant"] = Value::Null;
        }
        self.reply_json(call.ticket, json!({"info": info, "parts": [part]}));
    }

    fn begin_goal(&mut self, session: &str, text: &str) {
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.goal = Some(Goal {
                text: text.to_owned(),
                agent: String::new(),
                model: Value::Null,
                prompt: String::new(),
                report: None,
                is_blocked: false,
                is_superseded: false,
                is_open: false,
                is_due: false,
            });
        }
    }

    /// What the person said stays in the session; the agent is not told it.
    fn prompt_goal(&mut self, session: &str, call: &GoalCall, shown: Value) {
        let wanted = &call.wanted;
        let word = |key: &str| wanted[key].as_str().map(str::to_owned);
        let model = wanted["model"].as_str().and_then(|model| model.split_once('/'));
        let more = wanted["parts"].as_array().cloned().unwrap_or_default();
        let prompt = Prompt {
            message: word("messageID"),
            agent: word("agent"),
            model: model.map(|(provider, model)| json!({"providerID": provider, "modelID": model})),
            variant: word("variant"),
            kept: json!({}),
            parts: std::iter::once(shown).chain(more).collect(),
            goal: Some(Box::new(call.clone())),
            ..Prompt::default()
        };
        self.prompt(session, prompt);
    }

    /// The person's words are stored: it is said that the goal stands, and the agent is prompted.
    pub(super) fn goal_stored(&mut self, session: &str, prompt: &str, call: &GoalCall) {
        let owner = self.sessions.get(session);
        let asked = owner.and_then(|owner| owner.message(prompt)).map(|asked| asked.info.clone());
        let asked = asked.unwrap_or_default();
        let agent = asked["agent"].as_str().unwrap_or_default().to_owned();
        let message = self.ids.ascending("msg", self.now_ms);
        let info = self.goal_info(session, &message, prompt, (&agent, &asked["model"]));
        self.push_message(session, &message, info.clone());
        let place = self.add_part(session, &message, json!({"type": "text", "text": ACTIVE}));
        let part = self.part_mut(session, &message, place).cloned().unwrap_or_default();
        self.goal_answered(session, call, info, &part);
        if let Some(goal) = self.sessions.get_mut(session).and_then(|owner| owner.goal.as_mut()) {
            goal.agent = agent;
            goal.model = asked["model"].clone();
        }
        self.go_on_with_goal(session);
    }

    /// The server prompts the agent.
    fn go_on_with_goal(&mut self, session: &str) {
        let message = self.ids.ascending("msg", self.now_ms);
        let Some(goal) = self.sessions.get_mut(session).and_then(|owner| owner.goal.as_mut()) else { return };
        goal.prompt.clone_from(&message);
        goal.report = None;
        (goal.is_blocked, goal.is_superseded, goal.is_open, goal.is_due) = (false, false, true, false);
        let text = wish(&goal.text);
        let prompt = Prompt {
            message: Some(message),
            agent: Some(goal.agent.clone()),
            model: Some(goal.model.clone()),
            kept: json!({}),
            parts: vec![json!({"type": "text", "synthetic": true, "text": text})],
            ..Prompt::default()
        };
        self.prompt(session, prompt);
    }

    /// Is this a prompt that the server has put in for a goal?
    pub(crate) fn is_prompt_of_goal(&self, session: &str, message: &str) -> bool {
        let goal = self.sessions.get(session).and_then(|owner| owner.goal.as_ref());
        goal.is_some_and(|goal| goal.prompt == message)
    }

    /// Nobody works toward it any more. Says whether somebody did.
    pub(super) fn drop_goal(&mut self, session: &str) -> bool {
        let Some(owner) = self.sessions.get_mut(session) else { return false };
        let had = owner.goal.take().is_some();
        self.drop_waiting(|purpose| matches!(purpose, Purpose::GoalRest(of) if of == session));
        had
    }

    /// The person stops it.
    pub(crate) fn pause_goal(&mut self, session: &str) {
        let kept = self.sessions.get(session).and_then(|owner| Kept::read(owner.metadata.as_ref()));
        if self.drop_goal(session)
            && let Some(kept) = kept
        {
            self.keep_goal(session, Some(&Kept { status: "paused".to_owned(), ..kept }));
        }
    }

    fn keep_goal(&mut self, session: &str, kept: Option<&Kept>) {
        let now = self.now_ms;
        self.change_session(session, |owner| {
            let mut all: Map<String, Value> =
                owner.metadata.as_ref().and_then(Value::as_object).cloned().unwrap_or_default();
            match kept {
                Some(kept) => all.insert(KEY.to_owned(), kept.wire()),
                None => all.shift_remove(KEY),
            };
            owner.metadata = Some(Value::Object(all));
            owner.touch(now);
        });
    }

    /// A turn of a session is over, and no prompt waits: if it was for the goal, what came of it is looked at.
    pub(crate) fn goal_turn_over(&mut self, session: &str, end: TurnEnd, base: Option<&String>, waits: bool) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let is_away = owner.archived.is_some();
        let Some(goal) = owner.goal.as_mut() else { return };
        goal.is_superseded |= end == TurnEnd::Superseded && base == Some(&goal.prompt);
        if waits || !goal.is_open {
            return;
        }
        goal.is_open = false;
        let text = goal.text.clone();
        let (status, reason) = match (self.goal_outcome(session), is_away) {
            (None, false) => {
                let until_ms = self.now_ms + REST_MS;
                return self.effect(Purpose::GoalRest(session.to_owned()), Effect::Wait { until_ms });
            }
            (None, true) => return self.pause_goal(session),
            (Some(told), _) => told,
        };
        self.drop_goal(session);
        self.keep_goal(session, Some(&Kept { text, status, reason: Some(reason) }));
    }

    /// The server has waited long enough, or is free again.
    pub(crate) fn goal_goes_on(&mut self, session: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let (is_busy, is_away) = (owner.run.is_some(), owner.archived.is_some() || owner.revert.is_some());
        let Some(goal) = owner.goal.as_mut() else { return };
        if is_away {
            self.pause_goal(session);
        } else if is_busy {
            goal.is_due = true;
        } else {
            self.go_on_with_goal(session);
        }
    }

    /// Nothing runs in the session any more: a goal whose rest is over goes on.
    pub(crate) fn goal_if_due(&mut self, session: &str) {
        let owner = self.sessions.get(session);
        if owner
            .is_some_and(|owner| owner.run.is_none() && owner.goal.as_ref().is_some_and(|goal| goal.is_due))
        {
            self.goal_goes_on(session);
        }
    }
}
