//! Whatever a body says: the user gets a list, and no link that is anything but a web page.

use super::{fetches, link};
use crate::kit::Check;
use crate::story::{Story, quoted};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "links",
    about: "The user gets a list, and no link in it that is anything but a web page.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for fetch in fetches(story).iter().filter(|fetch| fetch.gave() == "any") {
        examined.fact(fetch.list().is_some(), || {
            format!("the answer is no list: {}", fetch.asked.answer_in_words())
        });
        let shown = fetch.updates(story, "notificationsResponse");
        let shown = shown.iter().filter_map(|told| told.update["notifications"].as_array());
        for one in fetch.list().into_iter().chain(shown).flatten() {
            let is_page = |link: &str| {
                let scheme = link.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
                matches!(scheme.as_deref(), Some("https" | "http"))
            };
            let link = link(one);
            examined.fact(link.is_none_or(is_page), || format!("the user is offered {}", quoted(link)));
        }
    }
    examined
}
