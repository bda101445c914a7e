//! The agent's own requests, and how they are numbered: real agents begin with 0, in the numbers of the client's.

use super::agent::Inner;
use serde_json::{Value, json};
use std::str::FromStr;
use tokio::sync::oneshot;

/// How an agent numbers its own requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ids {
    /// 0, 1, 2: a client that takes 0 for nothing, or has one table for both directions, is found out.
    #[default]
    FromZero,
    /// Texts.
    Text,
    /// Numbers that no counter of a client's comes to.
    Large,
}

impl Ids {
    fn id(self, number: u64) -> Value {
        match self {
            Self::FromZero => json!(number),
            Self::Text => json!(format!("agent-{number}")),
            Self::Large => json!(9_007_199_254_740_000_u64 + number),
        }
    }
}

impl FromStr for Ids {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let known = [("from-zero", Self::FromZero), ("text", Self::Text), ("large", Self::Large)];
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let found = known.iter().find(|(name, _)| *name == word).map(|(_, ids)| *ids);
        found.ok_or_else(|| fixtures::near_names::unknown("way to number requests", word, &names))
    }
}

impl Inner {
    /// Asks the client, and waits for its answer: the result, or the error.
    pub(super) fn ask(&self, method: &str, params: &Value) -> oneshot::Receiver<Result<Value, Value>> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state();
        let id = self.ids.id(state.next_id);
        state.next_id += 1;
        state.asked.insert(id.to_string(), sender);
        drop(state);
        self.out.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        answer
    }

    /// The client's answer to a request of the agent's. A result counts, whatever error stands beside it.
    pub(super) fn hear(&self, id: &Value, message: &Value) {
        let Some(asked) = self.state().asked.remove(&id.to_string()) else {
            return self.complain(&format!("Got response to unknown request {id}"));
        };
        let answer = match (message.get("result"), message.get("error")) {
            (Some(result), _) => Ok(result.clone()),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(Value::Null),
        };
        asked.send(answer).ok();
    }
}
