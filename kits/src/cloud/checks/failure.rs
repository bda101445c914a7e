//! Where there are no news, the user gets an empty list and is not bothered.

use super::fetches;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "failure",
    about: "A fetch that brings nothing gives an empty list, once, and shows the user nothing else.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for fetch in fetches(story).iter().filter(|fetch| fetch.gave() == "nothing" && !fetch.never_ends()) {
        examined.fact(fetch.list().is_some_and(Vec::is_empty), || {
            format!("the answer is {}", fetch.asked.answer_in_words())
        });
        let shown = fetch.updates(story, "notificationsResponse");
        let is_one =
            matches!(shown[..], [told] if told.update["notifications"].as_array().is_some_and(Vec::is_empty));
        examined.fact(is_one, || format!("the list was shown {} times, or was not empty", shown.len()));
        let notices = fetch.updates(story, "notice");
        let said = || notices.first().map(|told| told.update.to_string()).unwrap_or_default();
        examined.fact(notices.is_empty(), || format!("the user was told {}", said()));
    }
    examined
}
