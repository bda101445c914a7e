//! Messages and parts as a client reads, changes and deletes them.

use super::routes::body_of;
use super::session::Message;
use super::structured::{refusal, unreadable};
use super::tokens::Tokens;
use super::{ApiReply, ApiRequest, ReplyBody, World, patch};
use crate::profile::FollowUps;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

/// What stays as it is in a query that a browser writes; a space becomes a plus.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

impl World {
    /// `GET /session/{id}/message`: all, or the last ones before a place, the oldest first.
    pub(super) fn list_messages(&mut self, request: &ApiRequest, id: &str) {
        let query =
            |name: &str| request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let limit = query("limit").and_then(|limit| limit.parse::<usize>().ok());
        let before = match query("before").filter(|before| !before.is_empty()) {
            None => None,
            Some(cursor) => match Cursor::read(cursor).filter(|_| limit.is_some()) {
                Some(cursor) => Some(cursor),
                None => return self.plain_bad_request(request.ticket),
            },
        };
        // A place is looked at before the session.
        let session = self.sessions.get(id).filter(|session| !session.is_gone);
        let Some(session) = session else { return self.misses_session(request.ticket, id) };
        let Some(limit) = limit.filter(|&limit| limit > 0) else {
            if let Some(body) = refusal(session.messages.iter()) {
                return self.reply(request.ticket, 400, ReplyBody::Json(body));
            }
            let list = session.messages.iter().map(|message| self.as_read(message.wire()));
            let list = list.collect();
            return self.reply_json(request.ticket, Value::Array(list));
        };
        let older = |message: &&Message| before.as_ref().is_none_or(|cursor| Cursor::of(message) < *cursor);
        let found: Vec<&Message> = session.messages.iter().filter(older).collect();
        let page = &found[found.len().saturating_sub(limit)..];
        let next =
            page.first().filter(|_| page.len() < found.len()).map(|oldest| Cursor::of(oldest).written());
        // Only a page that has an older one is told as it is kept, and whatever it holds.
        if let Some(body) = refusal(page.iter().copied()).filter(|_| next.is_none()) {
            return self.reply(request.ticket, 400, ReplyBody::Json(body));
        }
        let wire = if next.is_some() { Message::wire_as_kept } else { Message::wire };
        let list = page.iter().map(|message| self.as_read(wire(message))).collect();
        let headers = next.map(|cursor| next_page(request, limit, &cursor)).unwrap_or_default();
        self.reply_with(request.ticket, ApiReply { status: 200, headers, body: ReplyBody::Json(list) });
    }

    /// `GET /session/{id}/message/{message}`.
    pub(super) fn one_message(&mut self, ticket: u64, id: &str, message: &str) {
        let found = self.sessions.get(id).and_then(|session| session.message(message));
        if let Some(body) = found.and_then(|message| unreadable(message, "")) {
            return self.reply(ticket, 400, ReplyBody::Json(body));
        }
        match found.map(|message| self.as_read(message.wire())) {
            Some(wire) => self.reply_json(ticket, wire),
            None => {
                let words = format!("Message not found: {message}");
                let body = json!({"name": "NotFoundError", "data": {"message": words}});
                self.reply(ticket, 404, ReplyBody::Json(body));
            }
        }
    }

    /// `GET /session/{id}/diff`: what the session changed, or what one prompt did.
    pub(super) fn session_diff(&mut self, request: &ApiRequest, id: &str) {
        let prompt =
            request.query.iter().find(|(key, _)| key == "messageID").map(|(_, value)| value.as_str());
        let Some(session) = self.sessions.get(id) else {
            if prompt.is_some() {
                return self.unknown_error(request.ticket);
            }
            let left = self.left_diffs.get(id).cloned().unwrap_or_default();
            return self.reply_json(request.ticket, Value::Array(left));
        };
        let mut diff = match prompt {
            None => session.diff.clone(),
            Some(prompt) => {
                let told = session.message(prompt).and_then(|message| message.info.pointer("/summary/diffs"));
                told.and_then(Value::as_array).cloned().unwrap_or_default()
            }
        };
        diff.iter_mut().for_each(patch::unquote_name);
        self.without_large_patches(&mut diff);
        self.reply_json(request.ticket, Value::Array(diff));
    }

