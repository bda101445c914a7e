//! Calls of a model are looked at before they are done, and each is answered.

use super::super::ground::{UNTOLD, said};
use super::told::{call_and_results, messages, requests, result_of, result_says};
use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "flow-calls",
    about: "The model is offered the tools. A call is done only if it may be, and has one result, which says what came of it; no file that is closed is told; the model is asked until it is done.",
    examine,
};

/// What every request offers.
const TOOLS: [&str; 3] = ["read_file", "write_file", "attempt_completion"];

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "task/send") {
        let task = text(&wanted["task"]);
        let asked = requests(story, &wanted["lane"]);
        let answers = wanted["answers"].as_array().map_or(&[] as &[Value], Vec::as_slice);
        examined.fact(asked.len() == answers.len(), || {
            format!("{task}: the model was asked {} times instead of {}", asked.len(), answers.len())
        });
        for request in &asked {
            let offered = request.body["tools"].as_array().into_iter().flatten();
            let offered: Vec<&str> = offered.map(|tool| text(&tool["function"]["name"])).collect();
            let missing: Vec<&str> = TOOLS.into_iter().filter(|tool| !offered.contains(tool)).collect();
            examined.fact(missing.is_empty(), || {
                format!("{task}: a request to the model does not offer {}", missing.join(", "))
            });
            let body = request.body.to_string();
            let told: Vec<&str> =
                UNTOLD.into_iter().filter(|file| body.contains(said(file).trim_end())).collect();
            examined.fact(told.is_empty(), || format!("{task}: the model is told of {}", told.join(", ")));
        }
        let disk = story.seen_of("disk").find(|seen| seen.at.line > call.at.line);
        let all: Vec<&Value> =
            answers.iter().flat_map(|answer| answer["calls"].as_array().into_iter().flatten()).collect();
        if let Some(last) = asked.last() {
            let told = |made: &&&Value| result_of(messages(last), text(&made["id"]));
            let done: Vec<String> =
                all.iter().filter(|made| made["writes"].is_string()).filter_map(|made| told(&made)).collect();
            for made in all.iter().filter(|made| made["leaves"].is_string()) {
                let id = text(&made["id"]);
                let as_done = told(&made).filter(|told| !told.is_empty() && done.contains(told));
                examined.fact(as_done.is_none(), || {
                    format!(
                        "{task}: {id} was not done, and its result says what that of a call says that was"
                    )
                });
            }
        }
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
                    let tells = text(&made["tells"]);
                    examined.fact(results == 0 || result_says(messages(next), id, tells), || {
                        format!("{task}: the result of {id} does not say “{tells}”")
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
