//! When the client has ended its agent, nothing of it is left: no wrapper's child, no agent that outlives its stdin.

use super::{Check, Examined};
use crate::acp::heard::facts;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "remains", about: "Nothing is left of an agent that was ended.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    if story.seen_of("stopped").next().is_none() {
        return examined;
    }
    let is_left = |agent: u64| facts(story, "left").any(|(left, _, _)| left == agent);
    for (agent, _, start) in facts(story, "start") {
        let what =
            if facts(story, "child").any(|(child, _, _)| child == agent) { "the child" } else { "the agent" };
        examined.fact(!is_left(agent), || format!("{what} {agent} (process {}) is left", start["pid"]));
    }
    examined
}
