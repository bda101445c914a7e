//! Which files can be played again.

use fixtures::fault_plan::StreamName;
use fixtures::recording::{FileKind, HowEnded, Line, Recording};
use std::collections::BTreeSet;

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
    /// The recorded server was another one after a while.
    #[error(
        "in this recording the server ended and was started again, and a replay is one server; play its scenario with \
         --scenario"
    )]
    Restarted,
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
    if is_restarted(recording) {
        return Err(Unplayable::Restarted);
    }
    Ok(())
}

/// Did a server lose those who listen to all of it, and was asked again?
fn is_restarted(recording: &Recording) -> bool {
    let mut of_all = BTreeSet::new();
    let mut has_ended = false;
    recording.lines.iter().any(|line| {
        match line {
            Line::Request(_) if has_ended => return true,
            Line::Request(request) if request.path == StreamName::GlobalEvent.path() => {
                of_all.insert(request.exchange);
            }
            Line::End(end) if of_all.contains(&end.exchange) => {
                has_ended |= end.how != HowEnded::ClosedByClient;
            }
            _ => {}
        }
        false
    })
}
