//! Everything that the person asks of the client is answered in time, and truly: done where it was done, refused where it
//! can't be.

use super::{Check, Examined};
use crate::acp::heard::expected;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "calls", about: "What the person asks is answered, and truly.", examine };

/// A person does not wait longer.
const LIMIT_MS: f64 = 1_000_000.0;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (at, answers) in expected(story, "answers") {
        let Some(call) = story.calls.iter().find(|call| call.at.line > at.line) else { continue };
        let method = &call.method;
        match (answers.as_str(), &call.answer) {
            (_, None) => examined.fact(false, || format!("{method} is not answered")),
            (_, Some((answered, _))) if answered.ms - call.at.ms > LIMIT_MS => {
                examined.fact(false, || format!("{method} is answered too late"));
            }
            (Some("ok"), Some((_, said))) => {
                examined.fact(said.is_ok(), || {
                    let why = said.as_ref().err().map(|error| error.message.as_str()).unwrap_or_default();
                    format!("{method} was to be done, and is refused: {why}")
                });
            }
            (Some("refused"), Some((_, said))) => {
                examined.fact(said.is_err(), || format!("{method} can't be done, and is said to be"));
            }
            _ => {}
        }
    }
    examined
}
