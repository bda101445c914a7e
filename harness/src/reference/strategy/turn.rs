//! When a turn is over, whether a prompt was taken, and what an abort is.

/// What is known of a turn when an idle comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The server has begun with it.
    pub begun: bool,
    /// Its last message is complete.
    pub answered: bool,
}

/// What an idle means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnIdle {
    /// The turn is over.
    Over,
    /// Perhaps: ask the server.
    Ask,
    /// It belongs to an older turn.
    Ignore,
}

/// The answer to a prompt is missing or says that something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailedSend {
    /// See whether the server has it.
    Look,
    /// Tell the person that it failed.
    Fail,
    /// Send it again.
    Again,
    /// Believe that it arrived.
    Believe,
}

/// Decides about turns.
pub trait Turns: Send {
    /// An idle has come. A late one of an older turn must not end this one.
    fn on_idle(&self, turn: Turn) -> OnIdle {
        match turn {
            Turn { begun: true, answered: true } => OnIdle::Over,
            Turn { begun: true, .. } => OnIdle::Ask,
            Turn { .. } => OnIdle::Ignore,
        }
    }

    /// Does an error of the session end the turn at once, without asking the server?
    fn error_ends(&self) -> bool {
        false
    }

    /// Of a turn that is open and quiet for so long, unscaled, the server is asked; `None` is never.
    fn quiet_limit_ms(&self) -> Option<u64> {
        Some(15_000)
    }

    /// Is the person told that the agent is at work?
    fn tells_of_work(&self) -> bool {
        true
    }

    /// So many times it is asked about a prompt that it never began with.
    fn patience(&self) -> u32 {
        2
    }

    /// Is a session that the server's list of states does not name idle?
    fn absent_is_idle(&self) -> bool {
        true
    }

    /// A prompt's answer has `status`, or there is none: the server may have it all the same.
    fn on_failed_send(&self, status: Option<u16>) -> OnFailedSend {
        match status {
            Some(400..=499) => OnFailedSend::Fail,
            _ => OnFailedSend::Look,
        }
    }

    /// The person wants to stop this one of the tasks: which one is stopped?
    fn stopped<'a>(&self, wanted: &'a str, _tasks: &[&'a str]) -> &'a str {
        wanted
    }

    /// Is the server asked to stop when the person wants to stop?
    fn sends_abort(&self) -> bool {
        true
    }

    /// Is the person told when the server refuses to stop?
    fn tells_refused_stops(&self) -> bool {
        true
    }

    /// Is a turn over as soon as its abort was asked for, whatever the server says?
    fn abort_ends_at_once(&self) -> bool {
        false
    }
}
