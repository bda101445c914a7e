//! Sessions, messages and parts, and the JSON that they are on the wire.

use super::World;
use super::boards::Board;
use super::goal::Goal;
use super::next::Notes;
use super::prompt::Queued;
use super::run::Run;
use super::sandbox::Sandbox;
use super::tokens::Tokens;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;

/// One conversation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) directory: String,
    pub(crate) project: String,
    /// Its folder, relative to the project's, if it began here.
    pub(crate) path: Option<String>,
    pub(crate) parent: Option<String>,
    pub(super) slug: String,
    pub(crate) title: String,
    /// The title is the one that every session starts with.
    pub(crate) has_default_title: bool,
    /// How often the model was asked for a title.
    pub(crate) title_tries: u32,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    /// Agent and model of the latest prompt, or those that the session was created with.
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<Value>,
    /// What its creator wants to be kept with it.
    pub(crate) metadata: Option<Value>,
    /// Rules of its own.
    pub(crate) permission: Option<Value>,
    /// When it was put aside.
    pub(crate) archived: Option<Value>,
    /// How far it was taken back, as the wire has it.
    pub(crate) revert: Option<Value>,
    pub(crate) summary: Option<Summary>,
    /// The files of that summary, which only a revert tells; what is told later keeps them.
    pub(crate) summary_diffs: Option<Value>,
    /// What the session changed, as `session.diff` tells it.
    pub(crate) diff: Vec<Value>,
    /// What is to be done, as the agent wrote it down last.
    pub(crate) todos: Vec<Value>,
    pub(crate) tokens: Tokens,
    pub(crate) messages: Vec<Message>,
    #[serde(skip)]
    pub(crate) run: Option<Run>,
    /// Prompts that were sent while the turn runs.
    #[serde(skip)]
    pub(crate) queue: VecDeque<Queued>,
    /// What is worked toward, turn after turn.
    #[serde(skip)]
    pub(crate) goal: Option<Goal>,
    /// It is deleted, but its turn still runs: what would be kept of it is lost.
    #[serde(skip)]
    pub(crate) is_gone: bool,
    /// How many of its latest calls had arguments that their tools can't take.
    pub(crate) misuses: u32,
    /// What the session that this one was forked from had changed, if that counts.
    pub(crate) diff_base: Vec<Value>,
    next_seq: u64,
    /// Whether its commands run in a sandbox, once that is settled.
    pub(crate) sandbox: Option<Sandbox>,
    /// What is told of it because another program said so.
    pub(crate) brought: Map<String, Value>,
    /// What the next generation alone knows of it.
    pub(crate) notes: Notes,
    #[serde(default, skip_serializing_if = "Board::is_new")]
    pub(super) board: Board,
}

/// What a new session is to be.
#[derive(Debug, Default)]
pub(crate) struct NewSession {
    /// The id that its maker wants.
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) parent: Option<String>,
    /// The session that it is a copy of.
    pub(crate) source: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<Value>,
    pub(crate) metadata: Option<Value>,
    pub(crate) permission: Option<Value>,
}

/// How much a session changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) additions: usize,
    pub(crate) deletions: usize,
    pub(crate) files: usize,
}

/// A message of the person or of the agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) info: Value,
    pub(crate) parts: Vec<Value>,
    /// When the model's answer began. Of the parts that begin a step, some answers tell it, events and lists do not.
    pub(crate) began_ms: Option<u64>,
}

impl Message {
    pub(crate) fn id(&self) -> &str {
        self.info["id"].as_str().unwrap_or_default()
    }

    pub(crate) fn role(&self) -> &str {
        self.info["role"].as_str().unwrap_or_default()
    }

    /// Is it the prompt with this id, or an answer to it?
    pub(crate) fn is_of_prompt(&self, prompt: &str) -> bool {
        self.id() == prompt || self.info["parentID"] == prompt
    }

    pub(crate) fn wire(&self) -> Value {
        json!({"info": self.info, "parts": self.parts})
    }

    /// As it is kept: with the time that lists leave out.
    pub(crate) fn wire_as_kept(&self) -> Value {
        let mut wire = self.wire();
        let parts = wire.get_mut("parts").and_then(Value::as_array_mut);
        if let (Some(began), Some(parts)) = (self.began_ms, parts) {
            for part in parts.iter_mut().filter(|part| part["type"] == "step-start") {
                part["time"] = json!({"start": began});
            }
        }
        wire
    }
}

