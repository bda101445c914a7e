//! Where the agents work: each in its own worktree, and the person's checkout stays as it is.

use super::{is_a_path, issue_of, looks, prompted, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "place",
    about: "Each agent works in .kilo/worktrees/{issue}/{agent}; branch, index and changes of the person stay.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let root = word(&subject, "root");
    if story.can.contains("pipeline.worktree") {
        for asked in prompted(story).filter(|asked| !is_a_path(issue_of(asked, &subject))) {
            let (agent, place) = (word(asked, "agent"), word(asked, "directory").trim_end_matches('/'));
            let issue = issue_of(asked, &subject);
            let place = place.strip_prefix(root).unwrap_or(place).trim_start_matches('/');
            let own = format!(".kilo/worktrees/{issue}/{agent}");
            examined.fact(place == own, || {
                let place = if place.is_empty() { "the person's checkout" } else { place };
                format!("{agent} was sent to work in {place}, not in {own}")
            });
        }
    }
    for look in looks(story, &["held", "killed", "gone", "swept"]) {
        let (branch, staged) = (word(&look.value, "branch"), word(&look.value, "staged"));
        examined.fact(branch == "main", || format!("the person's checkout is on {branch}"));
        examined.fact(staged.is_empty(), || format!("the person's index holds {staged}"));
        examined.fact(look.value["ownWords"] == true, || {
            "README.md does not hold any more what the person has written and not committed".to_owned()
        });
    }
    examined
}
