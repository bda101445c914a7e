//! What the model is told: the conversation as an OpenAI-compatible request.

use super::World;
use super::agents::Agent;
use super::boards;
use super::goal::REPORT;
use super::media::{Senses, is_garbled};
use super::models::{ByName, ENDS_IN_WORDS};
use super::reminders::Reminder;
use super::session::{Message, iso_time};
use super::structured::STRUCTURED;
use crate::clients::MORE_FOR_MODELS;
use crate::model::{ChatRequest, MEDIA, OwnUse};
use fixtures::ServerKind;
use serde_json::{Map, Value, json};

/// How a result is told that was taken away to save room.
pub(crate) const CLEARED: &str = "[Old tool result content cleared]";

/// What the model is told when its agent may take no more steps.
const LAST_STEP: &str = include_str!("../profile/texts/last-step.txt");

/// Who works here. In words of our own, and about as many as Kilo's: some models look at where a text begins alone.
const CODER: &str = include_str!("../profile/texts/introduction.txt");

impl World {
    /// The request for the current step of a session's turn.
    pub(crate) fn turn_request(&self, session: &str) -> ChatRequest {
        if let Some(prompt) = self.summary_prompt(session) {
            let messages = vec![
                json!({"role": "system", "content": self.who_is(session, "compaction")}),
                json!({"role": "user", "content": prompt}),
            ];
            let terms = self.terms_of(session);
            return ChatRequest {
                messages: self.fit(messages, &self.asked_in(session), &terms),
                tools: Vec::new(),
                stream: true,
                session: Some(session.to_owned()),
                terms,
                definitions: Map::new(),
                helpers: Vec::new(),
                own_use: Some(OwnUse::Summary),
            };
        }
        let mut messages = vec![self.opening(session)];
        if let Some(owner) = self.sessions.get(session) {
            let current = owner.run.as_ref().map_or("", |run| run.message.as_str());
            let waits = |id: &str| owner.queue.iter().any(|queued| queued.message == id);
            let history = self.history(owner);
            let told = history.into_iter().filter(|message| message.id() != current && !waits(message.id()));
            let told: Vec<&Message> = told.collect();
            let senses = self.senses(owner);
            let last = told.iter().rposition(|message| message.role() == "user");
            for (at, message) in told.iter().enumerate() {
                let reminders =
                    if Some(at) == last { self.reminders(owner, &told, message) } else { Vec::new() };
                messages.extend(self.told(message, reminders, &owner.directory, &senses));
            }
        }
        if self.is_last_step(session) {
            messages.push(json!({"role": self.profile.ends_steps_as, "content": LAST_STEP.trim_end()}));
        }
        let tools = self.offered_tools(session);
        let mut terms = self.terms_of(session);
        if !tools.is_empty() {
            let choice = if self.wants_form(session) { "required" } else { "auto" };
            terms.insert("tool_choice".to_owned(), json!(choice));
        }
        let messages = self.fit(messages, &self.asked_in(session), &terms);
        let definitions = self.definitions_of(session);
        let helpers = self.helpers_of(session, self.agent_at_work(session));
        let session = Some(session.to_owned());
        ChatRequest { messages, tools, stream: true, session, terms, definitions, helpers, own_use: None }
    }

    /// Has the agent taken as many steps as its settings let it?
    fn is_last_step(&self, session: &str) -> bool {
        let most = self.agent_for(session, self.agent_at_work(session)).and_then(Agent::most_steps);
        let run = self.sessions.get(session).and_then(|owner| owner.run.as_ref());
        most.zip(run).is_some_and(|(most, run)| f64::from(run.rounds) >= most)
    }

    /// Who the model is, and what the prompt that it answers says of that.
    fn opening(&self, session: &str) -> Value {
        let owner = self.sessions.get(session);
        let prompt = owner.and_then(|owner| owner.message(&owner.run.as_ref()?.prompt));
        let said = prompt.and_then(|prompt| prompt.info["system"].as_str()).filter(|said| !said.is_empty());
        let who = self.who_is(session, self.agent_at_work(session));
        json!({"role": "system", "content": said.map_or(who.clone(), |said| format!("{who}\n{said}"))})
    }

    /// What an agent is told of itself: its prompt, where it has one.
    pub(super) fn who_is(&self, session: &str, agent: &str) -> String {
        let prompt = self.agent_for(session, agent).and_then(|agent| agent.setting("prompt")?.as_str());
        match prompt.filter(|prompt| !prompt.is_empty()) {
            Some(prompt) if self.profile.introduces_all && agent != "title" => format!("{CODER}{prompt}"),
            Some(prompt) => prompt.to_owned(),
            None => CODER.trim_end().to_owned(),
        }
    }

