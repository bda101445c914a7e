//! Errors are sorted by what they are about, and whether the same thing is worth another try.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{Story, quoted};
use fixtures::failures::KEY;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "categories",
    about: "Each error has one of its categories, is tried again or not as it should be, says something to the person, and keeps the message of what was thrown.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "error/handle") {
        let about = text(&wanted["about"]);
        let Some(said) = call.result() else {
            examined.fact(false, || format!("{about}: handling the error failed itself"));
            continue;
        };
        let category = &said["category"];
        let known = wanted["category"].as_array().is_some_and(|known| known.contains(category));
        examined.fact(known, || format!("{about}: it is {}, not {category}", wanted["category"]));
        let retryable = match text(&wanted["retryable"]) {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        if let Some(retryable) = retryable {
            let told = &said["retryable"];
            examined.fact(*told == retryable, || format!("{about}: retryable is {told}, not {retryable}"));
        }
        let words = text(&said["userMessage"]).trim();
        examined.fact(!words.is_empty(), || format!("{about}: the person is told nothing"));
        let details = said["technicalDetails"].as_str();
        examined.fact(details.is_some(), || format!("{about}: there are no technical details"));
        let thrown = messages(&call.params["provoked"]["thrown"]);
        let holds = |message: &&str| details.is_some_and(|details| details.contains(*message));
        examined.fact(thrown.is_empty() || thrown.iter().any(holds), || {
            let details = quoted(details);
            format!("{about}: {details} does not hold what was thrown: {thrown:?}")
        });
    }
    examined
}

/// The message of what was thrown and those of its causes. Of one with a key in it nobody can say what is left when that is
/// struck out, and an answer over HTTP has none.
fn messages(thrown: &Value) -> Vec<&str> {
    let own = text(&thrown["message"]);
    if own.trim().is_empty() || own.contains(KEY) {
        return Vec::new();
    }
    let causes = std::iter::successors(Some(&thrown["cause"]), |cause| Some(&cause["cause"]))
        .take_while(|cause| cause.is_object())
        .map(|cause| text(&cause["message"]));
    std::iter::once(own).chain(causes).filter(|message| !message.trim().is_empty()).collect()
}
