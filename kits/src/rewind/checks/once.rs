//! The edited message is sent exactly once, when the task is ready: not again when it is refused.

use super::{carries, episodes, words_of};
use crate::kit::Check;
use crate::story::{AdapterClock, Story};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "once",
    about: "The edited message is sent exactly once, when the task is ready, and not again when that fails; of two \
            clicks one wins.",
    examine,
};

/// By so much an update may be read late, where the task is ready at once.
const EXCUSED_MS: f64 = 500.0;
/// So much later than it was written an update may be read on a busy machine, in its own milliseconds.
const READ_LATE_MS: f64 = 10.0;

fn examine(story: &Story<'_>) -> Examined {
    let slack = match story.clock {
        AdapterClock::Virtual => 0.5,
        AdapterClock::Scaled => 5.0 / story.time_scale,
        AdapterClock::Real => 50.0,
    };
    let mut examined = Examined::default();
    for episode in episodes(story).iter().filter(|episode| !episode.was_killed()) {
        let name = episode.name();
        let Some(edit) = episode.done() else {
            // Each click may have tried it.
            if let Some(edit) = episode.edits.first() {
                let words = words_of(edit);
                let sent = episode.asked.iter().filter(|asked| carries(asked, words)).count();
                examined.fact(sent <= episode.edits.len(), || {
                    format!("{name}: the edit has failed, and its words were sent {sent} times")
                });
            }
            continue;
        };
        let sent: Vec<_> = episode.asked.iter().filter(|asked| carries(asked, words_of(edit))).collect();
        examined.fact(sent.len() == 1, || format!("{name}: the words were sent {} times", sent.len()));
        // On a server the turn before may have asked once more on its way out.
        let ours = episode
            .asked
            .iter()
            .skip_while(|asked| episode.is_on_server() && !carries(asked, words_of(edit)));
        let all = ours.count();
        examined.fact(all == 1, || format!("{name}: the model was asked {all} times"));
        let done = episode
            .edits
            .iter()
            .filter(|edit| edit.result().is_some_and(|result| result["ok"] == true))
            .count();
        examined.fact(done == 1, || format!("{name}: {done} of {} clicks were edits", episode.edits.len()));
        // Who finds words there that were sent sends them again.
        let draft = episode.after["snapshot"]["draft"].as_str().unwrap_or_default();
        examined.fact(draft.trim() != words_of(edit).trim(), || {
            format!("{name}: the words were sent, and are kept as words that were not: {draft:?}")
        });
        // Request and update come on two ways: their times tell which was first.
        let takes = episode.told["seams"]["reinitMs"].as_f64().unwrap_or_default();
        if let (Some(begun), Some(first)) = (episode.seam("reinit", "begin"), sent.first()) {
            examined.facts += 1;
            let early = begun.at.ms + takes - first.at.ms;
            let excused = if takes > 0.0 { takes / 2.0 } else { EXCUSED_MS };
            let excused = excused.max(READ_LATE_MS / story.time_scale);
            let finding = || format!("{name}: it was sent {early:.0} ms before the task was ready");
            match story.clock {
                _ if early <= slack => {}
                // A busy machine reads the update late: what is less than half of the wait is no proof.
                AdapterClock::Real | AdapterClock::Scaled if early < excused => {
                    examined.doubts.push(finding());
                }
                _ => examined.findings.push(finding()),
            }
        }
    }
    examined
}
