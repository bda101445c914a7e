//! Calls of a model are looked at before they are done, and each is answered.

use super::told::{call_and_results, messages, requests};
use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "flow-calls",
    about: "A call is done only if it may be, and has one result whatever came of it; the model is asked until it is done.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "task/send") {
        let task = text(&wanted["task"]);
        let asked = requests(story, &wanted["lane"]);
        let answers = wanted["answers"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        examined.fact(asked.len() == answers.len(), || {
            format!("{task}: the model was asked {} times instead of {}", asked.len(), answers.len())
        });
        let disk = story.seen_of("disk").find(|seen| seen.at.line > call.at.line);
        for (nth, answer) in answers.iter().enumerate() {
            for made in answer["calls"].as_array().into_iter().flatten() {
                let id = text(&made["id"]);
                if let Some(next) = asked.get(nth + 1) {
                    let (calls, results) = call_and_results(messages(next), id);
                    examined.fact((calls, results) == (1, 1), || {
                        format!(
                            "{task}: the next request has the call {id} {calls} times, with {results} results"
                        )
                    });
                }
                let says = |file: &Value| disk.and_then(|disk| disk.value[text(file)].as_str());
                if made["writes"].is_string() {
                    let file = &made["writes"];
                    examined.fact(says(file) == made["content"].as_str(), || {
                        format!("{task}: {id} writes {file}, which {}", as_it_is(says(file)))
                    });
                }
                if made["leaves"].is_string() {
                    let file = &made["leaves"];
                    examined.fact(says(file).is_none(), || {
                        format!("{task}: {id} may not write {file}, which {}", as_it_is(says(file)))
                    });
                }
            }
        }
    }
    examined
}

/// A file in words.
fn as_it_is(says: Option<&str>) -> String {
    says.map_or_else(|| "is not there".to_owned(), |says| format!("says {says:?}"))
}
