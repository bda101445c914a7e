//! What runs or waits alongside the turns: terminals that people open, programs that agents leave running, what agents suggest,
//! and the times at which they want to be woken. Each is a file here; clients ask for it by routes of its own.

mod process_calls;
mod process_ends;
mod processes;
mod readiness;
mod suggestions;
mod terminal_door;
mod terminals;
mod wakeups;

use super::boards::Given;
use super::{
    ApiRequest, Effect, EffectId, OnScreen, Output, Purpose, ReplyBody, ShellEnd, ShellLine, ShellNews, World,
};
pub(super) use process_calls::BACKGROUND;
pub(crate) use process_calls::ProcessPlan;
pub(super) use processes::{Launch, Processes, Step};
use std::collections::BTreeMap;
pub(super) use suggestions::{OpenSuggestion, SUGGEST};
pub(super) use terminals::{TerminalWish, Terminals, quoted};
pub(super) use wakeups::{CANCEL, SCHEDULE, Wakeup};

/// Nobody waits longer than a month.
pub(super) const PATIENCE_MS: u64 = 30 * 24 * 3_600_000;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Alongside {
    pub(super) terminals: Terminals,
    /// What agents suggest, and nobody has answered.
    pub(super) suggestions: Vec<OpenSuggestion>,
    pub(super) processes: Processes,
    pub(super) wakeups: Vec<Wakeup>,
    /// The work that agents were given by others, by their sessions.
    pub(super) given: BTreeMap<String, Given>,
}

/// What is due at a time.
#[derive(Debug)]
pub(super) enum Due {
    /// Something of a program.
    Process(String, Step),
    /// A session is woken.
    Wakeup(String),
}

impl World {
    /// It is that late.
    pub(super) fn alongside_due(&mut self, due: &Due) {
        match due {
            Due::Process(id, step) => self.process_due(id, *step),
            Due::Wakeup(id) => self.wake(id),
        }
    }
}
