//! What a server has told so far, reduced from its events: what it would answer to a read at this time.
//!
//! The real servers show an event's state over REST as soon as the event arrives, with two exceptions, both in
//! recordings: a delta is not shown before its part is told whole, and Kilo tells the `diff` of a file beside its
//! `filediff` in events alone.

use super::resource::Resource;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// The state of the sessions, as told.
#[derive(Debug, Default)]
pub(super) struct Told {
    sessions: BTreeMap<String, Value>,
    /// Session → message → what it is. Ids of messages and parts sort by age.
    messages: BTreeMap<String, BTreeMap<String, Value>>,
    /// Message → part → what it is.
    parts: BTreeMap<String, BTreeMap<String, Value>>,
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
            Resource::Children(id) => Value::Array(self.newest_first(|info| info["parentID"] == id.as_str())),
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
            Resource::Diff(id) => self.diffs.get(id).cloned().unwrap_or_else(|| json!([])),
            Resource::Todo(id) => self.todos.get(id).cloned().unwrap_or_else(|| json!([])),
        })
    }

    /// What a prompt is answered with when its turn has ended: the agent's latest message.
    pub(super) fn latest_answer(&self, session: &str) -> Option<Value> {
        let messages = self.messages.get(session)?;
        let (id, info) = messages.iter().rfind(|(_, info)| info["role"] == "assistant")?;
        let mut answer = self.with_parts(id, info);
        // Kilo says here alone when a step began; its end tells that, too.
        let parts = answer["parts"].as_array_mut()?;
        let began =
            parts.iter().find_map(|part| part.pointer("/time/start").filter(|_| ends_step(part)).cloned());
        if let (Some(began), Some(step)) = (began, parts.iter_mut().find(|part| part["type"] == "step-start"))
        {
            step["time"] = json!({"start": began});
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

fn ends_step(part: &Value) -> bool {
    part["type"] == "step-finish"
}

/// A part as a read shows it.
fn as_read(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(metadata) = part.pointer_mut("/state/metadata").and_then(Value::as_object_mut)
        && metadata.contains_key("filediff")
    {
        metadata.shift_remove("diff");
    }
    part
}
