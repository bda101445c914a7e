//! An agent that ends is not started again and again: once, when the person wants something of it.

use super::{Check, Examined};
use crate::acp::heard::facts;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "effort", about: "An agent that ends is not started again and again.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let ends = facts(story, "exit").count() + facts(story, "gone").count();
    if ends == 0 {
        return examined;
    }
    let children = facts(story, "child").count();
    let starts = facts(story, "start").count() - children;
    let wanted = story.calls.iter().filter(|call| {
        matches!(call.method.as_str(), "client/start" | "chat/open" | "chat/send" | "chat/restore")
    });
    let most = wanted.count() + 1;
    examined
        .fact(starts <= most, || format!("{starts} agents were started, and {most} would have been enough"));
    examined
}
