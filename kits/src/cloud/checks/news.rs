//! What the cloud tells is what the user gets.

use super::{fetches, link};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check =
    Check { name: "news", about: "What the cloud tells is what the user gets, once.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for fetch in fetches(story).iter().filter(|fetch| fetch.gave() == "news") {
        let told = told(fetch.seen.value["news"].as_array().map_or(&[], Vec::as_slice));
        let got = fetch.list().map(|list| self::told(list)).unwrap_or_default();
        examined.fact(told == got, || format!("the cloud told {told:?}, and the answer has {got:?}"));
        let shown = fetch.updates(story, "notificationsResponse");
        let shown: Vec<_> = shown
            .iter()
            .map(|told| self::told(told.update["notifications"].as_array().map_or(&[], Vec::as_slice)))
            .collect();
        examined.fact(shown == [told], || format!("the user was shown {shown:?}"));
    }
    examined
}

/// What counts of news: who they are, what they say and where they lead.
fn told(list: &[Value]) -> Vec<[&str; 4]> {
    list.iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or_default();
            [text("id"), text("title"), text("message"), link(one).unwrap_or_default()]
        })
        .collect()
}
