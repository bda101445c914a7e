//! Permissions and questions: who is asked, how often, and what becomes of the answers.

use crate::protocol::{Permission, Question, Reply};

/// Decides what becomes of questions, and of the answers to them.
pub trait Asking: Send {
    /// What the person is asked after a refresh: the server `listed` some, the screen showed those `before` it.
    fn after_refresh(&self, listed: Vec<Permission>, _before: &[Permission]) -> Vec<Permission> {
        listed
    }

    /// The server has taken an answer, and its event about that was lost: is the answer sent again after a reconnect?
    fn answers_again(&self) -> bool {
        false
    }

    /// Nobody has said whether the server has taken an answer: is it sent once more?
    fn answers_until_told(&self) -> bool {
        false
    }

    /// Does a session that the agent of a task has created ask in that task?
    fn asks_for_children(&self) -> bool {
        true
    }

    /// Does it ask there, too, when the task is loaded anew?
    fn loads_children(&self) -> bool {
        true
    }

    /// The server lists what all sessions ask: is all of it asked in each task?
    fn asks_for_all(&self) -> bool {
        false
    }

    /// Is the person asked for leave of this kind? There may be kinds that nobody here has words for.
    fn asks_for_kind(&self, _kind: &str) -> bool {
        true
    }

    /// What the person is told of a request for leave.
    fn told(&self, asked: Permission) -> Permission {
        asked
    }

    /// What the person is told of a question.
    fn question_told(&self, asked: Question) -> Question {
        asked
    }

    /// Is a question asked that was asked already?
    fn asks_twice(&self) -> bool {
        false
    }

    /// Does a question go when somebody else has answered it?
    fn hears_others(&self) -> bool {
        true
    }

    /// Does a question go when its answer is on its way, before the server has it?
    fn goes_early(&self) -> bool {
        false
    }

    /// And does one of the agent's own?
    fn question_goes_early(&self) -> bool {
        false
    }

    /// Does a question go when the server has taken its answer, before the event about that?
    fn trusts_answer(&self) -> bool {
        true
    }

    /// Does a question go when the server says that there is none?
    fn drops_stale(&self) -> bool {
        true
    }

    /// The folder in which leave is given: the task's `own`, or the one of `connect`.
    fn directory<'a>(&self, own: &'a str, _main: &'a str) -> &'a str {
        own
    }

    /// The folder in which a question of the agent's is answered: the task's `own`, or the one of `connect`.
    fn question_directory<'a>(&self, own: &'a str, _main: &'a str) -> &'a str {
        own
    }

    /// The folder in which it is read what is asked, when a task of the folder `own` is loaded anew.
    fn loads_in<'a>(&self, own: &'a str, _main: &'a str) -> &'a str {
        own
    }

    /// Is the person asked, though the agent has no tools?
    fn asks_without_tools(&self) -> bool {
        false
    }

    /// Is the server told, too, that the agent has no tools?
    fn turns_tools_off(&self) -> bool {
        true
    }

    /// Is what the person says beside a no sent with it?
    fn sends_words(&self) -> bool {
        true
    }

    /// What is sent when the person says this.
    fn sent_for(&self, said: Reply) -> Reply {
        said
    }
}
