//! What was in the tree before a restore can be had again: the later state, and what the user changed himself.

use super::episodes;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "traces",
    about: "What was in the tree before a restore is in the tree or in the shadow repository afterwards.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story) {
        let found = episode.after["has"].as_array().map_or(&[][..], Vec::as_slice);
        for had in episode.told["had"].as_array().into_iter().flatten() {
            examined
                .fact(found.contains(had), || format!("{}: {had} is gone without a trace", episode.name()));
        }
    }
    examined
}
