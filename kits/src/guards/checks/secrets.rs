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
    for (index, line) in story.lines.iter().enumerate() {
        let told = match line {
            Line::Adapter(said) if said.from == Speaker::Adapter => said.message.to_string(),
            Line::Request(request) => {
                format!("{} {} {:?} {:?}", request.path, request.query, request.headers, request.body)
            }
            // What the adapter writes on its stderr.
            Line::Note(note) if !note.text.starts_with(crate::story::WITNESS) => note.text.clone(),
            _ => continue,
        };
        examined.fact(!told.contains(KEY), || {
            let told: String = told.replace(KEY, "KEY").chars().take(120).collect();
            format!("line {}: the key is told: {told}", index + 1)
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
