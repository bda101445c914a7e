//! Faults: what a plan breaks. Small state machines; nothing here reads a clock, waits, or knows a socket.
//!
//! A plan is armed once for all lanes ([`plan`]). What it does to streams stands in [`frames`], one behaviour a file; what
//! it does to answers in [`answers`]; what it does to the server is a [`Moment`], which `http/core` performs. Their words
//! are in `fixtures::fault_plan`. To add one: a line of `actions!` there and its type, a file here, an arm where it has
//! its place.

pub mod answers;
pub mod frames;
pub mod plan;

pub use answers::AnswerFaults;
pub use frames::{Beat, StreamFaults};
pub use plan::{ArmedPlan, Arrival, Standing};

use fixtures::fault_plan::During;
use fixtures::fault_plan::action::{CutEnd, Refuse, Reply, Restart, StateWord};

/// What a fault is told of the server when it is asked whether it acts.
pub struct Facts<'a> {
    /// Milliseconds since the stand-in began.
    pub now_ms: u64,
    /// Does this go on?
    pub holds: &'a dyn Fn(During) -> bool,
}

/// A fault has acted: its number in the plan, from 1, and what it did, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// The number.
    pub fault: usize,
    /// The words.
    pub did: String,
}

/// Something that a fault does at the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// No new connections are taken for a while, on this lane or on all.
    Refuse(Option<String>, Refuse),
    /// Another password is wanted.
    Password(String),
    /// The server ends and starts again.
    Restart(Restart),
    /// Another client answers what is asked for: this permission, or those that wait.
    Reply(Reply, Option<String>),
}

impl Moment {
    /// Does what the server was about to do die with it?
    #[must_use]
    pub fn ends_the_server(&self) -> bool {
        matches!(self, Self::Restart(restart) if restart.state != StateWord::Kept)
    }
}

/// How a stream ends.
pub type Ending = CutEnd;
