//! A line runs without a question only when the list allows it.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "commands",
    about: "What the list allows runs without a question, and nothing else does.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "command/decide") {
        // Who refuses asks in the strictest way; so does who breaks.
        let said = match call.result().map(|result| text(&result["verdict"])) {
            Some("allow") => "allow",
            _ => "ask",
        };
        let (wanted, about) = (text(&wanted["verdict"]), text(&wanted["about"]));
        examined.fact(said == wanted, || {
            let line: String = text(&call.params["line"]).chars().take(80).collect();
            format!("{about}: {line:?} has to be {wanted}, and is {said}")
        });
    }
    examined
}
