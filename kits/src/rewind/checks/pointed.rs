//! What is edited is the message that was pointed at; where that can't be told, nothing changes.

use super::episodes;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "pointed",
    about: "Where it can't be told which message is meant, nothing changes, nobody is asked, and the user is told once.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| episode.stays().is_none()) {
        let name = episode.name();
        examined.fact(episode.done().is_none(), || format!("{name}: an edit of nobody knows what was done"));
        examined.fact(episode.is_unchanged(), || format!("{name}: the lists have changed"));
        examined.fact(episode.asked.is_empty(), || format!("{name}: the model was asked"));
        let notices = episode.notices.len();
        examined.fact(notices == 1, || format!("{name}: the user was told {notices} times"));
    }
    examined
}
