//! What each tool takes, and what is wrong with anything else, in each server's words.

use crate::profile::MisuseWords;
use serde_json::{Value, json};

/// What an argument is.
enum Kind {
    Text,
    Number,
    /// A whole number, not below zero.
    Count,
    /// A whole number above zero.
    Positive,
    Truth,
    /// One of these words.
    Word(&'static [&'static str]),
    List(&'static [Field]),
}

/// An argument of a tool, or a field of an item.
struct Field {
    name: &'static str,
    kind: Kind,
    is_required: bool,
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: true }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: false }
}

/// The arguments of each tool, in the servers' order.
const TOOLS: &[(&str, &[Field])] = &[
    ("apply_patch", &[must("patchText", Kind::Text)]),
    ("bash", &[must("command", Kind::Text), may("timeout", Kind::Positive), may("workdir", Kind::Text)]),
    (
        "edit",
        &[
            must("filePath", Kind::Text),
            must("oldString", Kind::Text),
            must("newString", Kind::Text),
            may("replaceAll", Kind::Truth),
        ],
    ),
    ("glob", &[must("pattern", Kind::Text), may("path", Kind::Text)]),
    ("grep", &[must("pattern", Kind::Text), may("path", Kind::Text), may("include", Kind::Text)]),
    ("goal_report", &[must("status", Kind::Word(&["complete", "blocked"])), must("reason", Kind::Text)]),
    (
        "question",
        &[must(
            "questions",
            Kind::List(&[
                must("question", Kind::Text),
                must("header", Kind::Text),
                must("options", Kind::List(&[must("label", Kind::Text), must("description", Kind::Text)])),
                may("multiple", Kind::Truth),
            ]),
        )],
    ),
    ("read", &[must("filePath", Kind::Text), may("offset", Kind::Count), may("limit", Kind::Count)]),
    ("skill", &[must("name", Kind::Text)]),
    (
        "task",
        &[
            must("description", Kind::Text),
            must("prompt", Kind::Text),
            must("subagent_type", Kind::Text),
            may("task_id", Kind::Text),
            may("command", Kind::Text),
        ],
    ),
    (
        "todowrite",
        &[must(
            "todos",
            Kind::List(&[
                must("content", Kind::Text),
                must("status", Kind::Text),
                must("priority", Kind::Text),
            ]),
        )],
    ),
    (
        "webfetch",
        &[
            must("url", Kind::Text),
            may("format", Kind::Word(&["text", "markdown", "html"])),
            may("timeout", Kind::Number),
        ],
    ),
    ("write", &[must("content", Kind::Text), must("filePath", Kind::Text)]),
];

/// Something that is wrong with an argument.
#[derive(Debug, PartialEq, Eq)]
struct Trouble {
    /// `["todos"][0]["status"]`
    place: String,
    /// `None` when it is missing.
    message: Option<String>,
}

/// What is wrong with the arguments of a call; empty when nothing is.
pub(crate) fn wrong(tool: &str, input: &Value, style: MisuseWords) -> String {
    let fields = TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, fields)| *fields);
    in_words(&fields.map(|fields| troubles(fields, input)).unwrap_or_default(), style)
}

fn in_words(troubles: &[Trouble], style: MisuseWords) -> String {
    match style {
        MisuseWords::All => {
            let lines: Vec<String> = troubles
                .iter()
                .map(|Trouble { place, message }| {
                    format!("{place}: {}", message.as_deref().unwrap_or("is missing and is required"))
                })
                .collect();
            lines.join("\n")
        }
        MisuseWords::First => {
            let first = troubles.iter().take(1).map(|Trouble { place, message }| {
                format!("SchemaError({}\n  at {place})", message.as_deref().unwrap_or("Missing key"))
            });
            first.collect()
        }
    }
}

fn troubles(fields: &[Field], input: &Value) -> Vec<Trouble> {
    let mut found = Vec::new();
    check_fields(fields, input, "", &mut found);
    found
}

fn check_fields(fields: &[Field], input: &Value, place: &str, found: &mut Vec<Trouble>) {
    for field in fields {
        let place = format!("{place}[{}]", json!(field.name));
        match input.get(field.name) {
            Some(value) => check(field, value, &place, found),
            None if field.is_required => found.push(Trouble { place, message: None }),
            None => {}
        }
    }
}

fn check(field: &Field, value: &Value, place: &str, found: &mut Vec<Trouble>) {
    let (fits, word) = match field.kind {
        Kind::Text => (value.is_string(), "string".to_owned()),
        Kind::Number | Kind::Count | Kind::Positive => (value.is_number(), "number".to_owned()),
        Kind::Truth => (value.is_boolean(), "boolean".to_owned()),
        Kind::Word(words) => {
            let known: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            (value.as_str().is_some_and(|word| words.contains(&word)), known.join(" | "))
        }
        Kind::List(_) => (value.is_array(), "array".to_owned()),
    };
    if !fits {
        // A word that is not said is another one, not nothing.
        let may_be_nothing = !field.is_required && !matches!(field.kind, Kind::Word(_));
        let or_nothing = if may_be_nothing { " | undefined" } else { "" };
        let message = format!("Expected {word}{or_nothing}, got {value}");
        found.push(Trouble { place: place.to_owned(), message: Some(message) });
        return;
    }
    let trouble = match field.kind {
        Kind::Count => no_count(value, false),
        Kind::Positive => no_count(value, true),
        _ => None,
    };
    if let Some(message) = trouble {
        found.push(Trouble { place: place.to_owned(), message: Some(message) });
    }
    if let (Kind::List(fields), Some(items)) = (&field.kind, value.as_array()) {
        for (at, item) in items.iter().enumerate() {
            let place = format!("{place}[{at}]");
            if item.is_object() {
                check_fields(fields, item, &place, found);
            } else {
                found.push(Trouble { place, message: Some(format!("Expected object, got {item}")) });
            }
        }
    }
}

/// Why a number counts nothing.
fn no_count(value: &Value, is_positive: bool) -> Option<String> {
    let number = value.as_f64()?;
    if number.fract() != 0.0 {
        return Some(format!("Expected an integer, got {value}"));
    }
    let (is_wrong, than) =
        if is_positive { (number <= 0.0, "than") } else { (number < 0.0, "than or equal to") };
    is_wrong.then(|| format!("Expected a value greater {than} 0, got {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_are_told_in_each_servers_words() {
        let input = json!({"filePath": 5, "limit": "many"});
        assert_eq!(
            wrong("read", &input, MisuseWords::First),
            "SchemaError(Expected string, got 5\n  at [\"filePath\"])"
        );
        assert_eq!(
            wrong("read", &input, MisuseWords::All),
            "[\"filePath\"]: Expected string, got 5\n[\"limit\"]: Expected number | undefined, got \"many\""
        );
        let input = json!({"todos": [{"content": "a"}]});
        assert_eq!(
            wrong("todowrite", &input, MisuseWords::First),
            "SchemaError(Missing key\n  at [\"todos\"][0][\"status\"])"
        );
        let input = json!({"filePath": "a", "offset": -1, "limit": 1.5});
        assert_eq!(
            wrong("read", &input, MisuseWords::All),
            "[\"offset\"]: Expected a value greater than or equal to 0, got -1\n[\"limit\"]: Expected an integer, got 1.5"
        );
        let input = json!({"command": "ls", "timeout": 0});
        assert_eq!(
            wrong("bash", &input, MisuseWords::First),
            "SchemaError(Expected a value greater than 0, got 0\n  at [\"timeout\"])"
        );
        assert_eq!(wrong("write", &json!({"filePath": "a", "content": ""}), MisuseWords::All), "");
    }
}
