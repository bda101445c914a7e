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
    /// A list of so many.
    Few(&'static [Field], usize, usize),
    /// Such a text, without the space around it.
    Sized(usize, usize),
    Object(&'static [Field]),
    /// A text, or nothing that is said to be nothing.
    TextOrNull,
    /// A whole number between these two, or nothing.
    Between(u64, u64),
}

/// An argument of a tool, or a field of an item.
struct Field {
    name: &'static str,
    kind: Kind,
    is_required: bool,
    /// That it may be nothing is not said of another kind.
    is_exact: bool,
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: true, is_exact: true }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: false, is_exact: false }
}

const fn perhaps(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_required: false, is_exact: true }
}

/// The arguments of each tool, in the servers' order.
const TOOLS: &[(&str, &[Field])] = &[
    ("apply_patch", &[must("patchText", Kind::Text)]),
    (
        "background_process",
        &[
            must("action", Kind::Word(&["start", "list", "status", "logs", "stop", "restart"])),
            may("command", Kind::Text),
            may("id", Kind::Text),
            may("workdir", Kind::Text),
            may("description", Kind::Text),
            may(
                "ready",
                Kind::Object(&[
                    perhaps("pattern", Kind::Text),
                    perhaps("port", Kind::Positive),
                    perhaps("timeout", Kind::Positive),
                ]),
            ),
            may("inherit", Kind::Truth),
            may("persistent", Kind::Truth),
        ],
    ),
    ("bash", &[must("command", Kind::Text), may("timeout", Kind::Positive), may("workdir", Kind::Text)]),
    ("board_read", &[may("since", Kind::TextOrNull), may("limit", Kind::Between(1, 50))]),
    (
        "board_post",
        &[
            must("to", Kind::Text),
            must("type", Kind::Word(&["INFO", "ASK", "RESULT", "HOLD", "VETO"])),
            must("body", Kind::Sized(1, 4096)),
            may("reply_to", Kind::TextOrNull),
        ],
    ),
    ("cancel_wakeup", &[must("action", Kind::Word(&["list", "cancel"])), may("id", Kind::Text)]),
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
        "kilo_local_recall",
        &[
            must("mode", Kind::Word(&["search", "read"])),
            may("query", Kind::Text),
            may("sessionID", Kind::Text),
            may("limit", Kind::Number),
        ],
    ),
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
    (
        "schedule_wakeup",
        &[
            must("prompt", Kind::Text),
            may("delay", Kind::Text),
            may("when", Kind::Text),
            may("reason", Kind::Text),
        ],
    ),
    ("skill", &[must("name", Kind::Text)]),
    (
        "suggest",
        &[
            must("suggest", Kind::Text),
            must(
                "actions",
                Kind::Few(
                    &[must("label", Kind::Text), may("description", Kind::Text), must("prompt", Kind::Text)],
                    1,
                    2,
                ),
            ),
        ],
    ),
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
    let mut found = fields.map(|fields| troubles(fields, input)).unwrap_or_default();
    if let Some(message) = of_all(tool, input).filter(|_| found.is_empty()) {
        found.push(Trouble { place: "input".to_owned(), message: Some(message.to_owned()) });
    }
    in_words(&found, style)
}

/// What is wrong with arguments that are each as they should be.
fn of_all(tool: &str, input: &Value) -> Option<&'static str> {
    let is_said = |name: &str| input[name].as_str().is_some_and(|word| !word.is_empty());
    let has_words = |name: &str| input[name].as_str().is_some_and(|word| !word.trim().is_empty());
    let (inherits, persists) = (input["inherit"] == true, input["persistent"] == true);
    match (tool, input["action"].as_str()?) {
        ("background_process", "start") if inherits && persists => {
            Some("inherit and persistent cannot be combined")
        }
        ("background_process", "start") if !has_words("command") => {
            Some("command is required when action is start")
        }
        ("background_process", "start") => None,
        ("background_process", _) if inherits || persists => {
            Some("inherit and persistent are only valid when action is start")
        }
        ("background_process", action) if action != "list" && !is_said("id") => {
            Some("id is required when action is status, logs, stop, or restart")
        }
        ("cancel_wakeup", "cancel") if !has_words("id") => Some("id is required when action is cancel"),
        _ => None,
    }
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
        Kind::Between(..) => (value.is_number() || value.is_null(), "number | null".to_owned()),
        Kind::TextOrNull => (value.is_string() || value.is_null(), "string | null".to_owned()),
        Kind::Sized(..) => (value.is_string(), "string".to_owned()),
        Kind::Object(_) => (value.is_object(), "object".to_owned()),
        Kind::Truth => (value.is_boolean(), "boolean".to_owned()),
        Kind::Word(words) => {
            let known: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
            (value.as_str().is_some_and(|word| words.contains(&word)), known.join(" | "))
        }
        Kind::List(_) | Kind::Few(..) => (value.is_array(), "array".to_owned()),
    };
    if !fits {
        // A word that is not said is another one, not nothing.
        let may_be_nothing = !field.is_exact && !matches!(field.kind, Kind::Word(_));
        let or_nothing = if may_be_nothing { " | undefined" } else { "" };
        let message = format!("Expected {word}{or_nothing}, got {value}");
        found.push(Trouble { place: place.to_owned(), message: Some(message) });
        return;
    }
    let trouble = match field.kind {
        Kind::Count => no_count(value, false),
        Kind::Positive => no_count(value, true),
        Kind::Between(least, most) => not_between(value, least, most),
        Kind::Sized(least, most) => {
            let text = value.as_str().unwrap_or_default().trim();
            not_so_many(crate::javascript::units(text), least, most, &json!(text))
        }
        _ => None,
    };
    if let Some(message) = trouble {
        found.push(Trouble { place: place.to_owned(), message: Some(message) });
    }
    if let Kind::Object(fields) = &field.kind {
        check_fields(fields, value, place, found);
    }
    if let (Kind::List(fields) | Kind::Few(fields, ..), Some(items)) = (&field.kind, value.as_array()) {
        let before = found.len();
        for (at, item) in items.iter().enumerate() {
            let place = format!("{place}[{at}]");
            if item.is_object() {
                check_fields(fields, item, &place, found);
            } else {
                found.push(Trouble { place, message: Some(format!("Expected object, got {item}")) });
            }
        }
        if let Kind::Few(_, least, most) = field.kind
            && found.len() == before
            && let Some(message) = not_so_many(items.len(), least, most, value)
        {
            found.push(Trouble { place: place.to_owned(), message: Some(message) });
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

fn not_so_many(count: usize, least: usize, most: usize, value: &Value) -> Option<String> {
    let wanted = match count {
        count if count < least => format!("at least {least}"),
        count if count > most => format!("at most {most}"),
        _ => return None,
    };
    Some(format!("Expected a value with a length of {wanted}, got {value}"))
}

fn not_between(value: &Value, least: u64, most: u64) -> Option<String> {
    let number = value.as_f64()?;
    if number.fract() != 0.0 {
        return Some(format!("Expected an integer, got {value}"));
    }
    let is_wrong = value.as_u64().is_none_or(|number| number < least || number > most);
    is_wrong.then(|| format!("Expected a value between {least} and {most}, got {value}"))
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