    /// `DELETE /session/{id}/message/{message}`: what is not there goes, too, and that is told.
    pub(super) fn delete_message(&mut self, request: &ApiRequest, id: &str, message: &str) {
        let ticket = request.ticket;
        if self.profile.follow_ups == FollowUps::NextStep {
            if self.refuse_while_busy(ticket, id) {
                return;
            }
        } else {
            let queued_only = request.query.iter().any(|(key, value)| key == "queued" && value == "true");
            let is_busy = self.sessions.get(id).is_some_and(|session| session.run.is_some());
            if (queued_only || is_busy) && !self.drop_queued(id, message) {
                return self.reply_json(ticket, json!(false));
            }
        }
        self.remove_message(id, message);
        self.reply_json(ticket, json!(true));
    }

    /// Takes a prompt out of the queue; is it there?
    fn drop_queued(&mut self, id: &str, message: &str) -> bool {
        let Some(session) = self.sessions.get_mut(id) else { return false };
        let Some(at) = session.queue.iter().position(|queued| queued.message == message) else {
            return false;
        };
        let dropped = session.queue.remove(at);
        self.emit_queue(id);
        if let Some(ticket) = dropped.and_then(|queued| queued.ticket) {
            let answer = self.latest_answer(id);
            self.reply_json(ticket, answer);
        }
        true
    }

    /// What was said last that is no prompt; the first message, if nothing was.
    pub(crate) fn latest_answer(&self, id: &str) -> Value {
        let Some(session) = self.sessions.get(id) else { return Value::Null };
        let latest = session.messages.iter().rfind(|message| message.role() != "user");
        latest.or_else(|| session.messages.last()).map(Message::wire).unwrap_or_default()
    }

    /// Takes a message away, with what it cost.
    pub(crate) fn remove_message(&mut self, id: &str, message: &str) {
        if let Some(session) = self.sessions.get_mut(id) {
            for removed in session.messages.extract_if(.., |known| known.id() == message) {
                for part in &removed.parts {
                    session.tokens.take(Tokens::of_part(part));
                }
            }
        }
        self.emit_synced(id, "message.removed", json!({"sessionID": id, "messageID": message}));
    }

    /// `PATCH /session/{id}/message/{message}/part/{part}`: the part becomes what is sent; a new one is added.
    pub(super) fn patch_part(&mut self, request: &ApiRequest, id: &str, message: &str, part: &str) {
        let body = self.operations.known_body("part.update", body_of(request));
        if body["id"] != *part || body["messageID"] != *message || body["sessionID"] != *id {
            return self.plain_bad_request(request.ticket);
        }
        let Some(session) = self.sessions.get_mut(id) else { return };
        let Some(owner) = session.messages.iter_mut().find(|known| known.id() == message) else {
            return if self.profile.forgives_lost_parts {
                self.reply_json(request.ticket, body);
            } else {
                self.unknown_error(request.ticket);
            };
        };
        session.tokens.add(Tokens::of_part(&body));
        match owner.parts.iter_mut().find(|known| known["id"] == *part) {
            Some(known) => {
                session.tokens.take(Tokens::of_part(known));
                known.clone_from(&body);
            }
            None => {
                let place = owner.parts.partition_point(|known| known["id"].as_str() < Some(part));
                owner.parts.insert(place, body.clone());
            }
        }
        let properties = json!({"sessionID": id, "part": body, "time": self.now_ms});
        self.emit_synced(id, "message.part.updated", properties);
        self.reply_json(request.ticket, body);
    }

