//! What was said before: edits, going back, and what is asked beside a task; and whose the servers of tools are.

/// Decides what is asked of the server for them.
pub trait History: Send {
    /// Is an agent that is at work stopped before its task goes back?
    fn stops_first(&self) -> bool {
        true
    }

    /// Does a task go back before an edited message is prompted?
    fn goes_back_first(&self) -> bool {
        true
    }

    /// Is an edited message prompted though the task could not go back?
    fn prompts_all_the_same(&self) -> bool {
        false
    }

    /// Is going back taken back when the edited message is not accepted?
    fn takes_back(&self) -> bool {
        true
    }

    /// The message to which a task goes back, of the one that is meant and the newest one of the agent.
    fn goes_back_to(&self, meant: String, _newest: Option<&str>) -> String {
        meant
    }

    /// The folder in which a task goes back, is copied, and is edited: its `own`, or the one of `connect`.
    fn directory<'a>(&self, own: &'a str, _main: &'a str) -> &'a str {
        own
    }

    /// The folder in which something is asked beside a task.
    fn aside_directory<'a>(&self, own: &'a str, _main: &'a str) -> &'a str {
        own
    }

    /// Is what was gone back from taken from the screen?
    fn hides_reverted(&self) -> bool {
        true
    }

    /// And when the task is loaded anew? The list of messages has it still.
    fn loads_reverted(&self) -> bool {
        true
    }

    /// Is a copy made up to the message that is meant, and not of all?
    fn forks_at_message(&self) -> bool {
        true
    }

    /// Has what is asked aside a session of its own?
    fn has_own_aside(&self) -> bool {
        true
    }

    /// Has the agent no tools in it?
    fn disarms_aside(&self) -> bool {
        true
    }

    /// Is that session deleted in the end, when somebody has answered in it, and when nobody has?
    fn deletes_aside(&self, _was_answered: bool) -> bool {
        true
    }

    /// Is the server asked which servers of tools there are, and told of new ones?
    fn asks_server_for_tools(&self) -> bool {
        true
    }

    /// Does the person learn that the server has not taken a server of tools?
    fn tells_untaken_tools(&self) -> bool {
        true
    }

    /// What the person is told of a server of tools of which the server says this.
    fn tool_server_state(&self, said: String) -> String {
        said
    }
}
