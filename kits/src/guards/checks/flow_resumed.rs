//! A task that goes on has the conversation that it had, and no other one's.

use super::told::{lacks, messages, requests, says};
use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "flow-resumed",
    about: "The model is told all that was said in the task before, calls with their results, and nothing of other tasks.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let all = wanted(story, "task/send");
    for (nth, (_, wanted)) in all.iter().enumerate() {
        let task = text(&wanted["task"]);
        // Whether it was asked at all is another check's to see.
        let Some(first) = requests(story, &wanted["lane"]).first().copied() else { continue };
        let told = messages(first);
        let words = text(&wanted["text"]);
        let last = told.iter().rposition(|message| message["role"] == "user").unwrap_or_default();
        examined.fact(says(&told[last.min(told.len())..], "user", words), || {
            format!("{task}: the person's last words to the model are not “{}”", short(words))
        });
        for (_, before) in &all[..nth] {
            if before["task"] == wanted["task"] && before["killed"] == false {
                let lacks = lacks(told, before);
                examined.fact(lacks.is_empty(), || format!("{task} goes on without {}", lacks.join(", ")));
            } else if before["task"] != wanted["task"] {
                let (other, words) = (text(&before["task"]), text(&before["text"]));
                examined.fact(!says(told, "user", words), || {
                    format!("{task} begins with the words of {other}: “{words}”")
                });
            }
        }
    }
    examined
}

/// Words as a finding has room for them: of long ones the end, which is what is lost.
fn short(words: &str) -> String {
    const LONGEST: usize = 100;
    match words.chars().count() {
        0..=LONGEST => words.to_owned(),
        all => format!("…{}", words.chars().skip(all - LONGEST).collect::<String>()),
    }
}
