//! What a server has told so far, reduced from its events: what it would answer to a read at this time.
//!
//! The real servers show an event's state over REST as soon as the event arrives, with exceptions that recordings
//! show: a delta is not seen before its part is told whole; Kilo tells the `diff` of a file beside its `filediff`
//! in events alone; and `session.diff` spells an odd file name as git does, in quotes.

use super::resource::Resource;
use fixtures::ServerKind;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// The state of the sessions, as told.
#[derive(Debug)]
pub(super) struct Told {
    server: ServerKind,
    sessions: BTreeMap<String, Value>,
    /// Session → message → what it is. Ids of messages and parts sort by age.
    messages: BTreeMap<String, BTreeMap<String, Value>>,
    /// Message → part → what it is.
    parts: BTreeMap<String, BTreeMap<String, Value>>,
    /// The part that begins a step → when it was told.
    steps: BTreeMap<String, Value>,
    permissions: Vec<Value>,
    /// The questions for permission that were ever asked.
    asked: HashSet<String>,
    questions: Vec<Value>,
    status: Map<String, Value>,
    diffs: BTreeMap<String, Value>,
    todos: BTreeMap<String, Value>,
    /// The events that were taken: each stream tells them again.
    taken: HashSet<String>,
}

/// What the events have to say of a read.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// This.
    Is(Value),
    /// That there is no such session.
    NoSession(String),
    /// That there is no such message.
    NoMessage(String),
}

impl Told {
    /// Nothing has been told.
    pub(super) fn by(server: ServerKind) -> Self {
        Self {
            server,
            sessions: BTreeMap::new(),
            messages: BTreeMap::new(),
            parts: BTreeMap::new(),
            steps: BTreeMap::new(),
            permissions: Vec::new(),
            asked: HashSet::new(),
            questions: Vec::new(),
            status: Map::new(),
            diffs: BTreeMap::new(),
            todos: BTreeMap::new(),
            taken: HashSet::new(),
        }
    }

    /// Takes an event, without its wrapper; `false` when it was known, from another stream.
    pub(super) fn take(&mut self, event: &Value) -> bool {
        let kind = text(event, "type");
        // Its event came before it, and said the same.
        if kind == "sync" {
            return false;
        }
        if let Some(id) = event["id"].as_str()
            && !self.taken.insert(id.to_owned())
        {
            return false;
        }
        let said = &event["properties"];
        let session = text(said, "sessionID");
        match kind {
            "session.created" | "session.updated" => self.session(&said["info"]),
            "session.deleted" => self.forget(session),
            "session.status" => {
                if said["status"]["type"] == "idle" {
                    self.status.remove(session);
                } else {
                    self.status.insert(session.to_owned(), said["status"].clone());
                }
            }
            "session.idle" => {
                self.status.remove(session);
            }
            "session.diff" => {
                self.diffs.insert(session.to_owned(), said["diff"].clone());
            }
            "todo.updated" => {
                self.todos.insert(session.to_owned(), said["todos"].clone());
            }
            "permission.asked" => {
                self.asked.insert(text(said, "id").to_owned());
                ask(&mut self.permissions, said);
            }
            "permission.replied" => settle(&mut self.permissions, said),
            "question.asked" => ask(&mut self.questions, said),
            "question.replied" | "question.rejected" => settle(&mut self.questions, said),
            _ => self.message(kind, session, said),
        }
        true
    }

    /// Was it taken before?
    pub(super) fn has_taken(&self, event: &Value) -> bool {
        event["id"].as_str().is_some_and(|id| self.taken.contains(id))
    }

    fn message(&mut self, kind: &str, session: &str, said: &Value) {
        let message = text(said, "messageID");
        match kind {
            "message.updated" => {
                let info = &said["info"];
                let messages = self.messages.entry(session.to_owned()).or_default();
                messages.insert(text(info, "id").to_owned(), info.clone());
            }
            "message.removed" => {
                self.parts.remove(message);
                if let Some(messages) = self.messages.get_mut(session) {
                    messages.remove(message);
                }
            }
            "message.part.updated" => {
                let part = &said["part"];
                if part["type"] == "step-start" {
                    self.steps.insert(text(part, "id").to_owned(), said["time"].clone());
                }
                let parts = self.parts.entry(text(part, "messageID").to_owned()).or_default();
                parts.insert(text(part, "id").to_owned(), as_read(part));
            }
            "message.part.removed" => {
                if let Some(parts) = self.parts.get_mut(message) {
                    parts.remove(text(said, "partID"));
                }
            }
            _ => {}
        }
    }

