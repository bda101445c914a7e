//! The diffs: put on the beginning again they give what the agent has made, all of it and nothing else.

use super::list;
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
        let (file, why) = (&patch["file"], patch["why"].as_str());
        examined.fact(why.is_none(), || format!("{file} does not apply: {}", why.unwrap_or_default()));
        if why.is_none() {
            let differ = list(&patch["differ"]);
            examined.fact(differ.is_empty(), || format!("{file} does not give {differ:?}"));
        }
        examined.fact(patch["secret"] == false, || format!("{file} holds what git ignores"));
    }
    examined
}
