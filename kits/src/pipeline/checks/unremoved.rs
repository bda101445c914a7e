//! What could not be removed is told: a sweep that says that all is well is asked for no second time, and what it has left runs on,
//! and stands in the way.

use super::{list, looks, named, said_before, subject, word};
use crate::kit::Check;
use crate::story::{Seen, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "unremoved",
    about: "Who is told to sweep and can't remove what is left says so; of a container that a run leaves the runner tells.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let own = format!(".kilo/worktrees/{}/", word(&subject, "issue"));
    for look in looks(story, &["gone", "swept"]).filter(|look| look.value["keeps"] == true) {
        let call = story.calls.iter().rfind(|call| call.at.line < look.at.line);
        let is_sweep = look.value["when"] == "swept";
        let left = left(look, if is_sweep { Some(&own) } else { None });
        let is_error = call.and_then(|call| call.answer.as_ref()).is_some_and(|(_, answer)| answer.is_err());
        let said = said_before(story, look.at.line);
        // Who has swept has nothing else to say than whether it is done; a run may be well done all the same.
        let names_all = !is_sweep && left.iter().all(|name| said.contains(name));
        examined.fact(left.is_empty() || is_error || names_all, || {
            let left = named(left.iter().copied());
            format!("{left} could not be removed, and the runner does not say so")
        });
    }
    examined
}

/// The containers that are there; and the worktrees below a folder, where one is named.
fn left<'a>(look: &'a Seen, folder: Option<&str>) -> Vec<&'a str> {
    let containers = list(&look.value["containers"]["own"]).iter().map(|it| word(it, "name"));
    let worktrees = list(&look.value["worktrees"]).iter().filter_map(|it| it.as_str());
    let worktrees = worktrees.filter(|it| folder.is_some_and(|folder| it.starts_with(folder)));
    containers.chain(worktrees).collect()
}
