//! A way back before destructive edits, under a name that every system takes.

use super::{is_no_name, list, looks, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "forks",
    about: "Before an agent edits destructively there is a way back to what stood there, checkpoint/{issue}-{agent}-{timestamp}.",
    examine,
};

/// No file name on every system, no ref, or both.
const ILLEGAL: [char; 11] = [':', '?', '*', '"', '<', '>', '|', '\\', '~', '^', ' '];

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("pipeline.fork") {
        return examined;
    }
    let subject = subject(story);
    let issue = word(&subject, "issue");
    for run in story.seen_of("prompted").filter(|seen| seen.value["killed"].is_string()) {
        let known = list(&subject["phases"]).iter().find(|phase| phase["phase"] == run.value["killed"]);
        let Some(phase) = known.filter(|phase| phase["destructive"] == true && !is_no_name(issue)) else {
            continue;
        };
        let Some(held) = looks(story, &["killed"]).find(|look| look.at.line > run.at.line) else { continue };
        let agent = word(phase, "agent");
        let name = format!("checkpoint/{issue}-{agent}-");
        let named = |key: &str| -> Vec<&str> {
            let all = list(&held.value[key]).iter().filter_map(|it| it.as_str());
            all.filter(|it| it.contains(&name)).collect()
        };
        // Whose stash it is, its message tells: the person may have some, too.
        let (refs, stashes, worktrees) = (named("refs"), named("stashes"), named("worktrees"));
        let forks: Vec<&str> = refs.into_iter().chain(worktrees).collect();
        examined.fact(!forks.is_empty() || !stashes.is_empty(), || {
            format!("{agent} edits, and there is no way back {name}…")
        });
        for fork in &forks {
            examined.fact(!fork.contains(ILLEGAL), || format!("{fork} is no name on every system"));
        }
        // One that leads back is enough: of an earlier try there may be another one.
        let ways: Vec<&Value> =
            list(&held.value["ways"]).iter().filter(|way| word(way, "name").contains(&name)).collect();
        let leads_back = |way: &&Value| way["other"].as_array().is_some_and(Vec::is_empty);
        examined.fact(ways.is_empty() || ways.iter().any(leads_back), || {
            let told: Vec<String> = ways.iter().map(ToString::to_string).collect();
            format!("no way back of {agent} leads to what stood there before: {}", told.join(", "))
        });
        for fork in forks.iter().chain(&stashes) {
            let time = fork.split_once(&name).map_or("", |(_, time)| time);
            examined.fact(begins_with_a_time(time), || {
                format!("{fork} does not say when: behind {name} stands no date, but \"{time}\"")
            });
        }
    }
    examined
}

/// A day, `20260101` or `2026-01-01`, or seconds since 1970: the rule says "timestamp", and nothing of its form.
fn begins_with_a_time(text: &str) -> bool {
    let end =
        text.find(|it: char| !it.is_ascii_digit() && !matches!(it, '-' | '_' | '.')).unwrap_or(text.len());
    let digits: String = text[..end].chars().filter(char::is_ascii_digit).collect();
    let number = |from: usize, to: usize| digits.get(from..to).and_then(|it| it.parse::<u32>().ok());
    let is_day =
        matches!((number(0, 4), number(4, 6), number(6, 8)), (Some(1970..=9999), Some(1..=12), Some(1..=31)));
    let seconds = text.bytes().take_while(u8::is_ascii_digit).count();
    is_day || (10..=19).contains(&seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_back_says_when() {
        for right in
            ["20260101T120000Z", "2026-01-01T12-00-00Z", "20260101T120000Z-0", "2026_01_01", "1767268800"]
        {
            assert!(begins_with_a_time(right), "{right}");
        }
        for wrong in ["latest", "", "1", "0", "v2", "2026", "20261301", "00000001", "x20260101"] {
            assert!(!begins_with_a_time(wrong), "{wrong}");
        }
    }
}
