//! What an index of a large repository takes. How long that is depends on the machine: it is told beside what the plan
//! allows, and not judged; that the index is whole is.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{AdapterClock, Call, Story};
use fixtures::recording::{Line, Speaker};
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "budget",
    about: "10,000 files are indexed, all of them; the times and the memory that it took are told beside the plan's.",
    examine,
};

/// So many files the plan's budget is for.
const FILES: u64 = 10_000;
/// So long a changed file has to be quiet before it is read, which is no part of reading it.
const QUIET_MS: f64 = 500.0;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let is_large = story.seen_of("repository").any(|seen| seen.value["files"].as_u64() >= Some(FILES));
    if !is_large {
        return examined;
    }
    for (call, wanted) in wanted(story, "index/build") {
        let files = call.result().map(|result| result["files"].clone()).unwrap_or_default();
        examined
            .fact(files == wanted["files"], || format!("{files} of {} files are indexed", wanted["files"]));
        told(&mut examined, story, call, &format!("{files} files are indexed in"), 30_000.0);
    }
    for (call, wanted) in wanted(story, "index/search") {
        let paths = call.result().map(|result| result["paths"].clone()).unwrap_or_default();
        examined.fact(paths == wanted["finds"], || {
            format!("{}: it finds {paths} instead of {}", call.params["word"], wanted["finds"])
        });
        told(&mut examined, story, call, "a search takes", 200.0);
    }
    for update in story.updates_of("indexed") {
        let since = match story.clock {
            AdapterClock::Virtual => {
                story.lines[..update.at.line].iter().rposition(is_advance).map(|at| (at, 0.0))
            }
            clock => {
                let scale = if clock == AdapterClock::Scaled { story.time_scale } else { 1.0 };
                let events = story.calls_of("fs/event").filter(|call| call.at.line < update.at.line);
                events.last().map(|call| (call.at.line, QUIET_MS * scale))
            }
        };
        if let Some((since, quiet)) = since {
            let ms = between(story, since, update.at.line) - quiet;
            examined.degraded.push(format!("a changed file is indexed in {ms:.0} ms (the plan: 100 ms)"));
        }
    }
    match story.seen_of("memory-kb").filter_map(|seen| seen.value.as_u64()).max() {
        Some(kilobytes) => {
            examined.degraded.push(format!("it has used {} MB at most (the plan: 500 MB)", kilobytes / 1024));
        }
        None => {
            examined.degraded.push("what memory it has used can't be seen here (the plan: 500 MB)".to_owned())
        }
    }
    examined
}

fn told(examined: &mut Examined, story: &Story<'_>, call: &Call, what: &str, budget_ms: f64) {
    if let Some((at, _)) = &call.answer {
        let ms = between(story, call.at.line, at.line);
        examined.degraded.push(format!("{what} {ms:.0} ms (the plan: {budget_ms:.0} ms)"));
    }
}

/// Milliseconds of the machine between two lines.
fn between(story: &Story<'_>, from: usize, to: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a run takes seconds, not centuries")]
    let ms = |line: usize| story.lines[line].at_us() as f64 / 1000.0;
    ms(to) - ms(from)
}

/// From here on a quiet time may be over: the harness says that time has passed.
fn is_advance(line: &Line) -> bool {
    match line {
        Line::Adapter(said) => {
            said.from == Speaker::Harness && text(&said.message["method"]) == "clock/advance"
        }
        _ => false,
    }
}
