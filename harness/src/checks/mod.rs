//! Checks: pure functions from a history to findings. One file a check, and a line in [`all`].
//!
//! A check says how many facts it examined. None at all is no pass: the check could not see what it is for, or there
//! was no occasion for it.

mod abort;
mod affordances;
mod answer_all;
mod approvals;
mod as_asked;
mod asides;
mod attachments;
mod cadence;
mod changes;
mod checkpoints;
mod closed;
mod commands;
mod containment;
mod convergence;
mod crash;
mod credentials;
mod cutover;
mod edits;
mod effort;
mod errands;
mod escape;
mod fail_closed;
mod follow_ups;
mod given;
mod input;
mod isolation;
pub(crate) mod locales;
mod logs;
mod one_server;
mod outcome;
mod own_view;
mod parts;
mod platform;
mod prefix;
mod questions;
mod refresh;
mod remains;
mod rests;
mod retry;
mod sends;
mod signals;
mod single_client;
mod special_content;
mod startup;
mod termination;
mod tool_servers;
mod tools_off;
mod unknown;

#[cfg(test)]
mod tests;

use crate::course::Course;
use crate::protocol::Capability;
use serde::Serialize;
/// The signals of real use that there are.
pub(crate) use signals::NAMES as SIGNALS;

/// A check.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its name in requirements and reports.
    pub name: &'static str,
    /// What it asks, in a sentence.
    pub about: &'static str,
    /// What an adapter must be able to do, so that it can be asked for.
    pub needs: &'static [Capability],
    /// Has the server done in this history what the check is about?
    pub has_occasion: fn(&Course<'_>) -> bool,
    /// Examines a history.
    pub examine: fn(&Course<'_>) -> Examined,
}

/// What a check saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examined {
    /// How many facts it held against each other.
    pub facts: usize,
    /// What does not hold, in words.
    pub findings: Vec<String>,
    /// What may not hold: it took long, on a machine that may be slow.
    pub doubts: Vec<String>,
    /// What holds by a decision alone that a later phase takes back.
    pub degraded: Vec<String>,
}

impl Examined {
    /// One more fact; it holds, or `finding` says how it does not.
    pub fn fact(&mut self, holds: bool, finding: impl FnOnce() -> String) {
        self.facts += 1;
        if !holds {
            self.findings.push(finding());
        }
    }
}

/// All checks.
#[must_use]
pub fn all() -> Vec<Check> {
    vec![
        convergence::CHECK,
        platform::CHECK,
        prefix::CHECK,
        parts::CHECK,
        isolation::CHECK,
        questions::CHECK,
        refresh::CHECK,
        retry::CHECK,
        termination::CHECK,
        sends::CHECK,
        abort::CHECK,
        effort::CHECK,
        unknown::CHECK,
        fail_closed::CHECK,
        signals::CHECK,
        cadence::CHECK,
        logs::CHECK,
        approvals::CHECK,
        affordances::CHECK,
        locales::CHECK,
        containment::CHECK,
        escape::CHECK,
        startup::CHECK,
        crash::CHECK,
        remains::CHECK,
        one_server::CHECK,
        single_client::CHECK,
        credentials::CHECK,
        commands::CHECK,
        special_content::CHECK,
        input::CHECK,
        answer_all::CHECK,
        follow_ups::CHECK,
        closed::CHECK,
        cutover::FLAG,
        cutover::FRESH,
        edits::CHECK,
        checkpoints::CHECK,
        asides::CHECK,
        tool_servers::CHECK,
        tools_off::CHECK,
        attachments::CHECK,
        changes::CHECK,
    ]
}

/// The check of this name.
#[must_use]
pub fn find(name: &str) -> Option<Check> {
    all().into_iter().find(|check| check.name == name)
}

/// In the word of the protocol.
fn word(said: impl Serialize) -> String {
    serde_json::to_value(said).ok().and_then(|word| Some(word.as_str()?.to_owned())).unwrap_or_default()
}
