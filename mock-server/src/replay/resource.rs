//! What a read asks for, where the events of a server tell it.

use crate::world::resolved;

/// A thing to read that follows from events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resource {
    /// The sessions, the one that changed last first.
    Sessions {
        /// Without the sub-agents'.
        roots: bool,
        /// So many at most.
        limit: Option<usize>,
    },
    /// What the sessions that are not idle do.
    Status,
    /// The open questions for permission.
    Permissions,
    /// The agent's open questions.
    Questions,
    /// A session.
    Session(String),
    /// The sessions of its sub-agents.
    Children(String),
    /// The messages of a session, the oldest first.
    Messages {
        /// The session.
        session: String,
        /// Only the last so many.
        limit: Option<usize>,
    },
    /// One message.
    Message {
        /// Its session.
        session: String,
        /// Its id.
        message: String,
    },
    /// What a session changed.
    Diff(String),
    /// What an agent means to do.
    Todo(String),
}

/// What the query says of a folder and of credentials changes no read: most recordings have one folder.
const IDLE_KEYS: [&str; 2] = ["directory", "auth_token"];
/// A server has no other workspaces than folders; who names one is refused.
const WORKSPACE: &str = "workspace";

/// The part of a query that can change an answer; with the folder, if it is another one that the recording knows.
pub(super) fn telling(query: &[(String, String)], folder: Option<String>) -> Vec<(String, String)> {
    let is_idle = |key: &str, value: &str| IDLE_KEYS.contains(&key) || key == WORKSPACE && value.is_empty();
    let kept = query.iter().filter(|(key, value)| !is_idle(key, value)).cloned();
    kept.chain(folder.map(|folder| ("directory".to_owned(), folder))).collect()
}

/// The folder that a request is about, if it is not the agent's.
pub(super) fn other_folder(
    query: &[(String, String)],
    header: Option<&str>,
    workspace: &str,
) -> Option<String> {
    let query = query.iter().find(|(key, _)| key == "directory").map(|(_, value)| value.as_str());
    let named = query.or(header).filter(|folder| !folder.is_empty())?;
    Some(resolved(workspace, named)).filter(|folder| folder != workspace)
}

impl Resource {
    /// What a path and the telling part of its query ask for; `None` when events do not tell it.
    pub(super) fn of(path: &str, query: &[(String, String)]) -> Option<Self> {
        if query.iter().any(|(key, _)| key == WORKSPACE) {
            return None;
        }
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let mut limit = None;
        let mut roots = false;
        for (key, value) in query {
            match key.as_str() {
                "limit" => match value.parse() {
                    Ok(number) => limit = Some(number),
                    // Sessions are all listed for a limit that is no number; messages are refused.
                    Err(_) if segments == ["session"] => {}
                    Err(_) => return None,
                },
                "roots" if value == "true" => roots = true,
                "roots" if value == "false" => {}
                _ => return None,
            }
        }
        let is_list = matches!(segments.as_slice(), ["session"] | ["session", _, "message"]);
        if (limit.is_some() && !is_list) || (roots && segments != ["session"]) {
            return None;
        }
        let owned = |id: &str| id.to_owned();
        Some(match segments.as_slice() {
            ["session"] => Self::Sessions { roots, limit },
            ["session", "status"] => Self::Status,
            ["permission"] => Self::Permissions,
            ["question"] => Self::Questions,
            ["session", id, ..] if !id.starts_with("ses_") => return None,
            ["session", id] => Self::Session(owned(id)),
            ["session", id, "children"] => Self::Children(owned(id)),
            ["session", id, "message"] => Self::Messages { session: owned(id), limit },
            ["session", id, "message", message] => {
                Self::Message { session: owned(id), message: owned(message) }
            }
            ["session", id, "diff"] => Self::Diff(owned(id)),
            ["session", id, "todo"] => Self::Todo(owned(id)),
            _ => return None,
        })
    }

    /// The session without which there is nothing to read. The diff of an unknown session is empty.
    pub(super) fn needs_session(&self) -> Option<&str> {
        match self {
            Self::Diff(_) => None,
            _ => self.session(),
        }
    }

    /// The session that it belongs to.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::Sessions { .. } | Self::Status | Self::Permissions | Self::Questions => None,
            Self::Session(id) | Self::Children(id) | Self::Diff(id) | Self::Todo(id) => Some(id),
            Self::Messages { session, .. } | Self::Message { session, .. } => Some(session),
        }
    }
}
