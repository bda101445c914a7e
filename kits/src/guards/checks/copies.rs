//! A conversation is kept every so many messages, and old copies go.

use super::wanted;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "copies",
    about: "There is a copy for every so many messages, never of none; of more than there may be the oldest are gone.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for method in ["memory/begin", "memory/add"] {
        for (nth, call) in story.calls_of(method).enumerate() {
            examined.fact(call.result().is_some(), || {
                let why = call.answer.as_ref().and_then(|(_, answer)| answer.as_ref().err());
                let why = why.map_or("there is no answer".to_owned(), |why| why.message.clone());
                format!("{method}, call {}, fails: {why}", nth + 1)
            });
        }
    }
    for (call, wanted) in wanted(story, "memory/copies") {
        let told = call.result().map(|result| result["copies"].clone()).unwrap_or_default();
        examined.fact(told == wanted["copies"], || {
            format!("there have to be copies of {} messages, and there are of {told}", wanted["copies"])
        });
    }
    examined
}
