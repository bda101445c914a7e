//! What a client keeps is there whole whenever it is killed. Whoever writes lists where the old ones stand leaves half of them when
//! he is killed in the midst of it; no gate stands there, so the harness keeps hold of the old files and sees how they were written.

use super::episodes;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "whole",
    about: "A file with a conversation in it is replaced by a whole one, or only added to, and never written over where it stands or taken away before.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("rewind.atomic") {
        return examined;
    }
    for episode in episodes(story) {
        for stored in episode.after["stored"].as_array().into_iter().flatten() {
            examined.fact(stored["how"] != "taken away", || {
                format!(
                    "{}: {} was taken away before the new one had its name: a kill in between leaves neither; rename the new one over it",
                    episode.name(),
                    stored["file"]
                )
            });
            examined.fact(stored["how"] != "written over", || {
                format!(
                    "{}: {} was written over where it stands: a kill in the midst leaves half of it; write another file and rename it",
                    episode.name(),
                    stored["file"]
                )
            });
        }
    }
    examined
}
