//! What Kilo takes over from an older program: sessions, messages and parts are written down as they are given, and nobody
//! is told of them.

use super::config::merge;
use super::routes::body_of;
use super::session::{Message, NewSession, Summary, is_default_title};
use super::{ApiRequest, World};
use serde_json::{Map, Value, json};

/// What is told of such a session as its program said it, and means nothing here.
const TOLD: &[(&str, &str)] = &[
    ("slug", "/slug"),
    ("version", "/version"),
    ("shareURL", "/share/url"),
    ("timeCompacting", "/time/compacting"),
];

impl World {
    /// Answers a request that brings something. `None` when it is none of these.
    pub(super) fn take_over(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let said = self.operations.known_body(operation, body_of(request));
        let taken = match operation {
            "kilocode.sessionImport.session" => self.take_session(&said),
            "kilocode.sessionImport.message" => self.take_message(&said),
            "kilocode.sessionImport.part" => self.take_part(&said),
            _ => return None,
        };
        // Nobody is told whose it is.
        let all: Vec<String> = self.sessions.keys().cloned().collect();
        all.iter().for_each(|session| self.touch_kept(session));
        match taken {
            Some(is_known) => {
                let mut answer = json!({"ok": true, "id": said["id"]});
                if is_known {
                    answer["skipped"] = json!(true);
                }
                self.reply_json(request.ticket, answer);
            }
            None => self.unknown_error(request.ticket),
        }
        Some(())
    }

    /// A session that is known already is left as it is, unless its program insists: then it begins anew, without its
    /// messages. `None` where its project is unknown.
    fn take_session(&mut self, said: &Value) -> Option<bool> {
        let text = |key: &str| said[key].as_str().map(str::to_owned);
        let (id, project) = (text("id")?, text("projectID")?);
        if self.knows_session(&id) && said["force"] != true {
            return Some(true);
        }
        if !self.knows_project(&project) {
            return None;
        }
        let directory = text("directory")?;
        let wish = NewSession {
            id: Some(id.clone()),
            title: text("title"),
            parent: text("parentID"),
            ..NewSession::default()
        };
        self.create_session_quietly(&directory, wish);
        let session = self.sessions.get_mut(&id)?;
        session.project = project;
        session.path = None;
        session.has_default_title = is_default_title(&session.title);
        session.created_ms = whole(&said["timeCreated"]);
        session.updated_ms = whole(&said["timeUpdated"]);
        session.archived = said.get("timeArchived").cloned();
        session.revert = said.get("revert").cloned();
        session.permission = said.get("permission").cloned();
        if let Some(summary) = said.get("summary") {
            let count = |key: &str| usize::try_from(whole(&summary[key])).unwrap_or_default();
            let (additions, deletions, files) = (count("additions"), count("deletions"), count("files"));
            session.summary = Some(Summary { additions, deletions, files });
            session.summary_diffs = summary.get("diffs").map(without_lines);
        }
        for (key, place) in TOLD {
            if let Some(value) = said.get(*key) {
                merge(&mut session.brought, &nested(place, value));
            }
        }
        Some(false)
    }

    /// A message that is known already, wherever it is, gets what is said now. `None` where its session is unknown.
    fn take_message(&mut self, said: &Value) -> Option<bool> {
        let id = said["id"].as_str()?;
        let known = self.sessions.iter().find(|(_, session)| session.message(id).is_some());
        let owner = known.map_or(said["sessionID"].as_str()?, |(owner, _)| owner).to_owned();
        let session = self.sessions.get_mut(&owner)?;
        let mut info = json!({"id": id, "sessionID": owner});
        super::session::merge(&mut info, said["data"].clone());
        if let Some(message) = session.message_mut(id) {
            message.info = info;
            return Some(false);
        }
        let at = |message: &Message| (whole(&message.info["time"]["created"]), message.id().to_owned());
        let message = Message { info, parts: Vec::new(), began_ms: None };
        let own = (whole(&said["timeCreated"]), id.to_owned());
        let place = session.messages.partition_point(|other| at(other) < own);
        session.messages.insert(place, message);
        Some(false)
    }

    /// A part, alike. Which session it names is written down and means nothing. `None` where its message is unknown.
    fn take_part(&mut self, said: &Value) -> Option<bool> {
        let id = said["id"].as_str()?;
        let mut messages = self.sessions.values_mut().flat_map(|session| &mut session.messages);
        let known = messages.find_map(|message| message.parts.iter_mut().find(|part| part["id"] == id));
        if let Some(part) = known {
            let mut anew = json!({"id": id, "sessionID": part["sessionID"], "messageID": part["messageID"]});
            super::session::merge(&mut anew, said["data"].clone());
            *part = anew;
            return Some(false);
        }
        let message = said["messageID"].as_str()?;
        let message = self.sessions.values_mut().find_map(|session| session.message_mut(message))?;
        let mut part = json!({"id": id, "sessionID": said["sessionID"], "messageID": said["messageID"]});
        super::session::merge(&mut part, said["data"].clone());
        let place = message.parts.partition_point(|other| other["id"].as_str() < Some(id));
        message.parts.insert(place, part);
        Some(false)
    }
}

/// A time or a number, as far as it is whole.
fn whole(value: &Value) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is less than nothing is nothing"
    )]
    value.as_u64().or_else(|| value.as_f64().map(|number| number as u64)).unwrap_or_default()
}

/// What changed in files, without the lines.
fn without_lines(diffs: &Value) -> Value {
    let mut diffs = diffs.clone();
    for file in diffs.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        file.shift_remove("patch");
    }
    diffs
}

/// A value at its place in objects.
fn nested(place: &str, value: &Value) -> Value {
    place
        .rsplit('/')
        .filter(|key| !key.is_empty())
        .fold(value.clone(), |inner, key| Value::Object(Map::from_iter([(key.to_owned(), inner)])))
}
