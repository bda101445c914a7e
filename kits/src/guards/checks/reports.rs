//! Each error is logged once, and reported once when the person wants that, and never when not.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "reports",
    about: "One line in the log for each error; one report when the person allows them, and none when not.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let calls = wanted(story, "error/handle");
    // Who reports does not make the person wait: what is sent before the next error is about this one.
    let begins: Vec<usize> = calls.iter().map(|(call, _)| call.at.line).collect();
    for (index, (call, wanted)) in calls.iter().enumerate() {
        let about = text(&wanted["about"]);
        let end = begins.get(index + 1).copied().unwrap_or(usize::MAX);
        let of_call = |line: usize| call.at.line < line && line < end;
        let logged = story.updates_of("log").filter(|told| of_call(told.at.line)).count();
        examined.fact(logged == 1, || format!("{about}: {logged} lines in the log instead of one"));
        let is_report = |lane: &Option<String>| lane.as_deref() == Some("telemetry");
        let reported =
            story.exchanges.iter().filter(|exchange| is_report(&exchange.lane) && of_call(exchange.at.line));
        let (reported, allowed) = (reported.count(), wanted["reports"] == true);
        examined.fact(reported == usize::from(allowed), || {
            let instead = if allowed { "instead of one" } else { "though the person wants none" };
            format!("{about}: {reported} reports {instead}")
        });
    }
    examined
}
