//! The answer to a prompt while it is under way, and what comes to a task: news of an event, and what was fetched.

use super::event::Failure;
use super::history::Reverted;
use super::timeline::Timeline;
use crate::protocol::{Diff, Permission, Question, TaskState, TodoItem, Update};
use std::collections::BTreeSet;

/// A prompt that is being answered.
#[derive(Debug)]
pub(super) struct Turn {
    /// The newest message of the assistant when the prompt was sent.
    pub(super) before: Option<String>,
    /// The person's messages then, and how many were sent since.
    pub(super) prompts: BTreeSet<String>,
    pub(super) sent: usize,
    /// The server has begun. An idle before that belongs to the prompt before.
    pub(super) begun: bool,
    /// An error that the session told of; whether it is this turn's is not known before the turn is over.
    pub(super) failure: Option<Failure>,
    /// How often the server was asked about it in vain.
    pub(super) asked_about: u32,
    /// When the prompt was sent, until the first words of its answer are shown.
    pub(super) waits_since_ms: Option<u64>,
}

/// What was fetched of a task.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) timeline: Timeline,
    pub(super) status: Option<TaskState>,
    pub(super) permissions: Vec<Permission>,
    pub(super) questions: Vec<Question>,
    pub(super) todos: Vec<TodoItem>,
    /// What the agent has changed, where that was asked.
    pub(super) diff: Option<Diff>,
    pub(super) reverted: Option<Reverted>,
}

/// What an event makes of a task.
#[derive(Debug, Default, PartialEq)]
pub(super) struct News {
    pub(super) updates: Vec<Update>,
    /// Only the server can say what it means.
    pub(super) doubt: bool,
}

impl News {
    pub(super) fn of(updates: impl IntoIterator<Item = Update>) -> Self {
        Self { updates: updates.into_iter().collect(), doubt: false }
    }
}
