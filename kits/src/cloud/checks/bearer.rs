//! The token goes to the cloud that it belongs to, and to nobody else.

use super::fetches;
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "bearer",
    about: "The token goes to the cloud that it belongs to, as its bearer and nowhere else; no redirect carries it.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let origin = story.seen_of("token").next().and_then(|seen| seen.value["origin"].as_str());
    let own = if origin == Some("development") { "elsewhere" } else { "cloud" };
    for fetch in fetches(story) {
        for call in fetch.calls() {
            let is_shown = call["bearer"] == "right";
            examined.fact(!is_shown || call["place"] == own, || {
                format!("the token was brought to {} and belongs to {own}", call["place"])
            });
            examined.fact(call["beside"] != true, || {
                format!(
                    "the token stands in the address, a cookie or a header of a call to {}",
                    call["place"]
                )
            });
        }
    }
    examined
}