    fn session(&mut self, info: &Value) {
        if let Some(id) = info["id"].as_str() {
            self.sessions.insert(id.to_owned(), info.clone());
        }
    }

    /// The server is gone: the next one knows what was kept, and of nothing that was going on.
    pub(super) fn ends(&mut self) {
        self.status.clear();
        self.permissions.clear();
        self.questions.clear();
    }

    /// Takes the answer that created a session; its events may have said more already.
    pub(super) fn made(&mut self, info: &Value) {
        if info["id"].as_str().is_some_and(|id| !self.sessions.contains_key(id)) {
            self.session(info);
        }
    }

    /// Has this question for permission been asked?
    pub(super) fn was_asked(&self, id: &str) -> bool {
        self.asked.contains(id)
    }

    /// Does it wait for its answer?
    pub(super) fn is_open(&self, id: &str) -> bool {
        self.permissions.iter().any(|question| question["id"] == id)
    }

    fn forget(&mut self, session: &str) {
        self.sessions.remove(session);
        self.status.remove(session);
        self.diffs.remove(session);
        self.todos.remove(session);
        for message in self.messages.remove(session).unwrap_or_default().into_keys() {
            self.parts.remove(&message);
        }
    }

    /// What a read gets now.
    pub(super) fn answer(&self, resource: &Resource) -> Answer {
        if let Some(session) = resource.needs_session()
            && !self.sessions.contains_key(session)
        {
            return Answer::NoSession(session.to_owned());
        }
        Answer::Is(match resource {
            Resource::Sessions { roots, limit } => {
                let listed = self.newest_first(|info| !roots || info.get("parentID").is_none());
                Value::Array(listed.into_iter().take(limit.unwrap_or(usize::MAX)).collect())
            }
            Resource::Status => Value::Object(self.status.clone()),
            Resource::Permissions => Value::Array(self.permissions.clone()),
            Resource::Questions => Value::Array(self.questions.clone()),
            Resource::Session(id) => self.sessions.get(id).cloned().unwrap_or_default(),
            Resource::Children(id) => {
                let mut children = self.newest_first(|info| info["parentID"] == id.as_str());
                children.reverse();
                Value::Array(children)
            }
            Resource::Messages { session, limit } => {
                let messages = self.messages.get(session);
                let count = messages.map_or(0, BTreeMap::len);
                let skipped = count.saturating_sub(limit.unwrap_or(count));
                let shown = messages.into_iter().flatten().skip(skipped);
                Value::Array(shown.map(|(id, info)| self.with_parts(id, info)).collect())
            }
            Resource::Message { session, message } => {
                match self.messages.get(session).and_then(|messages| messages.get(message)) {
                    Some(info) => self.with_parts(message, info),
                    None => return Answer::NoMessage(message.clone()),
                }
            }
            Resource::Diff(id) => {
                let files = self.diffs.get(id).and_then(Value::as_array).into_iter().flatten();
                Value::Array(files.map(unquoted).collect())
            }
            Resource::Todo(id) => self.todos.get(id).cloned().unwrap_or_else(|| json!([])),
        })
    }

    /// Does this event tell a prompt of which nothing was told before?
    pub(super) fn is_new_prompt(&self, event: &Value) -> bool {
        let info = &event["properties"]["info"];
        let known = self.messages.get(text(info, "sessionID"));
        event["type"] == "message.updated"
            && info["role"] == "user"
            && known.is_none_or(|known| !known.contains_key(text(info, "id")))
    }

