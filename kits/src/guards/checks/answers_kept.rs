//! An answer is kept for five minutes, and a failure is not.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "answers-kept",
    about: "An answer younger than five minutes is given again, an older one is asked for, and a failure is never kept.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (_, wanted) in wanted(story, "cache/get") {
        let (fetched, fetches) = (wanted["fetched"].as_u64().unwrap_or_default(), wanted["fetches"] == true);
        examined.fact((fetched > 0) == fetches, || {
            let instead = if fetches { "and has to be" } else { "though the answer is kept" };
            format!("{}: the host is asked {fetched} times, {instead}", text(&wanted["about"]))
        });
    }
    examined
}
