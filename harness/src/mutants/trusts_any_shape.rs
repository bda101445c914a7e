//! Takes what stands where a text should be for that text.

use super::Mutant;
use crate::reference::strategy::{Strategies, UnknownEvents};
use serde_json::Value;

pub(super) const MUTANT: Mutant = Mutant {
    name: "trusts_any_shape",
    about: "Takes what stands where a text should be for that text.",
    strategies: || Strategies { unknown: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl UnknownEvents for Broken {
    fn read_as(&self, mut event: Value) -> Value {
        if let Some(text) = event.pointer_mut("/properties/part/text")
            && !text.is_string()
        {
            *text = Value::String(text.to_string());
        }
        event
    }
}