    /// A message as the model is told it; `reminders` are told with it and kept nowhere.
    pub(super) fn told(
        &self,
        message: &Message,
        reminders: Vec<Reminder>,
        directory: &str,
        senses: &Senses,
    ) -> Vec<Value> {
        if message.role() != "user" {
            return if is_lost(message) {
                Vec::new()
            } else {
                let is_of_another = self.is_of_another_model(message);
                let skips_ignored = self.profile.server == ServerKind::Kilo;
                let counts = |part: &&Value| !skips_ignored || part["ignored"] != true;
                let parts: Vec<&Value> = message.parts.iter().filter(counts).collect();
                answer_messages(&parts, self.profile.wordless_is_null, is_of_another, senses)
            };
        }
        self.prompt_message(message, reminders, directory, senses).into_iter().collect()
    }

    /// Another model than the one that is told now has written this: it is told its thoughts as words.
    fn is_of_another_model(&self, message: &Message) -> bool {
        let owner = message.info["sessionID"].as_str().and_then(|session| self.sessions.get(session));
        let now = owner.and_then(|owner| owner.message(&owner.run.as_ref()?.message));
        now.is_some_and(|now| {
            ["providerID", "modelID"].iter().any(|key| now.info[*key] != message.info[*key])
        })
    }

    /// The tools that the agent may use.
    pub(crate) fn offered_tools(&self, session: &str) -> Vec<String> {
        let patches = self.works_with_patches(session);
        let is_offered = |tool: &&&str| {
            let fits = match **tool {
                "apply_patch" => patches,
                "edit" => !patches,
                "write" => !patches || !self.profile.patches_write,
                _ => true,
            };
            fits && self.config.client.is_offered(self.profile.server, tool)
                && self.may_use(session, tool)
                && (!boards::TOOLS.contains(tool) || self.has_boards(session))
                && (**tool != "question" || self.may_ask_person(session))
        };
        let served = self.served_tools(session);
        let served: Vec<&str> = served.iter().map(String::as_str).collect();
        let tools = self.profile.tools.iter().chain(&served).filter(is_offered);
        let has_form = self.wants_form(session) && self.may_use(session, STRUCTURED);
        let form = has_form.then_some(STRUCTURED);
        let mut offered: Vec<String> = tools.copied().chain(form).map(str::to_owned).collect();
        let reports = self.reports_goal(session) && self.may_use(session, REPORT);
        offered.extend(reports.then(|| REPORT.to_owned()));
        let has_more = self.config.client.has_more(self.profile.server);
        let more = MORE_FOR_MODELS.iter().filter(|tool| has_more && self.may_use(session, tool));
        offered.extend(more.map(|tool| (*tool).to_owned()));
        if form.is_some() || reports || has_more || !served.is_empty() {
            offered.sort_by_key(|tool| tool.to_lowercase());
        }
        offered
    }

    /// Is the model of the running step one of those that are given patches in place of edits?
    fn works_with_patches(&self, session: &str) -> bool {
        let owner = self.sessions.get(session);
        let now = owner.and_then(|owner| owner.message(&owner.run.as_ref()?.message));
        let word = |key: &str| now.and_then(|now| now.info[key].as_str()).unwrap_or_default();
        let said = self.said_of_model(self.folder_of(session), word("providerID"), word("modelID"));
        let family = said["family"].as_str().unwrap_or_default();
        ByName::new(self.profile.server, word("modelID")).is_given_patches(family)
    }

    /// Do neither rules nor the prompt keep a tool from the agent?
    pub(crate) fn may_use(&self, session: &str, tool: &str) -> bool {
        self.permissions.offers(&self.who(session), tool) && !self.is_switched_off(session, tool)
    }

    fn prompt_message(
        &self,
        message: &Message,
        reminders: Vec<Reminder>,
        directory: &str,
        senses: &Senses,
    ) -> Option<Value> {
        let mut pieces: Vec<(Option<&str>, Value)> = message
            .parts
            .iter()
            .filter_map(|part| Some((part["id"].as_str(), prompt_piece(part, senses)?)))
            .collect();
        for reminder in reminders {
            let before =
                reminder.before.and_then(|id| pieces.iter().position(|(of, _)| *of == Some(id.as_str())));
            pieces.insert(before.unwrap_or(pieces.len()), (None, words(reminder.text)));
        }
        if pieces.is_empty() && !self.profile.environment_details {
            return None;
        }
        let mut pieces: Vec<Value> = pieces.into_iter().map(|(_, piece)| piece).collect();
        if self.profile.environment_details {
            pieces.push(words(environment_details(message, directory, &self.worktree_of(directory))));
        }
        let is_one_text = pieces.len() == 1 && pieces[0]["type"] == "text";
        let content = if is_one_text { pieces[0]["text"].take() } else { Value::Array(pieces) };
        Some(json!({"role": "user", "content": content}))
    }

