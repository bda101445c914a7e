//! A checkpoint is there whole or not at all. Whoever writes it where the old one stands leaves half of one when he is killed in
//! the midst of it; no gate stands there, so the harness keeps hold of the old file and sees whether it has become another.

use super::list;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "whole",
    about: "A checkpoint that takes the place of another one is a file of its own, and never the old one written over.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for look in story.seen_of("disk") {
        let over: Vec<&str> = list(&look.value["writtenOver"]).iter().filter_map(|it| it.as_str()).collect();
        for replaced in list(&look.value["replaced"]).iter().filter_map(|it| it.as_str()) {
            examined.fact(!over.contains(&replaced), || {
                format!("{replaced} was written where it stood: a kill in the midst leaves half of it; write another file and rename it")
            });
        }
    }
    // Who stops at the phase that has failed replaces nothing.
    for run in story.seen_of("prompted").filter(|run| run.value["orStops"] == true) {
        let is_over = story.seen_of("disk").any(|look| !list(&look.value["replaced"]).is_empty());
        if !is_over && list(&run.value["prompted"]).is_empty() {
            examined.fact(true, String::new);
        }
    }
    examined
}
