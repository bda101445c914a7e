//! An answer is kept for five minutes, and a failure is not.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::{AdapterClock, Call, Story};
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "answers-kept",
    about: "An answer younger than five minutes is given again, an older one is asked for, and a failure is never kept.",
    examine,
};

/// So long an answer is kept.
const KEPT_MS: f64 = 300_000.0;

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    for (call, wanted) in wanted(story, "cache/get") {
        let fetched = wanted["fetched"].as_u64().unwrap_or_default();
        let Some(fetches) = fetches(story, call, wanted) else { continue };
        examined.fact((fetched > 0) == fetches, || {
            let instead = if fetches { "and has to be" } else { "though the answer is kept" };
            format!("{}: the host is asked {fetched} times, {instead}", text(&wanted["about"]))
        });
    }
    examined
}

/// Has the host to be asked? For a clock of the machine that is told by the times at which the host was; nothing is told
/// where five minutes are over just then.
fn fetches(story: &Story<'_>, call: &Call, wanted: &Value) -> Option<bool> {
    if story.clock == AdapterClock::Virtual {
        return Some(wanted["fetches"] == true);
    }
    let before = story.exchanges.iter().filter(|exchange| exchange.lane.as_deref() == Some("kept"));
    let before = before.filter(|exchange| exchange.at.line < call.at.line);
    let answers = before.filter_map(|exchange| Some((exchange.at.ms, exchange.answer?)));
    let Some((asked, (said, _))) = answers.filter(|(_, (_, status))| *status < 300).last() else {
        return Some(true);
    };
    let end = call.answer.as_ref().map_or(f64::INFINITY, |(at, _)| at.ms);
    let (youngest, oldest) = (call.at.ms - said.ms, end - asked);
    (oldest < KEPT_MS || youngest >= KEPT_MS).then_some(youngest >= KEPT_MS)
}
