//! What takes too long is told as that, once.

use super::{in_time, text, wanted};
use crate::kit::Check;
use crate::story::{AdapterClock, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "timeouts",
    about: "An operation ends once: with its answer, or when its time is over; that is said, and what comes then is left out.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "op/limited") {
        let id = text(&call.params["id"]);
        let is_late = wanted["late"] == true;
        let ok = call.result().is_some_and(|said| said["ok"] == true);
        let limit = wanted["timeout_ms"].as_f64().unwrap_or_default();
        let took = call.answer.as_ref().map_or(f64::INFINITY, |(at, _)| at.ms - call.at.ms);
        if !is_late && !ok && took >= limit && story.clock != AdapterClock::Virtual {
            examined.facts += 1;
            examined.doubts.push(format!("{id}: the answer took {took:.0} ms of {limit:.0} on this machine"));
            continue;
        }
        examined.fact(ok != is_late, || match is_late {
            true => format!("{id}: the host answered when the time was over, and it says ok = {ok}"),
            false => format!("{id}: the host answered in time, and it says ok = {ok}"),
        });
        if is_late && !ok {
            let words = match &call.answer {
                Some((_, Ok(said))) => text(&said["error"]["message"]),
                Some((_, Err(refused))) => refused.message.as_str(),
                None => "",
            };
            examined.fact(tells_of_time(words), || {
                format!("{id}: its time is over, and {words:?} does not say so")
            });
        }
        if is_late {
            in_time(&mut examined, story, took, limit, || {
                format!("{id}: it had {limit:.0} ms, and ended after {took:.0} ms")
            });
        }
        let ends = story.updates_of("ended").filter(|told| told.update["id"] == call.params["id"]);
        let ends: Vec<bool> = ends.map(|told| told.update["ok"] == true).collect();
        examined.fact(ends == [!is_late], || {
            format!("{id}: it has to show one end, ok = {}, and shows {}: {ends:?}", !is_late, ends.len())
        });
    }
    examined
}

/// Is a message about time? How it says that is its own: by a word, or by how long it was.
fn tells_of_time(message: &str) -> bool {
    let message = message.to_lowercase();
    let words =
        ["time", "late", "deadline", "second", "limit", "expire", "abort", "cancel", "wait", "slow", "long"];
    words.iter().any(|word| message.contains(word))
        || message.contains(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_tells_of_time_in_its_own_words() {
        for told in
            ["Operation timed out", "ETIMEDOUT", "too late", "no answer in 6000 ms", "Deadline exceeded"]
        {
            assert!(tells_of_time(told), "{told}");
        }
        for told in ["", "  ", "The operation failed", "error", "undefined"] {
            assert!(!tells_of_time(told), "{told}");
        }
    }
}
