//! Every turn has one end, which comes in time and says how it was: an agent that dies, fails or falls silent is an error
//! that says why.

use super::{Check, Examined, is_foreign};
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "ends", about: "Every turn ends once, in time, and says how.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let turns: Vec<_> = story.seen_of("turn").collect();
    let mut count = std::collections::BTreeMap::new();
    for turn in &turns {
        let chat = turn.value["chat"].as_str().unwrap_or_default();
        let number = count.entry(chat).and_modify(|count| *count += 1).or_insert(0);
        let done = story.updates_of("chatDone").filter(|told| told.update["chatId"] == chat).nth(*number);
        let Some(done) = done else {
            examined.fact(false, || format!("turn {} in the chat {chat} never ends", *number + 1));
            continue;
        };
        // The end of a turn that has not begun is a second one of the turn before.
        let is_its_own = done.at.line > turn.at.line;
        examined.fact(is_its_own, || format!("a turn in {chat} has ended twice before the next one began"));
        let stop = done.update["stop"].as_str().unwrap_or_default();
        let is_as_wanted =
            turn.value["ends"].as_array().is_some_and(|ends| ends.iter().any(|end| end == stop));
        // Who knows only the standard may say that he does not understand.
        let is_as_wanted = is_as_wanted || stop == "error" && is_foreign(story, turn);
        let wanted = &turn.value["ends"];
        examined
            .fact(is_as_wanted, || format!("the turn in {chat} was to end as {wanted}, and ends as {stop}"));
        if stop == "error" {
            let says_why = done.update["error"].as_str().is_some_and(|why| !why.is_empty());
            examined.fact(says_why, || format!("the turn in {chat} fails, and nobody says why"));
        }
        let (took, limit) = (done.at.ms - turn.at.ms, turn.value["withinMs"].as_f64().unwrap_or(f64::MAX));
        examined.fact(took <= limit, || {
            format!("the turn in {chat} was over within {limit} ms, and its end is told after {took:.0} ms")
        });
    }
    for (chat, last) in count {
        let told = story.updates_of("chatDone").filter(|told| told.update["chatId"] == chat).count();
        examined.fact(told <= last + 1, || format!("{} turns in the chat {chat} have {told} ends", last + 1));
    }
    examined
}
