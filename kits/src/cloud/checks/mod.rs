//! What must hold of a client that fetches news, one file a check; and how the checks read a history.

mod bearer;
mod calls;
mod failure;
mod in_time;
mod links;
mod log;
mod news;
mod origin;
mod secret;

use crate::kit::Check;
use crate::story::{Call, Seen, Story, Told};
use serde_json::Value;

/// All of them.
pub(super) fn all() -> Vec<Check> {
    vec![
        news::CHECK,
        calls::CHECK,
        in_time::CHECK,
        failure::CHECK,
        log::CHECK,
        secret::CHECK,
        bearer::CHECK,
        origin::CHECK,
        links::CHECK,
    ]
}

/// A fetch, and what the harness has seen of it.
struct Fetch<'s> {
    asked: &'s Call,
    seen: &'s Seen,
}

impl Fetch<'_> {
    /// What the cloud has given: `news`, `nothing` or `any`.
    fn gave(&self) -> &str {
        self.seen.value["gave"].as_str().unwrap_or_default()
    }

    /// Was somebody to be asked, and is there no answer at all? `in_time` tells of that, and nothing else can be said of it.
    fn never_ends(&self) -> bool {
        self.is_tried() && self.asked.answer.is_none()
    }

    /// Was there a token of this provider, so that somebody is to be asked?
    fn is_tried(&self) -> bool {
        self.seen.value["tried"] == true
    }

    /// Does the cloud listen, so that it hears who calls?
    fn is_heard(&self) -> bool {
        self.seen.value["heard"] == true
    }

    /// The calls that the cloud got.
    fn calls(&self) -> &[Value] {
        self.seen.value["calls"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The news that it was answered with.
    fn list(&self) -> Option<&Vec<Value>> {
        self.asked.result()?["notifications"].as_array()
    }

    /// What the adapter showed of a kind while it went on.
    fn updates<'s>(&self, story: &'s Story<'_>, kind: &'s str) -> Vec<&'s Told> {
        let meanwhile = self.asked.at.line..self.seen.at.line;
        story.updates_of(kind).filter(|told| meanwhile.contains(&told.at.line)).collect()
    }
}

/// The fetches of a history: each with what was seen when it was over.
fn fetches<'s>(story: &'s Story<'_>) -> Vec<Fetch<'s>> {
    let asked = story.calls_of("notifications/fetch");
    asked.zip(story.seen_of("fetch")).map(|(asked, seen)| Fetch { asked, seen }).collect()
}

/// Where a piece of news leads, whatever the client calls it.
fn link(news: &Value) -> Option<&str> {
    first(news, ["/link/url", "/action/url", "/action/actionURL"])
}

/// What the link of a piece of news is called.
fn label(news: &Value) -> Option<&str> {
    first(news, ["/link/text", "/action/label", "/action/actionText"])
}

fn first<'n>(news: &'n Value, places: [&str; 3]) -> Option<&'n str> {
    places.iter().find_map(|place| news.pointer(place)?.as_str())
}
