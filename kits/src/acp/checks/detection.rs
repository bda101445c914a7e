//! Whether there is an agent that speaks ACP is found out within a limit, and rightly: by what its help is about.

use super::{Check, Examined};
use crate::acp::heard::expected;
use crate::story::Story;
use serde_json::json;

pub(super) const CHECK: Check =
    Check { name: "detection", about: "Which kind of agent there is, is found out, and in time.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (at, finds) in expected(story, "finds") {
        let start = story.calls_of("client/start").find(|call| call.at.line > at.line);
        let found = start.and_then(|call| call.result()).map(|result| result["mode"].clone());
        examined.fact(found.as_ref() == Some(finds), || {
            format!("there is an agent in {finds}, and found is {}", json!(found))
        });
    }
    examined
}
