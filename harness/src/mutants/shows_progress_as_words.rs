//! Each part of a message is a row, also one that stands there for a moment.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_progress_as_words",
    about: "Shows as words of the agent that the server is not ready yet.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn read_as(&self, mut event: Value) -> Value {
        if let Some(part) = event["properties"]["part"].as_object_mut() {
            part.remove("metadata");
            part.remove("synthetic");
        }
        event
    }
}
