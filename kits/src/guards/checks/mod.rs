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
mod rendered;
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
use harness::checks::Examined;
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
        rendered::CHECK,
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

/// Is an event about a file that is gone? There is nothing to read: whoever shows that as indexed may, at any time.
fn is_deletion(call: &Call) -> bool {
    call.params["kind"] == "deleted"
}

/// A text of a JSON value, or nothing.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// One more fact: something came when it should. On a clock of the machine that is in doubt where it came late, and not so
/// late that no busy machine is an excuse.
fn in_time(
    examined: &mut Examined,
    story: &Story<'_>,
    ms: f64,
    wanted_ms: f64,
    finding: impl FnOnce() -> String,
) {
    examined.facts += 1;
    if is_about(story, ms, wanted_ms) {
        return;
    }
    match ms > wanted_ms && ms - wanted_ms <= excused(story) {
        true => examined.doubts.push(finding()),
        false => examined.findings.push(finding()),
    }
}

/// So much later than it should something may come on a machine that others keep busy, in the adapter's time.
fn excused(story: &Story<'_>) -> f64 {
    const BUSY_MS: f64 = 500.0;
    match story.clock {
        AdapterClock::Virtual => 0.0,
        AdapterClock::Scaled => BUSY_MS / story.time_scale,
        AdapterClock::Real => BUSY_MS,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found when something that should take a second takes so long: findings and doubts.
    fn told(clock: AdapterClock, ms: f64) -> (usize, usize) {
        let mut story = Story::default();
        (story.clock, story.time_scale) = (clock, 0.01);
        let mut examined = Examined::default();
        in_time(&mut examined, &story, ms, 1000.0, || "it came otherwise".to_owned());
        assert_eq!(examined.facts, 1);
        (examined.findings.len(), examined.doubts.len())
    }

    #[test]
    fn a_busy_machine_is_an_excuse_for_what_is_late_and_not_for_ever() {
        for clock in [AdapterClock::Virtual, AdapterClock::Scaled, AdapterClock::Real] {
            assert_eq!(told(clock, 1000.0), (0, 0), "{clock:?}");
        }
        assert_eq!(told(AdapterClock::Virtual, 1100.0), (1, 0), "virtual time has no machine");
        assert_eq!(told(AdapterClock::Scaled, 20_000.0), (0, 1));
        assert_eq!(told(AdapterClock::Scaled, 60_000.0), (1, 0));
        assert_eq!(told(AdapterClock::Real, 1400.0), (0, 1));
        assert_eq!(told(AdapterClock::Real, 2000.0), (1, 0), "a second is no half");
        assert_eq!(told(AdapterClock::Real, 500.0), (1, 0), "nothing makes a machine early");
    }
}
