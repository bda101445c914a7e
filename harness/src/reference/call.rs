//! What the core waits for: a request of the harness, or an errand of its own, whose answer the server owes.

use super::aside::Aside;
use super::history::Edit;
use crate::protocol::{Id, Permission};
use serde_json::Value;
use std::collections::BTreeSet;

/// An answer on its way: folder, path and body.
pub(super) type Sent = (String, String, Value);

/// A request of the harness that waits for the server.
#[derive(Debug)]
pub(super) enum Call {
    /// `task/start`, whose stream is not live yet; nothing was sent.
    Waiting { id: Id, task_id: String, directory: String },
    /// `task/start`
    Start { id: Id, task_id: String, directory: String },
    /// `task/send`; what the person had said before.
    Send { id: Id, task_id: String, prompts: BTreeSet<String>, body: Value },
    /// `task/send`, whose answer did not come: it will be looked whether the prompt arrived.
    Lost { id: Id, task_id: String, prompts: BTreeSet<String>, why: String },
    /// `task/send`, of which it is being looked.
    Look { id: Id, task_id: String, prompts: BTreeSet<String>, why: String },
    /// `task/abort`
    Abort { id: Id },
    /// One answer of `permission/all`.
    OneOfAll { batch: u64, task_id: String, permission_id: String, write: Option<bool> },
    /// What a countdown has answered.
    FollowUp { task_id: String, question_id: String },
    /// `task/edit`, step by step.
    Edit(Edit),
    /// `task/revert`, `task/unrevert`, `mcp/connect`: what the server says is the answer.
    Plain { id: Id, what: &'static str },
    /// `task/fork`
    Fork { id: Id, task_id: String, directory: String },
    /// `task/aside`, step by step.
    Aside(Aside),
    /// `mcp/list`, `mcp/add`
    Tools { id: Id },
    /// `permission/reply`
    Permission { id: Id, task_id: String, permission_id: String, write: Option<bool> },
    /// The server is asked how it is.
    Health { start: u64 },
    /// `permission/reply`, whose yes the guard has made a no.
    Refused { id: Id, task_id: String, permission_id: String },
    /// A rule's answer to a request for leave.
    Approve { task_id: String, permission: Permission },
    /// `question/reply`, `question/reject`; what was sent, only a mutant sends again.
    Question { id: Id, task_id: String, question_id: String, sent: Box<Sent> },
}
