//! A fetch that fails is one line in the log: for whoever looks for the reason, and not for a disk.

use super::fetches;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check =
    Check { name: "log", about: "A fetch that fails is one line in the log.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for fetch in fetches(story)
        .iter()
        .filter(|fetch| fetch.is_tried() && fetch.gave() == "nothing" && !fetch.never_ends())
    {
        let lines = fetch.updates(story, "log").len();
        examined.fact(lines == 1, || format!("{lines} lines in the log"));
    }
    examined
}
