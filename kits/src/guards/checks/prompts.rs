//! The person is asked when there is a question, and a line runs only after a yes.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{Story, Told};
use harness::checks::Examined;
use serde_json::json;

pub(super) const CHECK: Check = Check {
    name: "prompts",
    about: "A line runs after a yes to it and never without; the person sees all of it; `always` is not asked again, `once` is.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let runs = wanted(story, "command/run");
    let lines: Vec<&str> = runs.iter().map(|(_, wanted)| text(&wanted["about"])).collect();
    for (call, wanted) in &runs {
        let about = text(&wanted["about"]);
        let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
        let of_call = |line: usize| call.at.line < line && line < end;
        let shown = story.updates_of("prompt").filter(|told| of_call(told.at.line));
        let (whole, others): (Vec<&Told>, Vec<&Told>) = shown.partition(|told| shows(told, about));
        // Of lines that run at once each has a question of its own.
        let is_nobodys = |told: &&&Told| !lines.iter().any(|line| shows(told, line));
        if let Some(other) = others.iter().find(is_nobodys) {
            examined.fact(false, || {
                let line = text(&other.update["line"]);
                format!("{about}: the person is asked about {line:?}, and that is not all of it")
            });
            continue;
        }
        let prompts = whole.len();
        let asks = wanted["asks"] == true;
        examined.fact(prompts == usize::from(asks), || match asks {
            true => format!("{about}: the person was asked {prompts} times instead of once"),
            false => format!("{about}: the person was asked {prompts} times, and had allowed it"),
        });
        let after = story.seen_of("disk").find(|seen| seen.at.line > call.at.line);
        let makes = format!("work/{}", text(&wanted["makes"]));
        let ran = after.is_some_and(|seen| seen.value.get(&makes).is_some());
        let runs = wanted["runs"] == true;
        examined.fact(ran == runs, || match runs {
            true => format!("{about}: the person allowed it, and it did not run"),
            false => format!("{about}: it ran without a yes"),
        });
        let told = call.result().map(|result| result["ran"].clone());
        examined.fact(told == Some(json!(ran)) || (told.is_none() && !ran), || {
            let told = told.map_or_else(|| "nothing".to_owned(), |told| told.to_string());
            format!("{about}: it says ran = {told}, and the disk says {ran}")
        });
    }
    examined
}

/// Does a question show all words of a line, in their order? How they are set is the adapter's.
fn shows(told: &Told, line: &str) -> bool {
    let mut shown = text(&told.update["line"]);
    line.split_whitespace().all(|word| {
        let rest = shown.find(word).map(|at| &shown[at + word.len()..]);
        shown = rest.unwrap_or_default();
        rest.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_question_shows_a_line_if_no_word_is_missing() {
        let shown = |line: &str| Told { update: json!({"line": line}), ..Told::default() };
        assert!(shows(&shown("touch a.txt\ntouch b.txt"), "touch a.txt\ntouch b.txt"));
        assert!(shows(&shown("run: touch a.txt ⏎ touch b.txt"), "touch a.txt\ntouch b.txt"));
        assert!(!shows(&shown("touch a.txt"), "touch a.txt\ntouch b.txt"));
        assert!(!shows(&shown("touch a.txt && touch …"), "touch a.txt && touch b.txt"));
        assert!(!shows(&shown("touch b.txt && touch a.txt"), "touch a.txt && touch b.txt"));
    }
}
