//! Which files can be played again.

use fixtures::recording::{FileKind, Recording};

/// Why a file can't be played again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unplayable {
    /// It tells of a stand-in, whose clients and faults are in it.
    #[error(
        "this file is a {0}, not a recording of a server; play the recording, or the scenario with --scenario"
    )]
    NotARecording(&'static str),
    /// Its end is missing.
    #[error("this recording is torn: its last line is not whole, so its end is missing; record it again")]
    Torn,
}

/// Looks whether a file can be played again.
pub fn check(recording: &Recording) -> Result<(), Unplayable> {
    match recording.header.kind {
        FileKind::Recording => {}
        FileKind::Journal => return Err(Unplayable::NotARecording("journal")),
        FileKind::History => return Err(Unplayable::NotARecording("history")),
    }
    if recording.torn {
        return Err(Unplayable::Torn);
    }
    Ok(())
}
