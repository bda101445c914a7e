//! Checks: pure functions from a history to findings. One file a check, and a line in [`all`].
//!
//! A check says how many facts it examined. None at all is no pass: the check could not see what it is for, or there
//! was no occasion for it.

mod convergence;
mod prefix;
mod questions;

use fixtures::recording::Line;

/// A check.
#[derive(Clone, Copy)]
pub struct Check {
    /// Its name in requirements and reports.
    pub name: &'static str,
    /// What it asks, in a sentence.
    pub about: &'static str,
    /// Has the server done in this history what the check is about?
    pub has_occasion: fn(&[Line]) -> bool,
    /// Examines a history.
    pub examine: fn(&[Line]) -> Examined,
}

/// What a check saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examined {
    /// How many facts it held against each other.
    pub facts: usize,
    /// What does not hold, in words.
    pub findings: Vec<String>,
}

/// All checks.
#[must_use]
pub fn all() -> Vec<Check> {
    vec![convergence::CHECK, prefix::CHECK, questions::CHECK]
}
