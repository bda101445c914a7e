//! How long operations take is reported, and slow ones are logged.

use super::{in_time, text, wanted};
use crate::kit::Check;
use crate::story::Story;
use harness::checks::Examined;

pub(super) const CHECK: Check = Check {
    name: "timings",
    about: "Each operation is reported once with its time, failed ones as errors; slow ones are logged; no report harms.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let calls = wanted(story, "op/measured");
    for (nth, (call, wanted)) in calls.iter().enumerate() {
        let end = calls.get(nth + 1).map_or(usize::MAX, |(next, _)| next.at.line);
        let of_call = |line: usize| call.at.line < line && line < end;
        let label = text(&wanted["label"]);
        let is_ok = wanted["ok"] == true;
        let ok = call.result().is_some_and(|said| said["ok"] == true);
        examined.fact(ok == is_ok, || format!("{label}: it says ok = {ok}"));
        let reports: Vec<_> = story
            .exchanges
            .iter()
            .filter(|exchange| exchange.lane.as_deref() == Some("telemetry") && of_call(exchange.at.line))
            .collect();
        let allowed = usize::from(wanted["reports"] == true);
        examined.fact(reports.len() == allowed, || {
            format!("{label}: {} reports instead of {allowed}", reports.len())
        });
        // As long as the host held it, and not as long as it was to.
        let lane = wanted["lane"].as_str();
        let held = story.exchanges.iter().find(|exchange| exchange.lane.as_deref() == lane);
        let held = held.and_then(|held| held.answer.map(|(at, _)| at.ms - held.at.ms));
        let takes = held.or(wanted["takes_ms"].as_f64()).unwrap_or_default();
        for report in &reports {
            let (kind, instead) = (text(&report.body["kind"]), if is_ok { "timing" } else { "error" });
            examined.fact(kind == instead && report.body["label"] == label, || {
                format!("{label}: the report is {} and has to be of the kind {instead}", report.body)
            });
            let ms = report.body["ms"].as_f64().unwrap_or(f64::INFINITY);
            in_time(&mut examined, story, ms, takes, || {
                format!("{label}: it took {takes:.0} ms, and {ms:.0} ms are reported")
            });
        }
        // What it has reported is its own measure; a machine under load adds to that of everybody else.
        let ms = reports.first().and_then(|report| report.body["ms"].as_f64()).unwrap_or(takes);
        let is_slow = is_ok && ms > wanted["slow_ms"].as_f64().unwrap_or_default();
        let is_warning =
            |update: &serde_json::Value| update["level"] == "warn" && text(&update["text"]).contains(label);
        let logged =
            story.updates_of("log").filter(|told| of_call(told.at.line) && is_warning(&told.update)).count();
        examined.fact(!is_ok || logged == usize::from(is_slow), || {
            format!("{label}: it took {ms:.0} ms, and there are {logged} warnings in the log")
        });
    }
    examined
}
