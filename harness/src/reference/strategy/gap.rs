//! Decision 7: any gap is a boundary; nothing is patched up.

/// Events may have been missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The stream had ended, and a new one is live.
    Reconnected,
    /// An event could not be read, or can't be true.
    UnreadableEvent,
    /// A turn is open and nothing was heard of it for long, or its end is in doubt.
    Quiet,
    /// The person wants it.
    Retry,
}

/// What to do about a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnGap {
    /// Fetch everything and show it anew (decision 7).
    Refresh,
    /// Go on as if nothing had been missed.
    Resume,
}

/// Decides what to do after a gap.
pub trait GapPolicy: Send {
    /// Called once for each gap, if there are tasks.
    fn on_gap(&self, _gap: Gap) -> OnGap {
        OnGap::Refresh
    }

    /// Which of these tasks are fetched.
    fn fetched(&self, tasks: Vec<String>) -> Vec<String> {
        tasks
    }

    /// Something of a task could not be fetched, or, with `None`, something of all of them: whom does that concern?
    fn concerned(&self, task: Option<String>) -> Option<String> {
        task
    }

    /// How the messages of a task are asked for.
    fn asks_for(&self, messages: String) -> String {
        messages
    }

    /// Is it no matter that this could not be fetched?
    fn bears(&self, what: &str) -> bool {
        let _ = what;
        false
    }

    /// Do events wait until all is here?
    fn holds_events(&self) -> bool {
        true
    }

    /// How long is an answer waited for that may come late, or never?
    fn waits_ms(&self, limit_ms: u64) -> u64 {
        limit_ms
    }

    /// Is what was fetched shown even if a part of it is missing?
    fn shows_a_part(&self) -> bool {
        false
    }

    /// How often a refresh that failed is told.
    fn errors(&self) -> usize {
        1
    }

    /// Does Retry fetch anew?
    fn retries(&self) -> bool {
        true
    }

    /// Does Retry open a stream that the client has given up?
    fn retry_opens(&self) -> bool {
        true
    }

    /// Is what could not be fetched, for this reason, fetched again unasked?
    fn fetches_again(&self, why: &str) -> bool {
        let _ = why;
        false
    }

    /// Does a task that could not be fetched follow its events all the same?
    fn follows_stale(&self) -> bool {
        false
    }
}
