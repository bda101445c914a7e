//! What the cloud tells is what the user gets.

use super::{fetches, label, link};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check =
    Check { name: "news", about: "What the cloud tells is what the user gets, once.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for fetch in fetches(story).iter().filter(|fetch| fetch.gave() == "news") {
        let news = fetch.seen.value["news"].as_array().map_or(&[][..], Vec::as_slice);
        let told = counts(news, news);
        let got = fetch.list().map(|list| counts(list, news)).unwrap_or_default();
        examined.fact(told == got, || format!("the cloud told {told:?}, and the answer has {got:?}"));
        let shown = fetch.updates(story, "notificationsResponse");
        let shown: Vec<_> = shown
            .iter()
            .map(|told| counts(told.update["notifications"].as_array().map_or(&[], Vec::as_slice), news))
            .collect();
        examined.fact(shown == [told], || format!("the user was shown {shown:?}"));
    }
    examined
}

/// What only one of the two shapes has.
const OF_THE_PLAN: [&str; 3] = ["type", "timestamp", "read"];

/// What counts of a list: who the news are, what they say, where they lead and what that is called; and what only one
/// shape has, where the cloud has told it. What a client puts there by itself otherwise is its own.
fn counts(list: &[Value], news: &[Value]) -> Vec<Vec<String>> {
    list.iter()
        .enumerate()
        .map(|(place, one)| {
            let text = |name: &str| one[name].as_str().unwrap_or_default().to_owned();
            let link = [link(one), label(one)].map(|word| word.unwrap_or_default().to_owned());
            let told = |name: &&str| news.get(place).is_some_and(|piece| !piece[*name].is_null());
            let of_the_plan = OF_THE_PLAN.iter().filter(|name| told(name)).map(|name| {
                // A number is the same however it is written.
                let value = one[*name].as_f64().map_or_else(|| one[*name].clone(), Value::from);
                format!("{name} {value}")
            });
            ["id", "title", "message"].map(text).into_iter().chain(link).chain(of_the_plan).collect()
        })
        .collect()
}
