//! Sessions as the next generation makes, lists and changes them.

use super::super::routes::body_of;
use super::super::session::{NewSession, Session};
use super::super::{ApiRequest, ReplyBody, World};
use super::notes::Told;
use super::query;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

/// How many sessions are listed when nobody says.
const LISTED: usize = 50;
/// What a cursor remembers of a query.
const REMEMBERED: &[&str] = &["workspace", "order", "search", "directory", "project", "subpath"];

impl World {
    /// A session as the next generation shows it.
    pub(super) fn session_info_next(&self, id: &str) -> Value {
        let Some(session) = self.sessions.get(id) else { return Value::Null };
        let mut info = json!({"id": session.id});
        if let Some(parent) = &session.parent {
            info["parentID"] = json!(parent);
        }
        info["projectID"] = json!(session.project);
        if let Some(agent) = session.agent.as_ref().filter(|agent| !agent.is_empty()) {
            info["agent"] = json!(agent);
        }
        if let Some(model) = &session.model {
            info["model"] = model.clone();
            if model.get("variant").is_none() {
                info["model"]["variant"] = json!("default");
            }
        }
        info["cost"] = json!(0);
        info["tokens"] = session.tokens.wire();
        info["time"] = json!({"created": session.created_ms, "updated": session.updated_ms});
        if let Some(archived) = session.archived.as_ref().filter(|archived| archived.as_f64() != Some(0.0)) {
            info["time"]["archived"] = archived.clone();
        }
        info["title"] = json!(session.title);
        info["location"] = json!({"directory": session.directory});
        if let Some(path) = session.path.as_ref().filter(|path| !path.is_empty()) {
            info["subpath"] = json!(path);
        }
        if let Some(revert) = &session.revert {
            info["revert"] = revert.clone();
            if session.notes.reverts_files {
                info["revert"]["files"] = json!([]);
            }
        }
        info
    }

    /// `POST /api/session`: one that is there already is given as it is.
    pub(super) fn new_session_next(&mut self, request: &ApiRequest) {
        let body = body_of(request);
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        if let Some(known) = text("id").filter(|id| self.knows_session(id)) {
            let info = self.session_info_next(&known);
            return self.reply_json(request.ticket, json!({"data": info}));
        }
        let directory = body.pointer("/location/directory").and_then(Value::as_str);
        let directory = directory.unwrap_or(&self.config.directory).to_owned();
        if !directory.is_empty() && !directory.starts_with('/') {
            return self.unknown_error(request.ticket);
        }
        let model = body.get("model").filter(|model| model.is_object()).map(model_ref);
        let wish = NewSession { id: text("id"), agent: text("agent"), model, ..NewSession::default() };
        let id = self.create_session_quietly(&directory, wish);
        let info = self.session_info(&id);
        let event = self.ids.ascending("evt", self.now_ms);
        let seq = self.sessions.get_mut(&id).map(Session::next_seq).unwrap_or_default();
        let told = json!({"sessionID": id, "info": info});
        self.remember_told(&id, seq, &event, "session.created.1", &told);
        if self.profile.next_tells_requests {
            self.tell_next(&directory, &event, "session.created", (&id, seq, 1), told.clone(), told);
        }
        let info = self.session_info_next(&id);
        self.reply_json(request.ticket, json!({"data": info}));
    }

    /// `GET /api/session`: the newest first, or the oldest; a cursor leads to those before and behind.
    pub(super) fn list_sessions_next(&mut self, request: &ApiRequest) {
        let asked = match query(request, "cursor") {
            None => {
                let said = REMEMBERED
                    .iter()
                    .filter_map(|&name| Some((name.to_owned(), json!(query(request, name)?))));
                said.collect()
            }
            Some(cursor) => match read_cursor(cursor) {
                Some(cursor) => cursor,
                None => {
                    let body = json!({"_tag": "InvalidCursorError", "message": "Invalid cursor"});
                    return self.reply(request.ticket, 400, ReplyBody::Json(body));
                }
            },
        };
        let limit = query(request, "limit").and_then(|limit| limit.trim().parse().ok()).unwrap_or(LISTED);
        let found = self.sessions_asked_for(&asked, limit);
        let mark = |session: Option<&String>, direction: &str| {
            let session = self.sessions.get(session?)?;
            let mut cursor = asked.clone();
            let anchor = json!({"id": session.id, "time": session.created_ms, "direction": direction});
            cursor.insert("anchor".to_owned(), anchor);
            Some(URL_SAFE_NO_PAD.encode(Value::Object(cursor).to_string()))
        };
        let cursor = json!({"previous": mark(found.first(), "previous"), "next": mark(found.last(), "next")});
        let data: Vec<Value> = found.iter().map(|id| self.session_info_next(id)).collect();
        self.reply_json(request.ticket, json!({"data": data, "cursor": cursor}));
    }

