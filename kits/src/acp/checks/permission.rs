//! A question for permission is answered once, under its own id, by an option of the kind that the person means; where none
//! is of that kind, or the turn is cancelled, by `cancelled`. Silence holds the agent for ever.

use super::{Check, Examined};
use crate::acp::heard::{Asked, requests};
use crate::story::Story;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "permission",
    about: "A question for permission is answered once, by its options' kinds.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let leave = story.seen_of("leave").last().and_then(|seen| seen.value.as_str()).unwrap_or_default();
    for question in requests(story, false) {
        if question.asked.method() == Some("session/request_permission") {
            judge(&mut examined, &question, leave);
        }
    }
    examined
}

fn judge(examined: &mut Examined, question: &Asked<'_>, leave: &str) {
    let id = &question.asked.value["id"];
    let Some(answer) = question.answer else {
        return examined.fact(false, || format!("the question {id} is never answered"));
    };
    examined.fact(!question.is_answered_again, || format!("the question {id} is answered twice"));
    let outcome = &answer.value["result"]["outcome"];
    let options = &question.asked.value["params"]["options"];
    let of_kind: Vec<&Value> = options
        .as_array()
        .into_iter()
        .flatten()
        .filter(|option| option["kind"].as_str().is_some_and(|kind| means(kind, leave)))
        .map(|option| &option["optionId"])
        .collect();
    let holds = match outcome["outcome"].as_str() {
        Some("selected") => of_kind.contains(&&outcome["optionId"]),
        Some("cancelled") => of_kind.is_empty(),
        _ => false,
    };
    examined.fact(holds, || {
        format!("the person says {leave}, the options are {options}, and the answer is {outcome}")
    });
}

fn means(kind: &str, leave: &str) -> bool {
    match leave {
        "allow" => matches!(kind, "allow_once" | "allow_always"),
        "refuse" => matches!(kind, "reject_once" | "reject_always"),
        // Nobody was there to answer.
        _ => false,
    }
}
