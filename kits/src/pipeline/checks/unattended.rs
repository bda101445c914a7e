//! An agent asks for leave, and nobody is there: the run ends and says so, and nobody makes up a yes.

use super::{list, looks, says, status_in, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "unattended",
    about: "When an agent asks and nobody is there, the run is over within its limit, the phase is blocked or has failed, and what was asked for is not done.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    for run in story.seen_of("prompted").filter(|run| run.value["asks"].is_string()) {
        let phase = word(&run.value, "asks");
        let hangs = run.value["hangs"] == true;
        examined.fact(!hangs, || format!("the agent of {phase} asks, and the runner waits for ever"));
        let look = looks(story, &["gone"]).find(|look| look.at.line > run.at.line);
        let Some(look) = look.filter(|_| !hangs) else { continue };
        let status = status_in(look, word(&subject, "issue"), phase);
        examined.fact(matches!(status, Some("blocked" | "fail")), || {
            format!("nobody has answered the agent of {phase}, and its checkpoint says {}", says(status))
        });
        let known = list(&subject["phases"]).iter().find(|known| known["phase"] == phase);
        let files = known.map(|known| list(&known["files"])).unwrap_or_default();
        let made =
            files.iter().filter_map(|file| file.as_str()).find(|file| look.value["files"][*file].is_string());
        examined.fact(made.is_none(), || {
            let file = made.unwrap_or_default();
            format!("the agent of {phase} has asked for leave, nobody was there, and {file} is written")
        });
    }
    examined
}
