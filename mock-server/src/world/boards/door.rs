//! The board by the person's routes: what stands on it, and taking it off.

use super::reading::{MOST, Reading, USUAL};
use crate::world::routes::body_of;
use crate::world::{ApiRequest, ReplyBody, World};
use serde_json::{Value, json};

impl World {
    /// Answers a request about a board. `None` when it is about something else, or there is no such session.
    pub(in crate::world) fn about_boards(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<()> {
        let is_reset = match operation {
            "kilocode.sessionBoard" => false,
            "kilocode.resetSessionBoard" => true,
            _ => return None,
        };
        let session = segments.get(2).copied()?;
        self.sessions.get(session)?;
        let told = match is_reset {
            true => self.reset_board(request, session),
            false => self.board_seen(request, session).map_err(|why| (400, "InvalidRequestError", why)),
        };
        match told {
            Ok(told) => self.reply_json(request.ticket, told),
            Err((status, tag, why)) => {
                let body = json!({"_tag": tag, "message": why});
                self.reply(request.ticket, status, ReplyBody::Json(body));
            }
        }
        Some(())
    }

    fn reset_board(
        &mut self,
        request: &ApiRequest,
        session: &str,
    ) -> Result<Value, (u16, &'static str, String)> {
        let bad = |why: String| (400, "InvalidRequestError", why);
        let root = self.board_root(session).map_err(bad)?;
        if root != session {
            return Err(bad("Only the owning session can reset this board".to_owned()));
        }
        let revision = body_of(request)["revision"].as_u64();
        let Some(owner) = self.sessions.get_mut(session) else { return Err(bad(String::new())) };
        if revision != u64::try_from(owner.board.revision()).ok() {
            let why = "The board changed. Refresh it before clearing messages.";
            return Err((409, "ConflictError", why.to_owned()));
        }
        owner.board.clear();
        self.touch_kept(session);
        self.board_seen(request, session).map_err(bad)
    }

    fn board_seen(&mut self, request: &ApiRequest, session: &str) -> Result<Value, String> {
        let query =
            |name: &str| request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let limit = query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(USUAL).clamp(1, MOST);
        let root = self.board_root(session)?;
        let Some(owner) = self.sessions.get(&root) else { return Err(String::new()) };
        let number = match query("before") {
            Some(before) => Some(
                owner
                    .board
                    .number_of(before)
                    .ok_or_else(|| format!("Board cursor is not valid for session {root}"))?,
            ),
            None => None,
        };
        let family: Vec<&str> = self.board_family(&root).iter().map(|session| session.id.as_str()).collect();
        let notes = owner.board.before(number).take(limit + 1);
        let notes = notes.map(|note| self.labelled(note, &root, &family)).collect();
        let reading =
            Reading { observed_ms: self.now_ms, agent: root.clone(), notes, limit, ..Reading::default() };
        let read = reading.bounded()?;
        let mut notes = read["messages"].as_array().cloned().unwrap_or_default();
        notes.reverse();
        let mut told = json!({
            "ownerSessionID": root, "revision": owner.board.revision(), "messages": notes, "hasMore": read["hasMore"],
        });
        if let Some(cursor) = read.get("cursor").filter(|_| read["hasMore"] == true) {
            told["cursor"] = cursor.clone();
        }
        Ok(told)
    }
}
