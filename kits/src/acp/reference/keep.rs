//! A conversation in a file: the session's id today, and what was said in older files.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// What a file has of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kept {
    /// The agent knows it by this id.
    Session { session: String, cwd: PathBuf },
    /// Nobody but the file knows what was said.
    History { cwd: PathBuf, count: usize },
}

/// Writes it so that there is always a whole file.
pub(super) fn save(file: &Path, session: &str, cwd: &Path) -> Result<(), String> {
    let kept = json!({
        "current_agent": "default", "timestamp": 0.0, "session_id": session, "working_directory": cwd,
    });
    let beside = file.with_extension("partial");
    let saved = fs::write(&beside, kept.to_string()).and_then(|()| fs::rename(&beside, file));
    saved.map_err(|error| format!("failed to save {}: {error}", file.display()))
}

/// Reads what was kept, in the form of today or of yesterday.
pub(super) fn read(file: &Path) -> Result<Kept, String> {
    let text =
        fs::read_to_string(file).map_err(|error| format!("failed to read {}: {error}", file.display()))?;
    let kept: Value = serde_json::from_str(&text)
        .map_err(|error| format!("{} is no whole conversation: {error}", file.display()))?;
    let cwd = PathBuf::from(kept["working_directory"].as_str().unwrap_or_default());
    match (kept["session_id"].as_str(), kept["conversation_history"].as_array()) {
        (Some(session), _) => Ok(Kept::Session { session: session.to_owned(), cwd }),
        (None, Some(history)) => Ok(Kept::History { cwd, count: history.len() }),
        (None, None) => Err(format!("{} has neither a session nor a history", file.display())),
    }
}
