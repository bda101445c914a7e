//! Where the agents work: each in its own worktree, and the person's checkout stays as it is.

use super::super::repository::{STAGED, UNTRACKED};
use super::{is_no_name, issue_of, list, looks, named, prompted, subject, word};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "place",
    about: "Each agent works in .kilo/worktrees/{issue}/{agent}; branch, index, stash and changes of the person stay.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let subject = subject(story);
    let root = word(&subject, "root");
    if story.can.contains("pipeline.worktree") {
        for asked in prompted(story).filter(|asked| !is_no_name(issue_of(asked, &subject))) {
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
        let own = word(&subject, "branch");
        examined.fact(branch == own, || format!("the person's checkout is on {branch}, and was on {own}"));
        // Who is on another branch has asked for nothing there.
        if own != "main" {
            let is_same = look.value["main"] == subject["main"];
            examined.fact(is_same, || format!("main has moved, and the person is on {own}"));
        }
        // Whoever searches in the checkout, watches it, or adds all of it, would have each file twice.
        let copies = named(list(&look.value["copies"]).iter().filter_map(|it| it.as_str()));
        examined.fact(copies.is_empty(), || {
            format!("for git {copies} is new in the person's checkout: let it ignore worktrees")
        });
        // What stands below is told apart.
        let is_begun = subject["clean"] != true;
        let known = [("README.md", is_begun), (UNTRACKED.0, is_begun), (STAGED.0, subject["staged"] == true)];
        let is_known = |name: &&str| known.iter().any(|(file, is_so)| file == name && *is_so);
        let touched = list(&look.value["touched"]).iter().filter_map(|it| it.as_str());
        let touched = named(touched.filter(|name| !is_known(name)));
        examined.fact(touched.is_empty(), || {
            format!(
                "{touched} in the person's checkout is new or other than it was, and no agent works at it"
            )
        });
        let reset = named(list(&look.value["reset"]).iter().filter_map(|it| it.as_str()));
        examined.fact(reset.is_empty(), || {
            format!("the person's own settings of the repository are not as they were: {reset}")
        });
        let wanted = if subject["staged"] == true { STAGED.0 } else { "" };
        examined.fact(staged == wanted, || {
            let told =
                |names: &str| if names.is_empty() { "nothing".to_owned() } else { named(names.lines()) };
            format!(
                "the person's index holds {}, and the person has put {} there",
                told(staged),
                told(wanted)
            )
        });
        let person = &look.value["person"];
        let mut is = |name: &str, wrong: &str| examined.fact(person[name] == true, || wrong.to_owned());
        if subject["clean"] != true {
            is("changed", "README.md is not any more what the person has written and not committed");
            is("begun", "mine/begun.txt, which git did not know, is gone, or git knows it");
        }
        is("ignored", ".env, which git ignores, is not any more what the person has there");
        is("stash", "what the person has put away in a stash is not there any more");
        if subject["staged"] == true {
            is("staged", "mine/staged.txt is not any more what the person has staged");
        }
    }
    examined
}
