//! Nothing is restored, and nothing is sent, before the agent's work has stopped; and nobody waits for that for ever.

use super::episodes;
use crate::kit::Check;
use crate::story::{AdapterClock, Call, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "stopped",
    about: "Nothing is restored before the work has stopped; after three seconds the edit fails.",
    examine,
};

/// How long a client waits for the work to stop.
const LIMIT_MS: f64 = 3000.0;

fn examine(story: &Story<'_>) -> Examined {
    let slack = match story.clock {
        AdapterClock::Virtual => 1.0,
        AdapterClock::Scaled => 0.1 * LIMIT_MS,
        AdapterClock::Real => 500.0,
    };
    let mut examined = Examined::default();
    for episode in episodes(story)
        .iter()
        .filter(|episode| !episode.told["works_for_ms"].is_null() && !episode.is_on_server())
    {
        let name = episode.name();
        let stopped = episode.seam("cancel", "end").map(|told| told.at);
        if let Some(restored) = episode.seam("restore", "begin") {
            let is_so = stopped.is_some_and(|stopped| stopped.line < restored.at.line);
            examined.fact(is_so, || format!("{name}: the files were put back while the agent was at work"));
        }
        if let Some(asked) = episode.asked.first() {
            let is_so = stopped.is_some_and(|stopped| stopped.ms <= asked.at.ms + slack);
            examined
                .fact(is_so, || format!("{name}: the edited message was sent while the agent was at work"));
        }
        // Whoever was killed has answered nothing. What stops when the edit is over already has not stopped in time.
        let waited = |edit: &&&Call| {
            let answered = edit.answer.as_ref().map(|(at, _)| at.line);
            stopped.is_none_or(|stopped| answered.is_some_and(|answered| answered < stopped.line))
        };
        for edit in episode.edits.iter().filter(|_| !episode.was_killed()).filter(waited) {
            let took = edit.answer.as_ref().map(|(at, _)| at.ms - edit.at.ms);
            let is_so = took.is_some_and(|took| took <= LIMIT_MS + slack);
            examined.fact(is_so, || {
                format!(
                    "{name}: the work did not stop, and the edit took {} ms",
                    took.unwrap_or(f64::INFINITY)
                )
            });
        }
    }
    examined
}
