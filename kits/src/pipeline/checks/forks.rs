//! A way back before destructive edits, under a name that every system takes.

use super::{list, looks, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "forks",
    about: "Before an agent edits destructively there is a way back, checkpoint/{issue}-{agent}-{timestamp}.",
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
        let Some(phase) = known.filter(|phase| phase["destructive"] == true) else { continue };
        let Some(held) = looks(story, &["killed"]).find(|look| look.at.line > run.at.line) else { continue };
        let agent = word(phase, "agent");
        let name = format!("checkpoint/{issue}-{agent}-");
        let forks: Vec<&str> = list(&held.value["refs"])
            .iter()
            .filter_map(|it| it.as_str())
            .filter(|it| it.contains(&name))
            .collect();
        let stashes = held.value["stashes"].as_u64().unwrap_or_default();
        examined.fact(!forks.is_empty() || stashes > 0, || {
            format!("{agent} edits, and there is no way back {name}…")
        });
        for fork in forks {
            examined.fact(!fork.contains(ILLEGAL), || format!("{fork} is no name on every system"));
        }
    }
    examined
}
