//! A token chooses between the clouds that the client knows; it names none.

use crate::kit::Check;
use crate::story::{Story, quoted};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "origin",
    about: "A token chooses between the known clouds; no claim in it names a host.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let Some(configured) = story.calls_of("configure").next() else { return examined };
    let known = &configured.params["origins"];
    for (call, seen) in story.calls_of("token/base").zip(story.seen_of("token")) {
        let said = call.result().and_then(|result| result["origin"].as_str());
        let right = match (seen.value["origin"].as_str(), said) {
            // What is no proper token may be refused.
            (Some("known"), None) => call.answer.is_some(),
            (Some("known"), Some(said)) => known["production"] == said || known["development"] == said,
            (Some(origin), Some(said)) => known[origin] == said,
            _ => false,
        };
        examined.fact(right, || {
            let (name, origin) = (&seen.value["name"], &seen.value["origin"]);
            format!("the token {name} belongs to {origin}, and the client says {}", quoted(said))
        });
    }
    examined
}
