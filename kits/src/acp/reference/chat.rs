//! A chat of the person's with an agent: one session, one turn at a time, each with one end.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A chat.
pub(super) struct Chat {
    pub(super) id: String,
    pub(super) cwd: PathBuf,
    state: Mutex<State>,
    /// Grows whenever the agent says something in it.
    pub(super) news: watch::Sender<u64>,
}

/// How it stands.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The agent's name for it.
    pub(super) session: String,
    /// What was said before is being told again: none of that is new.
    pub(super) replays: bool,
    /// The agent is at work.
    pub(super) turn: Option<Turn>,
    /// Questions for permission that nobody has answered: their ids.
    pub(super) asked: Vec<Value>,
    /// The calls that it was told of.
    pub(super) calls: BTreeSet<String>,
    /// The person wanted to stop, and there was nothing to stop.
    pub(super) is_stop_left: bool,
    /// A summary is being made.
    pub(super) is_summing_up: bool,
    /// What the session takes.
    pub(super) has_models: bool,
    pub(super) has_commands: bool,
    pub(super) options: Vec<String>,
}

/// A turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The agent has said that it is over, and has not answered yet.
    pub(super) is_said_over: bool,
    /// The person wants it to stop.
    pub(super) is_cancelled: bool,
    /// The agent does not stop, and nobody waits any more.
    pub(super) is_given_up: bool,
}

impl Chat {
    pub(super) fn new(id: &str, cwd: PathBuf) -> Self {
        Self { id: id.to_owned(), cwd, state: Mutex::default(), news: watch::Sender::new(0) }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> String {
        self.state().session.clone()
    }

    /// A question waits no more; did it until now?
    pub(super) fn is_still_asked(&self, id: &Value) -> bool {
        let mut state = self.state();
        let before = state.asked.len();
        state.asked.retain(|asked| asked != id);
        state.asked.len() < before
    }

    /// Something has happened in it.
    pub(super) fn stir(&self) {
        self.news.send_modify(|count| *count += 1);
    }
}
