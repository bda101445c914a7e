//! Whatever is not busy is at rest.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};
use serde_json::{Value, json};

pub(super) const MUTANT: Mutant = Mutant {
    name: "takes_retry_for_rest",
    about: "Shows an agent that waits for its provider as one that rests.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn read_as(&self, mut event: Value) -> Value {
        let status = &mut event["properties"]["status"];
        if status["type"] == "retry" {
            *status = json!({ "type": "idle" });
        }
        event
    }
}
