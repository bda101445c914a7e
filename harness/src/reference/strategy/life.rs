//! A server that the adapter starts: when it is ready, what is said when it is not, and what follows when it ends.

use crate::protocol::ServerReason;
use serde_json::Value;

/// What a server says of its health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It is well.
    Well,
    /// It is not.
    Unwell,
    /// Whatever this is, it is not what this server says.
    Strange,
}

/// So much of a server's last words is told, in letters.
const LAST_WORDS: usize = 300;

/// Decides about the server's life.
pub trait Living: Send {
    /// The words with which the server is started.
    fn words(&self, words: Vec<String>) -> Vec<String> {
        words
    }

    /// What is told of a server's last words: the end of them, in one line, without what may be a secret.
    fn quotes(&self, said: &str, password: &str) -> String {
        let said = match password {
            "" => fixtures::redact::clean(said),
            password => fixtures::redact::clean(&said.replace(password, "…")),
        };
        let skipped = said.chars().count().saturating_sub(LAST_WORDS);
        said.chars().skip(skipped).map(|c| if c.is_control() { ' ' } else { c }).collect()
    }

    /// Has each task a server of its own?
    fn one_for_each_task(&self) -> bool {
        false
    }

    /// How long a start may take; `None` is for ever. The scale makes no program start faster.
    fn start_limit_ms(&self, time_scale: f64) -> Option<u64> {
        Some(((30_000.0 * time_scale) as u64).max(4000))
    }

    /// So much of that is left for the answers of one that listens, at most.
    fn answers_limit_ms(&self, time_scale: f64) -> u64 {
        ((30_000.0 * time_scale) as u64).max(2500)
    }

    /// What a start is told to have failed for whose time is over.
    fn late_for(&self, reason: ServerReason) -> ServerReason {
        reason
    }

    /// Is it noticed that a server has ended before it was ready?
    fn hears_end(&self) -> bool {
        true
    }

    /// What the person is told for a reason.
    fn told_for(&self, reason: ServerReason) -> ServerReason {
        reason
    }

    /// Is the server asked how it is, before it is used?
    fn asks_health(&self) -> bool {
        true
    }

    /// What an answer about the server's health says.
    fn health(&self, body: &str) -> Health {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        match (body["healthy"].as_bool(), body["version"].as_str()) {
            (Some(true), Some(version)) if !version.is_empty() => Health::Well,
            (Some(false), _) => Health::Unwell,
            _ => Health::Strange,
        }
    }

    /// Is the server asked how it is also when the one before has failed?
    fn asks_again(&self) -> bool {
        true
    }

    /// A start has failed for this reason. Does the person get another one, who wants it?
    fn starts_after(&self, reason: ServerReason) -> bool {
        let _ = reason;
        true
    }

    /// Is a server that is not well let go?
    fn lets_go_of_unwell(&self) -> bool {
        true
    }

    /// Is a server that has ended by itself started again?
    fn starts_again(&self) -> bool {
        true
    }

    /// So many ends by itself are borne within [`Living::crash_window_ms`].
    fn most_crashes(&self) -> usize {
        3
    }

    /// Unscaled.
    fn crash_window_ms(&self) -> u64 {
        600_000
    }

    /// Is every task told that the server has ended?
    fn tells_tasks(&self) -> bool {
        true
    }

    /// Which of these tasks are told so?
    fn told(&self, tasks: Vec<String>) -> Vec<String> {
        tasks
    }

    /// Is a prompt taken in a task that was there before the server ended?
    fn keeps_tasks(&self) -> bool {
        true
    }

    /// Is a task begun, though the server ends too often?
    fn begins_tasks_in_a_loop(&self) -> bool {
        false
    }

    /// Has each start a password of its own?
    fn changes_password(&self) -> bool {
        true
    }

    /// Does what the server has started end with it?
    fn ends_whole_group(&self) -> bool {
        true
    }

    /// Is the server ended when the workspace is closed, or the client?
    fn ends_server(&self) -> bool {
        true
    }
}