    /// `DELETE /session/{id}/message/{message}/part/{part}`.
    pub(super) fn delete_part(&mut self, ticket: u64, id: &str, message: &str, part: &str) {
        self.remove_part(id, message, part);
        self.reply_json(ticket, json!(true));
    }

    /// Takes a part away, with what it cost. It is found by its own id; the message is only told.
    pub(crate) fn remove_part(&mut self, id: &str, message: &str, part: &str) {
        if let Some(session) = self.sessions.get_mut(id) {
            for owner in &mut session.messages {
                for removed in owner.parts.extract_if(.., |known| known["id"] == *part) {
                    session.tokens.take(Tokens::of_part(&removed));
                }
            }
        }
        let properties = json!({"sessionID": id, "messageID": message, "partID": part});
        self.emit_synced(id, "message.part.removed", properties);
    }

    /// Some mistakes get no more than this.
    pub(super) fn plain_bad_request(&mut self, ticket: u64) {
        self.reply(ticket, 400, ReplyBody::Json(json!({"_tag": "BadRequest"})));
    }
}

/// A place in the order of messages: behind all that are older.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cursor {
    time: u64,
    id: String,
}

impl Cursor {
    fn of(message: &Message) -> Self {
        let time = message.info.pointer("/time/created").and_then(Value::as_u64).unwrap_or_default();
        Self { time, id: message.id().to_owned() }
    }

    fn written(&self) -> String {
        URL_SAFE_NO_PAD.encode(json!({"id": self.id, "time": self.time}).to_string())
    }

    fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
        let cursor: Value = serde_json::from_slice(&bytes).ok()?;
        let id = cursor["id"].as_str().filter(|id| id.starts_with("msg"))?;
        Some(Self { time: cursor["time"].as_u64()?, id: id.to_owned() })
    }
}

/// How a client finds what is older.
fn next_page(request: &ApiRequest, limit: usize, cursor: &str) -> Vec<(&'static str, String)> {
    let mut query = request.query.clone();
    for (name, value) in [("limit", limit.to_string()), ("before", cursor.to_owned())] {
        match query.iter_mut().find(|(key, _)| key == name) {
            Some((_, known)) => *known = value,
            None => query.push((name.to_owned(), value)),
        }
    }
    let encoded = |text: &str| utf8_percent_encode(text, QUERY).to_string().replace(' ', "+");
    let pairs: Vec<String> =
        query.iter().map(|(key, value)| format!("{}={}", encoded(key), encoded(value))).collect();
    let link = format!("<http://{}{}?{}>; rel=\"next\"", request.host, request.path, pairs.join("&"));
    vec![
        ("access-control-expose-headers", "Link, X-Next-Cursor".to_owned()),
        ("link", link),
        ("x-next-cursor", cursor.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = Cursor { time: 1_795_281_076_007, id: "msg_1ff173f27001r4c22rNjDDvr32".into() };
        let text = "eyJpZCI6Im1zZ18xZmYxNzNmMjcwMDFyNGMyMnJOakREdnIzMiIsInRpbWUiOjE3OTUyODEwNzYwMDd9";
        assert_eq!(cursor.written(), text);
        assert_eq!(Cursor::read(text), Some(cursor));
        for wrong in ["nonsense", "", "eyJpZCI6IngiLCJ0aW1lIjoxfQ"] {
            assert_eq!(Cursor::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_way_to_older_messages_keeps_the_rest_of_the_query() {
        let request = ApiRequest {
            host: "127.0.0.1:4096".into(),
            path: "/session/ses_1/message".into(),
            query: [("limit", "1"), ("directory", "/tmp/a b"), ("before", "old")]
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .to_vec(),
            ..ApiRequest::default()
        };
        let link = &next_page(&request, 1, "new")[1].1;
        let path = "/session/ses_1/message?limit=1&directory=%2Ftmp%2Fa+b&before=new";
        assert_eq!(*link, format!("<http://127.0.0.1:4096{path}>; rel=\"next\""));
    }
}
