//! Where a runner goes on: behind what is done, at what is not, and nowhere else.

use super::{list, looks, refused_before, said_before, status_in, subject, word};
use crate::kit::Check;
use crate::story::{Seen, Story};
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "resumes",
    about: "Each run prompts the agents of the phases that are not done, in order and once, and of no others.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let issue = word(&subject, "issue");
    for run in story.seen_of("prompted") {
        let wanted: Vec<&str> = list(&run.value["wanted"]).iter().filter_map(|it| it.as_str()).collect();
        let found: Vec<&str> = list(&run.value["prompted"]).iter().map(|it| word(it, "phase")).collect();
        let stops = run.value["orStops"] == true && found.is_empty();
        if let (true, Some(name)) = (stops && found != wanted, run.value["names"].as_str()) {
            let says = said_before(story, run.at.line).contains(name);
            examined.fact(says, || format!("it stops, and does not say that {name} is why"));
        }
        let stops_early = found != wanted && stops_at(&run.value, &wanted) == Some(&found[..]);
        if stops_early {
            let after = looks(story, &["gone"]).find(|look| look.at.line > run.at.line);
            let says = after.is_some_and(|look| wanted.iter().any(|phase| is_stopped(look, issue, phase)));
            examined.fact(says, || {
                let at = word(&run.value, "orStopsAt");
                format!("it stops before {at}, and no checkpoint says that a phase is blocked")
            });
        }
        let stops = stops || stops_early;
        let fewer = run.value["orFewer"] == true && wanted.ends_with(&found);
        examined.fact(found == wanted || stops || fewer, || {
            let (method, why) = (word(&run.value, "method"), refused_before(story, run.at.line));
            format!("{method} had to prompt {wanted:?} and prompted {found:?}{why}")
        });
    }
    examined
}

/// Does the checkpoint of this phase say why nobody goes on?
fn is_stopped(look: &Seen, issue: &str, phase: &str) -> bool {
    status_in(look, issue, phase) == Some("blocked")
}

/// What is prompted by one who stops where he may.
fn stops_at<'a>(run: &Value, wanted: &'a [&'a str]) -> Option<&'a [&'a str]> {
    let at = wanted.iter().position(|phase| run["orStopsAt"] == **phase)?;
    Some(&wanted[..at])
}
