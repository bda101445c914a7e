//! A checkpoint comes after the work: one that says success while its agent still works is a lie that a kill makes true.

use super::{list, looks, prompted, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "after-the-work",
    about: "No checkpoint says success before its phase's work is done and on disk.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let issue = word(&subject, "issue");
    for held in story.seen_of("prompted").filter(|seen| seen.value["killed"].is_string()) {
        let phase = word(&held.value, "killed");
        let name = format!("{issue}-{phase}.json");
        let before = looks(story, &["held"]).filter(|look| look.at.line < held.at.line).last();
        let after = looks(story, &["killed"]).find(|look| look.at.line > held.at.line);
        for look in before.into_iter().chain(after) {
            let says = list(&look.value["checkpoints"]).iter().find(|it| word(it, "file") == name);
            let is_done = says.is_some_and(|it| it["says"]["status"] == "success");
            examined.fact(!is_done, || format!("{name} says success while the agent of {phase} still works"));
        }
    }
    // Whatever a checkpoint of this runner calls done is on disk.
    let own: Vec<&str> = prompted(story).map(|it| word(it, "phase")).collect();
    for look in looks(story, &["gone", "killed"]) {
        for checkpoint in
            list(&look.value["checkpoints"]).iter().filter(|it| it["says"]["status"] == "success")
        {
            let phase =
                list(&subject["phases"]).iter().find(|phase| phase["phase"] == checkpoint["says"]["phase"]);
            let Some(phase) = phase.filter(|phase| own.contains(&word(phase, "phase"))) else { continue };
            // A file that it removes is gone.
            let goes = |file: &&str| list(&phase["removes"]).iter().any(|gone| gone == *file);
            let is_so = |file: &&str| look.value["files"][*file].is_string() != goes(file);
            let mut files = list(&phase["files"]).iter().filter_map(|file| file.as_str());
            let wrong = files.find(|file| !is_so(file));
            examined.fact(wrong.is_none(), || {
                let (phase, file) = (word(phase, "phase"), wrong.unwrap_or_default());
                let is = if goes(&file) { "is still there" } else { "is not there" };
                format!("{phase} is done by its checkpoint, and {file} {is}")
            });
        }
    }
    examined
}
