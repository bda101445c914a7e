//! What is left after kills: swept where nobody misses it, and nothing that somebody made is lost.

use super::{list, looks, named, subject, word};
use crate::kit::Check;
use crate::story::{Seen, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "left-overs",
    about: "Sweeping takes away the runner's own worktrees without work in them, and never what holds work.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let own = format!(".kilo/worktrees/{}/", word(&subject, "issue"));
    for look in looks(story, &["swept"]) {
        let before = looks(story, &["killed", "gone"]).filter(|it| it.at.line < look.at.line).last();
        let unmerged = before.map(unmerged).unwrap_or_default();
        let had_work = !unmerged.is_empty();
        let lost = named(unmerged.into_iter().filter(|phase| !holds(look, "kept", phase)));
        examined.fact(lost.is_empty(), || format!("unfinished work of {lost} is swept away"));
        let left: Vec<&str> = list(&look.value["worktrees"])
            .iter()
            .filter_map(|it| it.as_str())
            .filter(|it| it.starts_with(&own))
            .collect();
        // A dirty one may stay: somebody may want it. So may one that nobody can remove just now.
        let may_stay = had_work || look.value["keeps"] == true;
        examined
            .fact(left.is_empty() || may_stay, || format!("{} still there, and nothing in it", named(left)));
        // Whose agent is about to begin has a worktree without work in it, too.
        let is_strange = |it: &&str| it.starts_with(".kilo/worktrees/") && !it.starts_with(&own);
        let were = before.map(|it| list(&it.value["worktrees"])).unwrap_or_default();
        let now = list(&look.value["worktrees"]);
        let gone = were.iter().filter(|it| !now.contains(it)).filter_map(|it| it.as_str()).filter(is_strange);
        let gone = named(gone);
        examined.fact(gone.is_empty(), || format!("{gone} is swept away, and it is another issue's"));
        if story.calls_of("pipeline/cleanup").next().is_some() && look.value["others"].is_boolean() {
            let were = before.is_some_and(|it| it.value["others"] == true);
            examined.fact(!were || look.value["others"] == true, || {
                "somebody else's worktree is gone".to_owned()
            });
        }
    }
    // What stood in the way of a worktree is somewhere still, whatever became of the run.
    for seen in story.seen_of("left-over") {
        for look in looks(story, &["gone", "killed", "swept"]).filter(|look| look.at.line > seen.at.line) {
            if seen.value["holdsWork"] == true {
                examined.fact(look.value["leftOver"] == true, || {
                    "what was left in a worktree is nowhere any more".to_owned()
                });
            }
            if let Some(folder) = seen.value["locked"].as_str() {
                examined.fact(holds(look, "locked", folder), || {
                    format!("somebody has locked the worktree {folder}, and it is not as it was any more")
                });
            }
        }
    }
    if story.seen_of("left-over").next().is_some() {
        for look in looks(story, &["gone"]) {
            let gone = named(list(&look.value["prunable"]).iter().filter_map(|it| it.as_str()));
            examined.fact(gone.is_empty(), || format!("git still knows {gone}, and nothing is there"));
        }
    }
    examined
}

/// The phases whose work is somewhere, and not in the checkout.
fn unmerged(look: &Seen) -> Vec<&str> {
    let kept = list(&look.value["kept"]).iter().filter_map(|it| it.as_str());
    kept.filter(|phase| !holds(look, "merged", phase)).collect()
}

fn holds(look: &Seen, key: &str, name: &str) -> bool {
    list(&look.value[key]).iter().any(|it| it == name)
}
