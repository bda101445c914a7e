//! A key stays where it belongs, and is gone when the person has logged out.

use super::{text, wanted};
use crate::kit::Check;
use crate::story::Story;
use fixtures::failures::KEY;
use fixtures::recording::{Line, Speaker};
use harness::checks::Examined;
use serde_json::Value;

pub(super) const CHECK: Check = Check {
    name: "secrets",
    about: "The key stands in no log, report, state, error or address; it is used while it is there, and not after.",
    examine,
};

fn examine(story: &Story<'_>) -> Examined {
    let mut examined = Examined::default();
    let was_given = story.calls_of("secret/store").next().is_some();
    let has_errors = story.calls_of("error/handle").next().is_some();
    if !was_given && !has_errors {
        return examined;
    }
    // What it says is kept without secrets; whether there was one in it is seen before.
    let said =
        story.lines.iter().filter(|line| matches!(line, Line::Adapter(it) if it.from == Speaker::Adapter));
    examined.facts += said.count();
    examined.findings.extend(story.said_secrets().map(|(_, place)| match place {
        "stderr" => "the key stands on its stderr".to_owned(),
        _ => "the key stands in what it says".to_owned(),
    }));
    for exchange in &story.exchanges {
        let told = format!("{} {:?} {}", exchange.path, exchange.headers, exchange.body);
        examined.fact(!told.contains(KEY), || {
            let lane = exchange.lane.as_deref().unwrap_or_default();
            format!("line {}: the key stands in a request to {lane}", exchange.at.line + 1)
        });
    }
    for seen in story.seen_of("key-in") {
        let files: Vec<&str> =
            seen.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        examined.fact(files.is_empty(), || format!("the key stands in {}", files.join(", ")));
    }
    for (call, wanted) in wanted(story, "secret/use") {
        let end = call.answer.as_ref().map_or(usize::MAX, |(at, _)| at.line);
        let asked = story.exchanges.iter().filter(|exchange| {
            exchange.lane.as_deref() == Some("provider")
                && call.at.line < exchange.at.line
                && exchange.at.line < end
        });
        let with_key =
            asked.filter(|exchange| exchange.headers.iter().any(|(name, _)| name == "authorization"));
        let (with_key, expected) = (with_key.count(), wanted["with_key"] == true);
        examined.fact((with_key > 0) == expected, || match expected {
            true => "the key was given, and is not used".to_owned(),
            false => format!("{with_key} requests have a key after the person has logged out"),
        });
        let details = call.result().map(|result| text(&result["message"])).unwrap_or_default();
        examined.fact(!details.contains(KEY), || "the error says the key".to_owned());
    }
    examined
}
