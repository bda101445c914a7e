//! The checks of guards: pure functions of a history. One file each, and a line in [`all`].

mod answers_kept;
mod at_once;
mod batches;
mod budget;
mod canaries;
mod categories;
mod changes;
mod commands;
mod copies;
mod ends;
mod filled;
mod flow_calls;
mod flow_resumed;
mod flow_saved;
mod flow_shown;
mod index;
mod paths;
mod policy;
mod prompts;
mod reports;
mod scopes;
mod secrets;
mod servers;
mod services;
mod timeouts;
mod timings;
mod told;
mod tries;
mod window;
mod window_tries;

use super::play::WANTED;
use crate::kit::Check;
use crate::story::{AdapterClock, Call, Story};
use serde_json::Value;

/// All checks.
pub(super) fn all() -> Vec<Check> {
    vec![
        paths::CHECK,
        canaries::CHECK,
        commands::CHECK,
        prompts::CHECK,
        tries::CHECK,
        categories::CHECK,
        reports::CHECK,
        secrets::CHECK,
        policy::CHECK,
        filled::CHECK,
        window::CHECK,
        window_tries::CHECK,
        changes::CHECK,
        batches::CHECK,
        answers_kept::CHECK,
        flow_shown::CHECK,
        flow_calls::CHECK,
        flow_resumed::CHECK,
        flow_saved::CHECK,
        at_once::CHECK,
        timeouts::CHECK,
        scopes::CHECK,
        copies::CHECK,
        services::CHECK,
        ends::CHECK,
        servers::CHECK,
        timings::CHECK,
        index::CHECK,
        budget::CHECK,
    ]
}

/// The calls of a method, each with what has to come of it.
fn wanted<'s>(story: &'s Story<'_>, method: &'s str) -> Vec<(&'s Call, &'s Value)> {
    let calls: Vec<&Call> = story.calls_of(method).collect();
    let wanted = story.seen_of(WANTED).filter(|seen| seen.value["method"] == method);
    wanted.filter_map(|seen| Some((*calls.get(place(&seen.value["nth"])?)?, &seen.value))).collect()
}

fn place(nth: &Value) -> Option<usize> {
    usize::try_from(nth.as_u64()?).ok()
}

/// A text of a JSON value, or nothing.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// May two times of the adapter pass for the same? A virtual clock has no excuse.
fn is_about(story: &Story<'_>, ms: f64, wanted_ms: f64) -> bool {
    let slack = match story.clock {
        AdapterClock::Virtual => 1.0,
        // A machine under load is late by some of its own milliseconds, and a scaled second is ten of them.
        AdapterClock::Scaled => wanted_ms.mul_add(0.35, 40.0 / story.time_scale),
        AdapterClock::Real => wanted_ms.mul_add(0.25, 100.0),
    };
    (ms - wanted_ms).abs() <= slack
}
