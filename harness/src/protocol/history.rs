//! What the person does with what was said before: edits, goes back, takes that back, goes on elsewhere; and what is asked
//! beside a task.

use serde::{Deserialize, Serialize};

/// Parameters of `task/edit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskEdit {
    /// Which task.
    pub task_id: String,
    /// The server's name of the person's message.
    pub message_id: String,
    /// What it says now.
    pub text: String,
}

/// Parameters of `task/revert`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRevert {
    /// Which task.
    pub task_id: String,
    /// The server's name of the message that is not there any more, nor what follows it.
    pub message_id: String,
}

/// Parameters of `task/fork`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskFork {
    /// Which task.
    pub task_id: String,
    /// The server's name of the message that is not copied any more.
    pub message_id: String,
    /// The harness's name of the new task.
    pub new_task_id: String,
}

/// Result of `task/aside`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Aside {
    /// What the agent has answered.
    pub text: String,
}
