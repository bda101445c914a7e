//! What was once said was said.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};
use serde_json::{Value, json};

pub(super) const MUTANT: Mutant = Mutant {
    name: "keeps_what_is_removed",
    about: "Leaves on the screen what the server has taken away.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn read_as(&self, mut event: Value) -> Value {
        if event["type"] == "message.part.removed" || event["type"] == "message.removed" {
            event["type"] = json!("server.heartbeat");
        }
        event
    }
}