    fn sessions_asked_for(&self, asked: &Map<String, Value>, limit: usize) -> Vec<String> {
        let word = |name: &str| asked.get(name).and_then(Value::as_str);
        let anchor = asked.get("anchor");
        let goes_back = anchor.is_some_and(|anchor| anchor["direction"] == "previous");
        let ascends = (word("order") == Some("asc")) != goes_back;
        let search = word("search").filter(|words| !words.is_empty()).map(|words| format!("%{words}%"));
        let place = |session: &Session| (session.created_ms, session.id.clone());
        let anchor = anchor.map(|anchor| {
            (
                anchor["time"].as_u64().unwrap_or_default(),
                anchor["id"].as_str().unwrap_or_default().to_owned(),
            )
        });
        let fits = |session: &&Session| {
            !session.is_gone
                && word("workspace").is_none()
                && word("directory").is_none_or(|directory| session.directory == directory)
                && (word("directory").is_some()
                    || word("project").is_none_or(|project| session.project == project))
                && search
                    .as_deref()
                    .is_none_or(|pattern| super::super::sessions::is_like(&session.title, pattern))
                && anchor.as_ref().is_none_or(|anchor| {
                    if ascends { place(session) > *anchor } else { place(session) < *anchor }
                })
        };
        let mut found: Vec<&Session> = self.sessions.values().filter(fits).collect();
        found.sort_by_key(|session| place(session));
        if !ascends {
            found.reverse();
        }
        found.truncate(limit);
        if goes_back {
            found.reverse();
        }
        found.into_iter().map(|session| session.id.clone()).collect()
    }

    /// `POST /api/session/{id}/agent`.
    pub(super) fn switch_agent(&mut self, request: &ApiRequest, id: &str) {
        let agent = body_of(request)["agent"].clone();
        let message = self.ids.ascending("msg", self.now_ms);
        let data = json!({"messageID": message, "agent": agent});
        let now = self.now_ms;
        let seq = self.note(id, "agent.switched", Told::OfRequest, now, data);
        let wire = json!({"id": message, "time": {"created": now}, "type": "agent-switched", "agent": agent});
        self.add_note(id, seq, wire);
        if let Some(session) = self.sessions.get_mut(id) {
            session.agent = agent.as_str().map(str::to_owned);
            session.touch(now);
        }
        self.no_content(request.ticket);
    }

    /// `POST /api/session/{id}/model`: the one that it has already is no news.
    pub(super) fn switch_model(&mut self, request: &ApiRequest, id: &str) {
        let model = model_ref(&body_of(request)["model"]);
        let known = self.sessions.get(id).and_then(|session| session.model.as_ref());
        let variant =
            |model: &Value| model.get("variant").and_then(Value::as_str).unwrap_or("default").to_owned();
        let is_same = |known: &Value| {
            known["id"] == model["id"]
                && known["providerID"] == model["providerID"]
                && variant(known) == variant(&model)
        };
        if known.is_some_and(is_same) {
            return self.no_content(request.ticket);
        }
        let message = self.ids.ascending("msg", self.now_ms);
        let now = self.now_ms;
        let data = json!({"messageID": message, "model": model});
        let seq = self.note(id, "model.switched", Told::OfRequest, now, data);
        let wire = json!({"id": message, "time": {"created": now}, "type": "model-switched", "model": model});
        self.add_note(id, seq, wire);
        if let Some(session) = self.sessions.get_mut(id) {
            session.model = Some(model);
            session.touch(now);
        }
        self.no_content(request.ticket);
    }
}

/// What names a model.
fn model_ref(model: &Value) -> Value {
    let fields = ["id", "providerID", "variant"].into_iter();
    let said = fields
        .filter_map(|key| Some((key.to_owned(), model.get(key).filter(|value| !value.is_null())?.clone())));
    Value::Object(said.collect())
}

fn read_cursor(text: &str) -> Option<Map<String, Value>> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
    let cursor: Map<String, Value> = serde_json::from_slice(&bytes).ok()?;
    let anchor = cursor.get("anchor")?;
    let is_whole = anchor["id"].as_str().is_some_and(|id| id.starts_with("ses"))
        && anchor["time"].is_number()
        && ["previous", "next"].iter().any(|direction| anchor["direction"] == **direction);
    is_whole.then_some(cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_needs_an_anchor() {
        let encoded = |text: &str| URL_SAFE_NO_PAD.encode(text);
        let whole = encoded(r#"{"search":"x","anchor":{"id":"ses_1","time":2,"direction":"next"}}"#);
        assert_eq!(read_cursor(&whole).unwrap()["search"], "x");
        for wrong in [
            "abc".to_owned(),
            encoded("[]"),
            encoded("{}"),
            encoded(r#"{"anchor":{"id":"msg_1","time":2,"direction":"next"}}"#),
            encoded(r#"{"anchor":{"id":"ses_1","time":2,"direction":"up"}}"#),
        ] {
            assert_eq!(read_cursor(&wrong), None, "{wrong}");
        }
    }
}
