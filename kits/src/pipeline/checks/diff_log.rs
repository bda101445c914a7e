//! The diffs: each agent whose work is done has one under its own name, and put on the beginning again it gives what the agent
//! has made, all of it and nothing else.

use super::super::phases::PHASES;
use super::{issue_of, list, looks, named, status_in, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) const CHECK: Check = Check {
    name: "diff-log",
    about: "Each agent has a patch {issue}-{agent}.patch that applies to the beginning and gives its files as they are now.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("pipeline.difflog") {
        return examined;
    }
    let subject = subject(story);
    for look in looks(story, &["gone"]) {
        let there: Vec<&str> = list(&look.value["diffs"]).iter().filter_map(|it| it.as_str()).collect();
        // Who was prompted in an earlier run, and is done, has been killed behind his diff.
        let runs = story.seen_of("prompted").filter(|run| run.at.line < look.at.line);
        let asked = runs.flat_map(|run| list(&run.value["prompted"]));
        let asked: BTreeSet<[&str; 3]> = asked
            .map(|asked| [issue_of(asked, &subject), word(asked, "agent"), word(asked, "phase")])
            .collect();
        for [issue, agent, phase] in asked {
            if status_in(look, issue, phase) == Some("success") {
                let name = format!("{issue}-{agent}.patch");
                examined.fact(there.contains(&name.as_str()), || {
                    let instead = if there.is_empty() { "nothing".to_owned() } else { named(there.clone()) };
                    format!("{phase} is done, and in .kilo/logs/diffs is no {name}; there is {instead}")
                });
            }
        }
    }
    of_failed(story, &subject, &mut examined);
    let patches = story.seen_of("patches").flat_map(|seen| list(&seen.value));
    for patch in patches {
        let (file, why) = (word(patch, "file"), patch["why"].as_str());
        examined.fact(patch["secret"] == false, || format!("{file} holds what git ignores"));
        if let Some(own) = patch["files"].as_array() {
            let about = list(&patch["about"]).iter().filter(|it| !own.contains(it));
            let strange = named(about.filter_map(|it| it.as_str()));
            examined.fact(strange.is_empty(), || format!("{file} changes {strange}, and its agent has not"));
        }
        // Another agent has worked in the same file: it was put on nothing.
        if patch["differ"].is_null() {
            continue;
        }
        examined.fact(why.is_none(), || {
            let why = named(why.unwrap_or_default().lines().map(str::trim));
            format!("{file} does not apply to the beginning: {why}")
        });
        if why.is_none() {
            let differ = named(list(&patch["differ"]).iter().filter_map(|it| it.as_str()));
            let about = "put on the beginning, and the agent has changed it";
            examined
                .fact(differ.is_empty(), || format!("{file} does not give {differ} as it is now, {about}"));
        }
    }
    examined
}

/// What an agent has edited is logged though it has failed then, each file of it; under which end of its name is the runner's.
fn of_failed(story: &Story<'_>, subject: &Value, examined: &mut Examined) {
    for run in story.seen_of("prompted") {
        let failed = word(&run.value, "failed");
        let asked = list(&run.value["prompted"]).iter().find(|asked| word(asked, "phase") == failed);
        let patches = story.seen_of("patches").find(|seen| seen.at.line > run.at.line);
        let phase = PHASES.iter().find(|phase| phase.name == failed);
        let (Some(asked), Some(patches), Some(phase)) = (asked, patches, phase) else { continue };
        let name = format!("{}-{}", issue_of(asked, subject), word(asked, "agent"));
        let own = |patch: &&Value| {
            let file = word(patch, "file");
            file.starts_with(&name) && file.ends_with(".patch")
        };
        let logged = list(&patches.value).iter().filter(own).flat_map(|patch| list(&patch["about"]));
        let logged: BTreeSet<&str> = logged.filter_map(Value::as_str).collect();
        let missing: Vec<&str> = phase.files.iter().copied().filter(|file| !logged.contains(file)).collect();
        examined.fact(missing.is_empty(), || {
            format!(
                "the agent of {failed} has edited and failed, and in .kilo/logs/diffs no {name}….patch changes {}",
                named(missing.clone())
            )
        });
    }
}
