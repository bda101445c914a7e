//! Whose a task is: the flag, new sessions, and tasks that are over for good.

/// Decides whose tasks are.
pub trait Cutover: Send {
    /// Does the flag decide about new tasks?
    fn minds_flag(&self) -> bool {
        true
    }

    /// Are tasks that are at work stopped when the flag is turned off?
    fn stops_running(&self) -> bool {
        false
    }

    /// Has each task a session of its own? If not, it goes on in the newest one that is known.
    fn has_own_session(&self) -> bool {
        true
    }

    /// Are the talks of the old backend brought into the server when it is there?
    fn brings_old_talks(&self) -> bool {
        false
    }

    /// Is another session asked for when one could not be had?
    fn asks_again(&self) -> bool {
        false
    }

    /// Is a task refused while the server takes none, whatever the flag says?
    fn looks_at_server_first(&self) -> bool {
        false
    }

    /// What is prompted first in a new session, when the old backend's tasks were told `old` before.
    fn first_words(&self, text: String, _old: &[String]) -> String {
        text
    }

    /// Is a task that is over for good still shown?
    fn shows_closed(&self) -> bool {
        false
    }

    /// Is the stream closed with a task that is over for good?
    fn closes_stream(&self) -> bool {
        false
    }
}
