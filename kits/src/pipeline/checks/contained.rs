//! A runner writes where it may: an issue with an odd name leads nowhere else.

use super::{list, looks};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "contained",
    about: "Nothing appears beside the repository, nor in .kilo but logs and worktrees.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for look in looks(story, &["killed", "gone", "swept", "swept-back"]) {
        let strangers = |list: &[serde_json::Value], known: &[&str]| {
            let names = list.iter().filter_map(|it| it.as_str()).filter(|it| !known.contains(it));
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let around = strangers(list(&look.value["around"]), &["work", "library"]);
        examined.fact(around.is_empty(), || format!("{} appeared beside the repository", around.join(", ")));
        let own = strangers(list(&look.value["own"]), &["logs", "worktrees", ".gitignore"]);
        examined.fact(own.is_empty(), || format!("{} appeared in .kilo", own.join(", ")));
    }
    examined
}
