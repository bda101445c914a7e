//! A session that is deleted while its turn runs. The turn goes on to the end of its step; nobody finds the session any
//! more, and nothing is kept of it.

use super::World;
use super::run::TurnEnd;
use super::session::{Message, Session};
use serde_json::{Value, json};

/// A part that could not be kept, for its session is gone.
#[derive(Debug, Clone)]
pub(crate) struct LostPart {
    /// What the server says of it.
    message: String,
    /// Text or thought, which is tried once more in the end.
    is_said: bool,
}

/// What one server says when it finds nothing to go on with; behind it stands a trace of its own code, which is left out.
const NOTHING_LEFT: &str = "Error: No user message found in stream. This should never happen.";

/// The end of a step says its fields in the order in which the server has put them together.
fn in_order_of_making(mut part: Value) -> Value {
    if part["type"] != "step-finish" {
        return part;
    }
    let mut made = json!({});
    for key in ["reason", "snapshot", "type", "tokens", "cost"] {
        if let Some(value) = part.as_object_mut().and_then(|part| part.shift_remove(key)) {
            made[key] = value;
        }
    }
    if let Some(cache) = made.pointer_mut("/tokens/cache") {
        *cache = json!({"write": cache["write"], "read": cache["read"]});
    }
    made
}

impl World {
    /// Is there such a session, for who asks?
    pub(crate) fn knows_session(&self, id: &str) -> bool {
        self.sessions.get(id).is_some_and(|session| !session.is_gone)
    }

    pub(crate) fn is_gone(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|session| session.is_gone)
    }

    /// A part of a session that is gone can't be kept. Where that is a mistake, the turn ends in it soon.
    pub(crate) fn lose_part(&mut self, session: &str, part: &Value) {
        let now = self.now_ms;
        if !self.profile.lost_parts_end_turns || !self.is_gone(session) {
            return;
        }
        if part["type"] == "tool" && part["state"]["status"] != "pending" {
            return;
        }
        let mut data = part.clone();
        let ids = ["id", "messageID", "sessionID"].map(|key| {
            let id = data.as_object_mut().and_then(|data| data.shift_remove(key)).unwrap_or_default();
            id.as_str().unwrap_or_default().to_owned()
        });
        let data = in_order_of_making(data);
        let is_said = matches!(part["type"].as_str(), Some("text" | "reasoning"));
        let message = failed_query("part", &["id", "message_id", "session_id"], &ids, now, now, &data);
        if let Some(run) = self.run_mut(session) {
            run.lost.get_or_insert(LostPart { message, is_said });
        }
    }

    /// Ends a turn that could not keep something. Says whether it did.
    pub(crate) fn end_if_lost(&mut self, session: &str) -> bool {
        let lost = self.run_mut(session).and_then(|run| run.lost.as_ref());
        let Some(message) = lost.map(|lost| lost.message.clone()) else { return false };
        self.tell_end(session, &unknown(&message));
        self.end_turn(session, TurnEnd::Error);
        true
    }

    /// The step of a session that is gone is over, and so is its turn.
    pub(crate) fn end_gone(&mut self, session: &str) {
        self.emit_status(session, "busy");
        self.end_turn(session, TurnEnd::Error);
    }

    /// The turn is over: now the session is gone for good. Who waits for an answer gets none.
    pub(crate) fn bury(&mut self, session: &str) {
        self.forget_turn(session);
        let Some(gone) = self.sessions.remove(session) else { return };
        let last_word = self.last_word(&gone);
        let run = gone.run.unwrap_or_default();
        let queued = gone.queue.into_iter().flat_map(|queued| [(queued.ticket, queued.command)]);
        let commands = run.commands.into_iter().map(|command| (None, Some(command)));
        let late = commands.chain(queued);
        let late = late.filter_map(|(ticket, command)| ticket.or_else(|| command?.ticket));
        let waiting: Vec<_> = run.tickets.into_iter().chain(run.yes).chain(late).collect();
        if waiting.is_empty() {
            let error = unknown(&last_word);
            self.emit(&gone.directory, "session.error", json!({"sessionID": session, "error": error}));
        }
        for ticket in waiting {
            self.unknown_error(ticket);
        }
    }

    /// What nobody waits for is told at the end: who can't keep a part tries it once more, or fails with its message.
    fn last_word(&self, gone: &Session) -> String {
        let Some(run) = gone.run.as_ref() else { return NOTHING_LEFT.to_owned() };
        let Some(lost) = &run.lost else { return NOTHING_LEFT.to_owned() };
        let query = match gone.message(&run.message) {
            Some(message) if !lost.is_said => {
                let (data, created_ms) = self.answer_as_kept(message, &lost.message);
                let ids = [&run.message, &gone.id].map(String::clone);
                failed_query("message", &["id", "session_id"], &ids, created_ms, self.now_ms, &data)
            }
            _ => lost.message.clone(),
        };
        format!("EffectDrizzleQueryError: {query}")
    }

    /// An answer that ends in an error, in the order in which the server has put it together, and when it began.
    fn answer_as_kept(&self, message: &Message, error: &str) -> (Value, u64) {
        let info = &message.info;
        let created_ms = info["time"]["created"].as_u64().unwrap_or(self.now_ms);
        let mut data = json!({});
        for key in ["parentID", "role", "mode", "agent", "path", "cost", "tokens", "modelID", "providerID"] {
            data[key] = info[key].clone();
        }
        data["time"] = json!({"created": created_ms, "completed": self.now_ms});
        if let Some(finish) = info.get("finish") {
            data["finish"] = finish.clone();
        }
        data["error"] = unknown(error);
        (data, created_ms)
    }
}

/// How the server tells that its database refused a row of a table.
fn failed_query(
    table: &str,
    keys: &[&str],
    ids: &[String],
    created_ms: u64,
    updated_ms: u64,
    data: &Value,
) -> String {
    let columns: String = keys.iter().map(|key| format!("\"{key}\", ")).collect();
    let marks = "?, ".repeat(keys.len());
    let ids = ids.join(",");
    format!(
        "Failed query: insert into \"{table}\" ({columns}\"time_created\", \"time_updated\", \"data\") values \
         ({marks}?, ?, ?) on conflict (\"{table}\".\"id\") do update set \"time_updated\" = ?, \"data\" = ?\n\
         params: {ids},{created_ms},{updated_ms},{data},{updated_ms},{data}"
    )
}

fn unknown(message: &str) -> Value {
    json!({"name": "UnknownError", "data": {"message": message}})
}
