//! What the person has set for the agent reaches the agent: how much it logs, and where.

use super::{Check, Examined};
use crate::acp::heard::facts;
use crate::story::Story;

pub(super) const CHECK: Check =
    Check { name: "environment", about: "The agent gets the environment that is meant for it.", examine };

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let meant = story.seen_of("environment").last().map(|seen| seen.value.clone()).unwrap_or_default();
    let meant = meant.as_object().cloned().unwrap_or_default();
    for (agent, _, start) in facts(story, "start") {
        for (name, value) in meant.iter().filter(|(name, _)| name.starts_with("KIRO_")) {
            let got = &start["environment"][name];
            examined.fact(got == value, || {
                format!("{name} was to be {value} for the agent {agent}, and is {got}")
            });
        }
    }
    examined
}
