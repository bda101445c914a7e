//! What a session of the next generation has: its messages, page by page, and its history.

use super::super::{ApiRequest, ReplyBody, World};
use super::notes::Note;
use super::query;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// How many messages and events are given when nobody says.
const GIVEN: usize = 50;

impl World {
    pub(super) fn add_note(&mut self, session: &str, seq: u64, wire: Value) {
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.notes.messages.push(Note { seq, wire });
        }
    }

    fn notes_of(&self, session: &str) -> &[Note] {
        self.sessions.get(session).map(|owner| owner.notes.messages.as_slice()).unwrap_or_default()
    }

    /// `GET /api/session/{id}/context`: all, for no summary ever comes between.
    pub(super) fn context_next(&mut self, ticket: u64, session: &str) {
        let data: Vec<Value> = self.notes_of(session).iter().map(|note| note.wire.clone()).collect();
        self.reply_json(ticket, json!({"data": data}));
    }

    /// `GET /api/session/{id}/message/{message}`.
    pub(super) fn one_message_next(&mut self, ticket: u64, session: &str, message: &str) {
        match self
            .notes_of(session)
            .iter()
            .find(|note| note.wire["id"] == message)
            .map(|note| note.wire.clone())
        {
            Some(wire) => self.reply_json(ticket, json!({"data": wire})),
            None => self.no_such_message(ticket, session, message),
        }
    }

    pub(super) fn no_such_message(&mut self, ticket: u64, session: &str, message: &str) {
        let words = format!("Message not found: {message}");
        let body = json!({"_tag": "MessageNotFoundError", "sessionID": session, "messageID": message, "message": words});
        self.reply(ticket, 404, ReplyBody::Json(body));
    }

    /// `GET /api/session/{id}/message`: the newest first unless asked otherwise.
    pub(super) fn list_messages_next(&mut self, request: &ApiRequest, session: &str) {
        let (cursor, order) =
            (query(request, "cursor").filter(|cursor| !cursor.is_empty()), query(request, "order"));
        let wrong = |words: &str| json!({"_tag": "InvalidCursorError", "message": words});
        let cursor = match cursor.map(read_cursor) {
            Some(_) if order.is_some() => {
                let body = wrong("Cursor cannot be combined with order");
                return self.reply(request.ticket, 400, ReplyBody::Json(body));
            }
            Some(None) => return self.reply(request.ticket, 400, ReplyBody::Json(wrong("Invalid cursor"))),
            Some(Some(cursor)) => Some(cursor),
            None => None,
        };
        let order =
            cursor.as_ref().map_or(order.unwrap_or("desc"), |cursor| cursor.order.as_str()).to_owned();
        let goes_back = cursor.as_ref().is_some_and(|cursor| cursor.goes_back);
        let ascends = (order == "asc") != goes_back;
        let limit = query(request, "limit").and_then(|limit| limit.trim().parse().ok()).unwrap_or(GIVEN);
        let notes = self.notes_of(session);
        let place = |id: &str| notes.iter().find(|note| note.wire["id"] == id).map(|note| note.seq);
        let from = cursor.as_ref().map(|cursor| place(&cursor.id));
        let fits = |note: &&Note| match from {
            None => true,
            Some(None) => false,
            Some(Some(from)) => {
                if ascends {
                    note.seq > from
                } else {
                    note.seq < from
                }
            }
        };
        let mut found: Vec<&Note> = notes.iter().filter(fits).collect();
        if !ascends {
            found.reverse();
        }
        found.truncate(limit);
        if goes_back {
            found.reverse();
        }
        let mark = |note: Option<&&Note>, direction: &str| {
            let cursor = json!({"id": note?.wire["id"], "order": order, "direction": direction});
            Some(URL_SAFE_NO_PAD.encode(cursor.to_string()))
        };
        let cursor = json!({"previous": mark(found.first(), "previous"), "next": mark(found.last(), "next")});
        let data: Vec<Value> = found.iter().map(|note| note.wire.clone()).collect();
        self.reply_json(request.ticket, json!({"data": data, "cursor": cursor}));
    }

    /// `GET /api/session/{id}/history`: what lasts of its events, behind a place.
    pub(super) fn history_next(&mut self, request: &ApiRequest, session: &str) {
        let number = |name: &str| query(request, name).and_then(|text| text.trim().parse::<u64>().ok());
        let after = number("after");
        let limit = number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(GIVEN);
        let found = self.history_behind(session, after);
        let has_more = found.len() > limit;
        let data: Vec<Value> = found.into_iter().take(limit).collect();
        self.reply_json(request.ticket, json!({"data": data, "hasMore": has_more}));
    }

    pub(super) fn history_behind(&self, session: &str, after: Option<u64>) -> Vec<Value> {
        let history =
            self.sessions.get(session).map(|owner| owner.notes.history.as_slice()).unwrap_or_default();
        let is_behind =
            |event: &&Value| after.is_none_or(|after| event["durable"]["seq"].as_u64() > Some(after));
        history.iter().filter(is_behind).cloned().collect()
    }
}

struct Cursor {
    id: String,
    order: String,
    goes_back: bool,
}

fn read_cursor(text: &str) -> Option<Cursor> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
    let cursor: Value = serde_json::from_slice(&bytes).ok()?;
    let one_of = |name: &str, words: [&'static str; 2]| words.into_iter().find(|word| cursor[name] == **word);
    Some(Cursor {
        id: cursor["id"].as_str().filter(|id| id.starts_with("msg"))?.to_owned(),
        order: one_of("order", ["asc", "desc"])?.to_owned(),
        goes_back: one_of("direction", ["previous", "next"])? == "previous",
    })
}
