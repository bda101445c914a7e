//! The checks of clients of agents: pure functions of a history. One file each, and a line in [`all`].

mod bounds;
mod calls;
mod commands;
mod compaction;
mod detection;
mod effort;
mod ends;
mod environment;
mod isolation;
mod mcp;
mod permission;
mod remains;
mod replay;
mod requests;
mod restored;
mod rules;
mod screen;
mod secrets;
mod servers;
mod setters;
mod text;

use crate::kit::Check;
use crate::story::{Seen, Story};
use harness::checks::Examined;

/// Is the turn's agent one that this client need not understand?
fn is_foreign(story: &Story<'_>, turn: &Seen) -> bool {
    turn.value["inOtherWords"] == true && !story.can.contains("kiro.words")
}

/// All checks.
pub(super) fn all() -> Vec<Check> {
    vec![
        text::CHECK,
        ends::CHECK,
        calls::CHECK,
        rules::CHECK,
        isolation::CHECK,
        replay::CHECK,
        permission::CHECK,
        requests::CHECK,
        bounds::CHECK,
        remains::CHECK,
        effort::CHECK,
        detection::CHECK,
        screen::CHECK,
        restored::CHECK,
        setters::CHECK,
        servers::CHECK,
        commands::CHECK,
        compaction::CHECK,
        mcp::CHECK,
        secrets::CHECK,
        environment::CHECK,
    ]
}