impl Session {
    /// The next number of a `sync` twin: from 0, without gaps.
    pub(crate) fn next_seq(&mut self) -> u64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        seq
    }

    /// Rules in the words of settings, which an older program has for a session, can't be told.
    pub(crate) fn is_untold(&self) -> bool {
        self.permission.as_ref().is_some_and(Value::is_object)
    }

    pub(crate) fn touch(&mut self, now_ms: u64) {
        self.updated_ms = now_ms;
    }

    pub(crate) fn message(&self, id: &str) -> Option<&Message> {
        self.messages.iter().find(|message| message.id() == id)
    }

    pub(crate) fn message_mut(&mut self, id: &str) -> Option<&mut Message> {
        self.messages.iter_mut().find(|message| message.id() == id)
    }
}

impl World {
    pub(crate) fn create_session(&mut self, directory: &str, wish: NewSession) -> String {
        // Of a parent somewhere else nothing is known here.
        let is_here = |parent: &String| self.sessions.get(parent).is_some_and(|p| p.directory == directory);
        let source = wish.source.clone().or_else(|| wish.parent.clone().filter(is_here));
        let id = self.create_session_quietly(directory, wish);
        if let Some(source) = source {
            self.inherit_sandbox(&source, &id);
        }
        self.emit_created(&id);
        id
    }

    pub(crate) fn emit_created(&mut self, id: &str) {
        let info = self.session_info(id);
        self.emit_synced(id, "session.created", json!({"sessionID": id, "info": info}));
    }

    /// Who calls it tells it.
    pub(crate) fn create_session_quietly(&mut self, directory: &str, wish: NewSession) -> String {
        let id = wish.id.unwrap_or_else(|| self.ids.descending("ses", self.now_ms));
        let has_default_title = wish.title.as_deref().is_none_or(is_default_title);
        let kind = if wish.parent.is_some() { "Child" } else { "New" };
        let title = wish.title.unwrap_or_else(|| format!("{kind} session - {}", iso_time(self.now_ms)));
        let session = Session {
            id: id.clone(),
            directory: directory.to_owned(),
            project: self.project_of(directory),
            path: Some(self.path_in_project(directory)),
            parent: wish.parent,
            slug: self.ids.slug(),
            title,
            has_default_title,
            title_tries: 0,
            created_ms: self.now_ms,
            updated_ms: self.now_ms,
            agent: wish.agent,
            model: wish.model,
            metadata: wish.metadata,
            permission: wish.permission,
            archived: None,
            revert: None,
            summary: None,
            summary_diffs: None,
            diff: Vec::new(),
            todos: Vec::new(),
            tokens: Tokens::default(),
            messages: Vec::new(),
            run: None,
            queue: VecDeque::new(),
            goal: None,
            is_gone: false,
            misuses: 0,
            diff_base: Vec::new(),
            // One that takes the place of another one counts on.
            next_seq: self.sessions.get(&id).map_or(0, |known| known.next_seq),
            sandbox: None,
            brought: Map::new(),
            notes: Notes::default(),
            board: Board::default(),
        };
        self.sessions.insert(id.clone(), session);
        self.touch_kept(&id);
        id
    }

    /// A session as the wire has it; `null` when there is none.
    pub(crate) fn session_info(&self, id: &str) -> Value {
        let Some(session) = self.sessions.get(id) else { return Value::Null };
        let mut info = json!({
            "id": session.id, "slug": session.slug, "projectID": session.project,
            "directory": session.directory,
        });
        if let Some(path) = &session.path {
            info["path"] = json!(path);
        }
        if let Some(parent) = &session.parent {
            info["parentID"] = json!(parent);
        }
        if let Some(summary) = session.summary {
            info["summary"] = json!({"additions": summary.additions, "deletions": summary.deletions, "files": summary.files});
            if let Some(diffs) = &session.summary_diffs {
                info["summary"]["diffs"] = diffs.clone();
            }
        }
        info["cost"] = session.tokens.wire_cost();
        info["tokens"] = session.tokens.wire();
        info["title"] = json!(session.title);
        let optional = |info: &mut Value, key: &str, value: &Option<Value>| {
            if let Some(value) = value {
                info[key] = value.clone();
            }
        };
        optional(&mut info, "agent", &session.agent.as_ref().map(|agent| json!(agent)));
        optional(&mut info, "model", &session.model);
        info["version"] = json!(self.profile.version);
        optional(&mut info, "metadata", &session.told_metadata());
        info["time"] = json!({"created": session.created_ms, "updated": session.updated_ms});
        optional(&mut info["time"], "archived", &session.archived);
        optional(&mut info, "permission", &session.permission);
        optional(&mut info, "revert", &session.revert);
        if let Some(info) = info.as_object_mut() {
            super::config::merge(info, &Value::Object(session.brought.clone()));
        }
        info
    }

