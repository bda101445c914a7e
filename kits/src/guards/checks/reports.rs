//! Each error is logged once, and reported once when the person wants that, and never when not; both name its category.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "reports",
    about: "One line in the log for each error; one report when the person allows them, and none when not; both name the category.",
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
        let logged: Vec<_> = story.updates_of("log").filter(|told| of_call(told.at.line)).collect();
        let lines = logged.len();
        examined.fact(lines == 1, || format!("{about}: {lines} lines in the log instead of one"));
        let is_report = |lane: &Option<String>| lane.as_deref() == Some("telemetry");
        let of_reports =
            story.exchanges.iter().filter(|exchange| is_report(&exchange.lane) && of_call(exchange.at.line));
        let reported: Vec<_> = of_reports.collect();
        let (reports, allowed) = (reported.len(), wanted["reports"] == true);
        examined.fact(reports == usize::from(allowed), || {
            let instead = if allowed { "instead of one" } else { "though the person wants none" };
            format!("{about}: {reports} reports {instead}")
        });
        // Whichever category it has given: whether that is the right one is asked elsewhere.
        let category = call.result().map(|said| text(&said["category"])).unwrap_or_default();
        let names = |words: &str| words.to_lowercase().contains(&category.to_lowercase());
        for told in logged {
            let line = text(&told.update["text"]);
            examined.fact(names(line), || format!("{about}: a line in the log does not name {category}"));
        }
        for report in reported {
            let body = report.body.to_string();
            examined.fact(names(&body), || format!("{about}: a report does not name {category}"));
        }
    }
    examined
}