    /// Has the prompt that is being answered switched this tool off?
    pub(super) fn is_switched_off(&self, session: &str, tool: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return false };
        let prompt = owner.run.as_ref().and_then(|run| owner.message(&run.prompt));
        prompt.is_some_and(|prompt| prompt.info["tools"][tool] == false)
    }
}

/// What is told behind every prompt.
fn environment_details(message: &Message, directory: &str, root: &str) -> String {
    let created = message.info.pointer("/time/created").and_then(Value::as_u64).unwrap_or_default();
    let time = iso_time(created);
    let seconds = time.split('.').next().unwrap_or_default();
    format!(
        "\n\n<environment_details>\nMessage time: {seconds}Z\nWorking directory: {directory}\n\
         Workspace root folder: {root}\n</environment_details>"
    )
}

/// What the model is told of a part of a prompt.
fn prompt_piece(part: &Value, senses: &Senses) -> Option<Value> {
    let text = match part["type"].as_str()? {
        "text" if part["ignored"] != true => {
            part["text"].as_str().filter(|text| !text.is_empty()).map(str::to_owned)?
        }
        "compaction" => "What did we do so far?".to_owned(),
        "subtask" => "The following tool was executed by the user".to_owned(),
        "file" if is_words(part) => super::letter::data_text(part["url"].as_str()?),
        "file" => return senses.told(part),
        _ => return None,
    };
    Some(words(text))
}

fn words(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

/// A text that was kept with its bytes is told as a text; one that was read is told already.
fn is_words(part: &Value) -> bool {
    let (mime, url) = (part["mime"].as_str().unwrap_or_default(), part["url"].as_str().unwrap_or_default());
    mime.starts_with("text/") && mime != "text/plain" && url.starts_with("data:") && !is_garbled(part)
}

/// A step that failed is not told to the model; what a person broke off is, as far as it came.
fn is_lost(message: &Message) -> bool {
    let said = message.parts.iter().any(|part| part["type"] == "text" || part["type"] == "tool");
    match message.info.pointer("/error/name").and_then(Value::as_str) {
        None => false,
        Some("MessageAbortedError") => !said,
        Some(_) => true,
    }
}

/// A step's message: what was said, the calls, and then a message for the result of each.
fn answer_messages(
    parts: &[&Value],
    wordless_is_null: bool,
    thinks_aloud: bool,
    senses: &Senses,
) -> Vec<Value> {
    let mut said = String::new();
    let mut thought = String::new();
    let mut calls = Vec::new();
    let mut results = Vec::new();
    let mut media = Vec::new();
    for part in parts {
        match part["type"].as_str() {
            Some("text") => said.push_str(part["text"].as_str().unwrap_or_default()),
            Some("reasoning") if thinks_aloud => said.push_str(spoken(part)),
            Some("reasoning") => thought.push_str(part["text"].as_str().unwrap_or_default()),
            Some("tool") => {
                let state = &part["state"];
                calls.push(json!({
                    "id": part["callID"], "type": "function",
                    "function": {"name": part["tool"], "arguments": state["input"].to_string()},
                }));
                let is_cleared = state.pointer("/time/compacted").is_some();
                let content = match state.get("output").or_else(|| state.get("error")) {
                    Some(_) if is_cleared => json!(CLEARED),
                    Some(said) => boards::hinted(said, &state["metadata"]),
                    None => json!("[Tool execution was interrupted]"),
                };
                let files = state["attachments"].as_array().filter(|_| !is_cleared);
                media.extend(files.into_iter().flatten().filter_map(|file| senses.told(file)));
                results.push(json!({"role": "tool", "tool_call_id": part["callID"], "content": content}));
            }
            _ => {}
        }
    }
    let is_silent = |part: &Value| !matches!(part["type"].as_str(), Some("text" | "reasoning" | "tool"));
    if parts.iter().copied().all(is_silent) {
        return Vec::new();
    }
    let is_null = wordless_is_null && said.is_empty() && !calls.is_empty();
    let content = if is_null { Value::Null } else { json!(said) };
    let mut answer = json!({"role": "assistant", "content": content});
    if !thought.is_empty() {
        answer["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        answer["tool_calls"] = json!(calls);
        let last = parts.iter().rfind(|part| !is_silent(part));
        if last.is_some_and(|last| last["type"] != "tool") {
            answer[ENDS_IN_WORDS] = json!(true);
        }
    }
    let mut messages = vec![answer];
    messages.extend(results);
    if !media.is_empty() {
        let told = std::iter::once(words(MEDIA)).chain(media);
        messages.push(json!({"role": "user", "content": told.collect::<Vec<Value>>()}));
    }
    messages
}

/// A thought as words; one of nothing but blanks is none.
fn spoken(part: &Value) -> &str {
    part["text"].as_str().filter(|text| !text.trim().is_empty()).unwrap_or_default()
}