    pub(crate) fn emit_session_updated(&mut self, id: &str) {
        let info = self.session_info(id);
        self.emit_synced(id, "session.updated", json!({"sessionID": id, "info": info}));
    }

    pub(crate) fn emit_status(&mut self, id: &str, status: &str) {
        if let Some(run) = self.run_mut(id) {
            run.rests = status == "idle";
        }
        self.emit_session(id, "session.status", json!({"sessionID": id, "status": {"type": status}}));
    }

    /// Nothing runs any more; the two events always come together.
    pub(crate) fn emit_idle(&mut self, id: &str) {
        self.emit_status(id, "idle");
        self.emit_session(id, "session.idle", json!({"sessionID": id}));
    }

    /// Tells the state of a message.
    pub(crate) fn emit_message(&mut self, session: &str, message: &str) {
        let Some(info) = self.sessions.get(session).and_then(|s| s.message(message)).map(|m| m.info.clone())
        else {
            return;
        };
        self.emit_synced(session, "message.updated", json!({"sessionID": session, "info": info}));
    }

    /// Adds a part to a message and tells it; returns its place.
    pub(crate) fn add_part(&mut self, session: &str, message: &str, fields: Value) -> usize {
        let id = self.ids.ascending("prt", self.now_ms);
        let mut part = json!({"id": id, "sessionID": session, "messageID": message});
        merge(&mut part, fields);
        let Some(owner) = self.sessions.get_mut(session).and_then(|s| s.message_mut(message)) else {
            return 0;
        };
        let known = owner.parts.iter().position(|known| known["id"] == part["id"]);
        let place = known.unwrap_or(owner.parts.len());
        match owner.parts.get_mut(place) {
            Some(known) => *known = part,
            None => owner.parts.push(part),
        }
        self.emit_part(session, message, place);
        place
    }

    /// Changes a part and tells it.
    pub(crate) fn change_part(&mut self, session: &str, message: &str, place: usize, fields: Value) {
        if let Some(part) = self.part_mut(session, message, place) {
            merge(part, fields);
        }
        self.emit_part(session, message, place);
    }

    pub(crate) fn part_mut(&mut self, session: &str, message: &str, place: usize) -> Option<&mut Value> {
        self.sessions.get_mut(session)?.message_mut(message)?.parts.get_mut(place)
    }

    pub(crate) fn emit_part(&mut self, session: &str, message: &str, place: usize) {
        let Some(part) = self.part_mut(session, message, place).cloned() else { return };
        self.lose_part(session, &part);
        let known = self.sessions.get(session).and_then(|owner| owner.message(message));
        let is_said = known.is_some_and(|message| message.role() == "user");
        let part = self.as_told(part, is_said);
        let time = self.now_ms;
        self.emit_synced(
            session,
            "message.part.updated",
            json!({"sessionID": session, "part": part, "time": time}),
        );
    }
}

/// Sets the fields of `fields` in `target`.
pub(crate) fn merge(target: &mut Value, fields: Value) {
    if let (Value::Object(target), Value::Object(fields)) = (target, fields) {
        target.extend(fields);
    }
}

/// Is it a title that a session starts with when nobody gives it one?
pub(crate) fn is_default_title(title: &str) -> bool {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd.dddZ";
    let time = title.strip_prefix("New session - ").or_else(|| title.strip_prefix("Child session - "));
    time.is_some_and(|time| {
        let fits =
            |(byte, shape): (u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == *shape };
        time.len() == SHAPE.len() && time.bytes().zip(SHAPE).all(fits)
    })
}

/// `2026-11-21T06:40:10.030Z`.
pub(crate) fn iso_time(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    time.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_written_as_the_servers_write_it() {
        assert_eq!(iso_time(1_795_243_210_030), "2026-11-21T06:40:10.030Z");
        assert_eq!(iso_time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_time(951_782_400_000), "2000-02-29T00:00:00.000Z");
    }
}
