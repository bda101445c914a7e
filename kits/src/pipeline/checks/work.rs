//! What becomes of the work: done once, merged when it succeeded, and not when it failed.

use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "work",
    about: "After a run the person's checkout holds the work of each phase that succeeded, once, and of no other.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for seen in story.seen_of("work") {
        let run = story.seen_of("prompted").filter(|run| run.at.line < seen.at.line).last();
        let stopped = run.is_some_and(|run| {
            run.value["orStops"] == true && run.value["prompted"].as_array().is_some_and(Vec::is_empty)
        });
        // Without worktrees there is nothing to be merged, and what fails leaves what it has done.
        let failed = run.is_some_and(|run| run.value["failed"].is_string());
        if stopped || failed && !story.can.contains("pipeline.worktree") {
            continue;
        }
        for (file, state) in seen.value.as_object().into_iter().flatten() {
            let (wanted, found) = (&state["wanted"], &state["found"]);
            examined.fact(wanted == found, || {
                format!("{file} should hold {wanted} in the person's checkout and holds {found}")
            });
            if state["canRun"] == true {
                examined.fact(state["runs"] == true, || {
                    format!(
                        "the agent has made {file} a file that can be run, and in the checkout it is none"
                    )
                });
            }
        }
    }
    examined
}
