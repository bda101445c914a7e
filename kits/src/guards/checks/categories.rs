//! Errors are sorted by what they are about, and whether the same thing is worth another try.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "categories",
    about: "Each error has one of its categories, is tried again or not as it should be, and says something to the person.",
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
        examined.fact(said["technicalDetails"].is_string(), || {
            format!("{about}: there are no technical details")
        });
    }
    examined
}
