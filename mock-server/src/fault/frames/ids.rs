//! Numbers the events of a connection otherwise: all alike, backwards, or not at all.

use super::passing::Passing;
use fixtures::fault_plan::action::IdsWord;
use serde_json::{Value, json};

/// How events are numbered from now on.
#[derive(Debug)]
pub(super) struct Ids {
    pub(super) how: IdsWord,
    first: Option<String>,
    so_far: u32,
}

/// So many digits of an id are a count that runs backwards.
const DIGITS: usize = 8;

impl Ids {
    pub(super) fn new(how: IdsWord) -> Self {
        Self { how, first: None, so_far: 0 }
    }

    pub(super) fn apply(&mut self, passing: &mut Passing<'_>) {
        passing.alter(|event| {
            let Some(id) = event.get("id").and_then(Value::as_str) else { return };
            let first = self.first.get_or_insert_with(|| id.to_owned()).clone();
            match self.how {
                IdsWord::Repeat => event["id"] = json!(first),
                IdsWord::Backwards => {
                    let kept = first.char_indices().rev().nth(DIGITS - 1).map_or(0, |(at, _)| at);
                    let left = 99_999_999_u32.saturating_sub(self.so_far);
                    event["id"] = json!(format!("{}{left:0DIGITS$}", &first[..kept]));
                    self.so_far += 1;
                }
                IdsWord::None => {
                    if let Value::Object(fields) = event {
                        fields.shift_remove("id");
                    }
                }
            }
        });
    }
}
