//! What runs or waits alongside the turns: terminals that people open, programs that agents leave running, what agents suggest,
//! and the times at which they want to be woken. Each is a file here; clients ask for it by routes of its own.

mod suggestions;
mod terminal_door;
mod terminals;

use super::{
    ApiRequest, Effect, EffectId, OnScreen, Output, Purpose, ReplyBody, ShellEnd, ShellLine, ShellNews, World,
};
pub(super) use suggestions::{OpenSuggestion, SUGGEST};
pub(super) use terminals::{TerminalWish, Terminals};

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Alongside {
    pub(super) terminals: Terminals,
    /// What agents suggest, and nobody has answered.
    pub(super) suggestions: Vec<OpenSuggestion>,
}
