//! How requests are answered: with a refusal, or with the end of a turn, in whichever way the dialect tells it.

use super::agent::{Inner, Refusal};
use super::dialect::TurnEnd;
use serde_json::{Value, json};

impl Inner {
    pub(super) fn refuse(&self, method: &str, id: &Value, Refusal(code, message, data): &Refusal) {
        let mut error = json!({"code": code, "message": message});
        if let Some(data) = data {
            error["data"] = data.clone();
        }
        self.out.answer(method, json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    /// The answer to a prompt, and by what else a client learns that the turn is over.
    pub(super) fn end_turn(&self, session: &str, response: Value) {
        let ends = || self.update(session, self.dialect.turn_end_update());
        match self.turn_end {
            TurnEnd::Response => self.out.answer("session/prompt", response),
            TurnEnd::UpdateThenResponse => {
                ends();
                self.out.answer("session/prompt", response);
            }
            TurnEnd::ResponseThenUpdate => {
                self.out.answer("session/prompt", response);
                ends();
            }
            TurnEnd::UpdateOnly => ends(),
            TurnEnd::Neither => {}
        }
    }
}

/// A method may be anything that JSON has.
pub(super) fn no_such_method(method: &Value) -> Refusal {
    let word = method.as_str().map_or_else(|| method.to_string(), str::to_owned);
    Refusal(-32601, format!("\"Method not found\": {word}"), Some(json!({"method": method})))
}
