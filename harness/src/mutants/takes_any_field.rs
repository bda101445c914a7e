//! A delta is more text, whatever of a part it is about.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};
use serde_json::{Value, json};

pub(super) const MUTANT: Mutant = Mutant {
    name: "takes_any_field",
    about: "Adds deltas of all fields of a part to its text.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn read_as(&self, mut event: Value) -> Value {
        if event["type"] == "message.part.delta" {
            event["properties"]["field"] = json!("text");
        }
        event
    }
}