    /// What a prompt is answered with when its turn has ended: the agent's latest message to it. OpenCode answers
    /// all prompts that came meanwhile together.
    pub(super) fn answer_to(&self, session: &str, prompt: Option<&str>) -> Option<Value> {
        let prompt = prompt?;
        let messages = self.messages.get(session)?;
        let fits = |info: &Value| match self.server {
            ServerKind::Kilo => text(info, "parentID") == prompt,
            ServerKind::Opencode => text(info, "parentID") >= prompt,
        };
        let (id, info) = messages.iter().rfind(|(_, info)| info["role"] == "assistant" && fits(info))?;
        let mut answer = self.with_parts(id, info);
        if self.server == ServerKind::Kilo {
            // Kilo says here alone when a step began. Its end knows it; the event that told it, to a millisecond.
            let parts = answer["parts"].as_array_mut()?;
            let end = parts.iter().find(|part| part["type"] == "step-finish");
            let began = end.and_then(|end| end.pointer("/time/start").cloned());
            for part in parts.iter_mut().filter(|part| part["type"] == "step-start") {
                if let Some(began) = began.as_ref().or_else(|| self.steps.get(text(part, "id"))) {
                    part["time"] = json!({"start": began});
                }
            }
        }
        Some(answer)
    }

    fn newest_first(&self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut listed: Vec<Value> = self.sessions.values().filter(|info| fits(info)).cloned().collect();
        // Stable, and the ids of sessions sort by youth.
        listed.sort_by_key(|info| std::cmp::Reverse(info["time"]["updated"].as_u64()));
        listed
    }

    fn with_parts(&self, id: &str, info: &Value) -> Value {
        let parts: Vec<&Value> = self.parts.get(id).into_iter().flat_map(BTreeMap::values).collect();
        json!({"info": info, "parts": parts})
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn ask(open: &mut Vec<Value>, question: &Value) {
    open.push(question.clone());
}

fn settle(open: &mut Vec<Value>, settled: &Value) {
    open.retain(|question| question["id"] != settled["requestID"]);
}

/// A file's change as a read shows it.
fn unquoted(change: &Value) -> Value {
    let mut change = change.clone();
    let quoted = change["file"].as_str().filter(|name| name.starts_with('"'));
    if let Some(name) = quoted.and_then(|name| serde_json::from_str::<String>(name).ok()) {
        change["file"] = json!(name);
    }
    change
}

/// A part as a read shows it.
fn as_read(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(metadata) = part.pointer_mut("/state/metadata").and_then(Value::as_object_mut)
        // A server that tells who allowed a call does not keep its diff.
        && ["filediff", "files"].iter().any(|key| metadata.contains_key(*key))
        && metadata.contains_key("approval")
    {
        metadata.shift_remove("diff");
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_idle_when_either_event_says_so() {
        let idle = json!({"sessionID": "ses_1", "status": {"type": "idle"}});
        for (kind, said) in [("session.status", idle), ("session.idle", json!({"sessionID": "ses_1"}))] {
            let mut told = Told::by(ServerKind::Kilo);
            let busy = json!({"sessionID": "ses_1", "status": {"type": "busy"}});
            told.take(&json!({"id": "evt_1", "type": "session.status", "properties": busy}));
            assert_eq!(told.answer(&Resource::Status), Answer::Is(json!({"ses_1": {"type": "busy"}})));
            told.take(&json!({"id": "evt_2", "type": kind, "properties": said}));
            assert_eq!(told.answer(&Resource::Status), Answer::Is(json!({})), "{kind}");
        }
    }

    #[test]
    fn the_session_that_changed_last_is_listed_first_and_a_deleted_one_is_not() {
        let mut told = Told::by(ServerKind::Kilo);
        let mut tell = |kind: &str, id: &str, updated: u64| {
            let info = json!({"id": id, "time": {"updated": updated}});
            let said = json!({"sessionID": id, "info": info});
            told.take(&json!({"id": format!("evt_{id}{updated}{kind}"), "type": kind, "properties": said}));
            let sessions = told.answer(&Resource::Sessions { roots: false, limit: None });
            let Answer::Is(Value::Array(listed)) = sessions else { panic!("{sessions:?}") };
            listed.iter().map(|info| info["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        tell("session.created", "ses_2", 1);
        assert_eq!(tell("session.created", "ses_1", 2), ["ses_1", "ses_2"]);
        assert_eq!(tell("session.updated", "ses_2", 3), ["ses_2", "ses_1"]);
        assert_eq!(tell("session.deleted", "ses_2", 3), ["ses_1"]);
        assert_eq!(
            told.answer(&Resource::Session("ses_2".to_owned())),
            Answer::NoSession("ses_2".to_owned())
        );
    }
}
