//! The diffs: put on the beginning again they give what the agent has made, all of it and nothing else.

use super::{list, named, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "diff-log",
    about: "Each agent's patch applies to the beginning and gives its files as they are now.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if !story.can.contains("pipeline.difflog") {
        return examined;
    }
    let patches = story.seen_of("patches").flat_map(|seen| list(&seen.value));
    for patch in patches {
        let (file, why) = (word(patch, "file"), patch["why"].as_str());
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
        examined.fact(patch["secret"] == false, || format!("{file} holds what git ignores"));
    }
    examined
}
