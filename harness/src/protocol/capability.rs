//! What an adapter can do, in the words of the wire. A declared capability makes its cases mandatory.

use serde::{Deserialize, Serialize};

/// A part of the protocol that an adapter may offer. An enum, so that a misspelt one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// `task/start`, `task/send` and what is shown of a turn.
    Chat,
    /// Reasoning is shown.
    Reasoning,
    /// Tool calls are shown.
    Tools,
    /// Permission requests are shown and can be answered.
    Permissions,
    /// Questions are shown, and can be answered and dismissed.
    Questions,
    /// Permissions and questions of the sessions that a task's agent has created are shown in that task.
    Children,
    /// `task/abort`.
    Abort,
    /// A lost stream is opened again.
    Reconnect,
    /// An error may offer Retry: `task/retry`.
    Retry,
    /// The agent's list of things to do is shown.
    Todos,
    /// `task/start` may name a folder of its own.
    Directories,
    /// `settings` without tools.
    ToolsOff,
    /// `telemetry` carries the `kilo.cli.*` signals.
    Telemetry,
    /// `log` carries what belongs together: task, session, folder and port.
    Logs,
    /// An event of an unknown type in the middle of tools or permissions ends in an error for the task.
    FailClosed,
    /// `task/snapshot`.
    Snapshot,
    /// `settings` with a rule that answers requests for leave, and `permission/hold`.
    AutoApprove,
    /// `ui/affordances`.
    Affordances,
    /// `locale/map`.
    Locales,
    /// Waits obey `timeScale`.
    ScaledTime,
    /// `path/check`, and by the same guard a yes to a write that leads out of the workspace is not sent.
    PathCheck,
    /// `server/spawn`, `workspace/close`, and what is shown of the server's life.
    Spawn,
    /// `credentials/check`, and a `warning` about keys that others can read.
    Credentials,
    /// The rows of commands say how they ended, and what is not known of them.
    CommandRows,
    /// `permission/all`.
    AnswerAll,
    /// `settings` with a countdown that answers questions, and `question/hold`.
    FollowUps,
    /// `task/close`.
    Close,
    /// `settings` with the backend of new tasks.
    Cutover,
    /// A part of an unknown kind has a row of its own.
    UnknownParts,
    /// `task/edit`.
    Editing,
    /// `task/revert`, `task/unrevert` and `task/fork`.
    Checkpoints,
    /// `task/aside`.
    Asides,
    /// `platform/features`.
    Platform,
    /// `mcp/list`, `mcp/add` and `mcp/connect`.
    ToolServers,
    /// `task/send` may carry attachments, and they are shown.
    Images,
    /// The files that the agent has changed are shown.
    Diffs,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 36] = [
        Self::Chat,
        Self::Reasoning,
        Self::Tools,
        Self::Permissions,
        Self::Questions,
        Self::Children,
        Self::Abort,
        Self::Reconnect,
        Self::Retry,
        Self::Todos,
        Self::Directories,
        Self::ToolsOff,
        Self::Telemetry,
        Self::Logs,
        Self::FailClosed,
        Self::Snapshot,
        Self::AutoApprove,
        Self::Affordances,
        Self::Locales,
        Self::ScaledTime,
        Self::PathCheck,
        Self::Spawn,
        Self::Credentials,
        Self::CommandRows,
        Self::AnswerAll,
        Self::FollowUps,
        Self::Close,
        Self::Cutover,
        Self::UnknownParts,
        Self::Editing,
        Self::Checkpoints,
        Self::Asides,
        Self::Platform,
        Self::ToolServers,
        Self::Images,
        Self::Diffs,
    ];

    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> String {
        serde_json::to_value(self).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The capability of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|capability| capability.word() == word)
    }
}
