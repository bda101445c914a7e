//! What the tools take, and what the servers say to a call with anything else.

use crate::profile::MisuseWords;
use crate::world::World;
use crate::world::run::CallState;
use serde_json::{Value, json};

/// What an argument is.
enum Kind {
    Text,
    Number,
    /// A whole number, not below zero.
    Count,
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
    ("bash", &[must("command", Kind::Text), may("timeout", Kind::Number), may("workdir", Kind::Text)]),
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

/// So many calls in a row with arguments that can't be taken end a turn, where a server counts them.
const MISUSES_MAX: u32 = 3;

/// Something that is wrong with an argument.
#[derive(Debug, PartialEq, Eq)]
struct Trouble {
    /// `["todos"][0]["status"]`
    place: String,
    /// `None` when it is missing.
    message: Option<String>,
}

impl World {
    /// A call that can't be made fails as soon as it has been told to run. Says whether so.
    pub(crate) fn refuse_misuse(&mut self, session: &str, call: usize) -> bool {
        let Some(called) = self.run_mut(session).and_then(|run| run.calls.get(call)) else { return false };
        let (tool, input) = (called.tool.clone(), called.input.clone());
        if tool == INVALID {
            self.tell_running(session, call);
            self.start_invalid(session, call);
            return true;
        }
        if !self.offered(session).contains(&tool) {
            let message = self.unavailable(session, &tool);
            self.tell_running(session, call);
            self.fail_call(session, call, &message);
            return true;
        }
        let fields = TOOLS.iter().find(|(name, _)| *name == tool).map(|(_, fields)| *fields);
        let troubles = fields.map(|fields| troubles(fields, &input)).unwrap_or_default();
        let vain = if tool == "edit" { self.vain_edit(session, call) } else { None };
        if let (true, Some(message)) = (troubles.is_empty(), &vain) {
            self.tell_running(session, call);
            self.fail_call(session, call, message);
        }
        if troubles.is_empty() {
            return vain.is_some();
        }
        let words = in_words(&troubles, self.profile.misuse);
        let message = format!(
            "The {tool} tool was called with invalid arguments: {words}.\nPlease rewrite the input so it satisfies \
             the expected schema."
        );
        let before = self.sessions.get(session).map_or(0, |owner| owner.misuses);
        self.tell_running(session, call);
        self.fail_call(session, call, &message);
        self.count_misuse(session, &tool, before + 1);
        true
    }

    /// Some servers lose patience with a model that goes on like this.
    fn count_misuse(&mut self, session: &str, tool: &str, count: u32) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        owner.misuses = count;
        if self.profile.misuse != MisuseWords::All || count < MISUSES_MAX {
            return;
        }
        owner.misuses = 0;
        let message = format!(
            "Stopped after {MISUSES_MAX} consecutive invalid-argument failures for the \"{tool}\" tool. The model kept \
             re-issuing malformed input, so the turn was aborted to avoid burning tokens."
        );
        let error = json!({"name": "APIError", "data": {"message": message, "isRetryable": false}});
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        if let Some(run) = self.run_mut(session) {
            run.stopped = Some(error.clone());
            let message = run.message.clone();
            if let Some(message) =
                self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message))
            {
                message.info["error"] = error;
            }
        }
    }

    /// A tool that is not offered, where such a call becomes one of the tool for calls that can't be made.
    pub(crate) fn redirect_misuse(&mut self, session: &str, call: usize) {
        let Some(tool) =
            self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone())
        else {
            return;
        };
        if self.profile.misuse != MisuseWords::First || self.offered(session).contains(&tool) {
            return;
        }
        let message = self.unavailable(session, &tool);
        self.make_invalid(session, call, &message);
    }

    fn make_invalid(&mut self, session: &str, call: usize, message: &str) {
        let Some((part_of, part)) = self.call_part(session, call) else { return };
        if let Some(part) = self.part_mut(session, &part_of, part) {
            part["tool"] = json!(INVALID);
        }
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            let tool = std::mem::replace(&mut call.tool, INVALID.to_owned());
            call.input = json!({"tool": tool, "error": message});
        }
    }

    /// The answer is over, and the arguments of some calls are no JSON.
    pub(crate) fn refuse_broken_arguments(&mut self, session: &str) {
        let now = self.now_ms;
        let count = self.run_mut(session).map_or(0, |run| run.calls.len());
        for at in 0..count {
            let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(at)) else { return };
            if call.state != CallState::Written {
                continue;
            }
            let why = crate::no_json::why(&call.arguments).unwrap_or_default();
            let message = format!(
                "Invalid input for tool {}: JSON parsing failed: Text: {}.\nError message: {why}",
                call.tool, call.arguments
            );
            call.state = CallState::Running;
            call.started_ms = now;
            call.input = json!({"value": call.arguments});
            if self.profile.misuse == MisuseWords::First {
                self.make_invalid(session, at, &message);
                self.tell_running(session, at);
                self.start_invalid(session, at);
            } else {
                self.tell_running(session, at);
                self.fail_call(session, at, &message);
            }
        }
    }

    fn start_invalid(&mut self, session: &str, call: usize) {
        let Some(error) = self.text_argument(session, call, "error") else { return };
        let result = super::Completed {
            output: format!("The arguments provided to the tool are invalid: {error}"),
            title: "Invalid Tool".to_owned(),
            metadata: json!({"truncated": false}),
            ..super::Completed::default()
        };
        self.complete_call(session, call, result);
    }

    fn unavailable(&self, session: &str, tool: &str) -> String {
        let mut offered = self.offered(session);
        if self.profile.misuse != MisuseWords::First {
            offered.retain(|name| name != INVALID);
        }
        offered.sort();
        let offered = offered.join(", ");
        format!("Model tried to call unavailable tool '{tool}'. Available tools: {offered}.")
    }

    /// What a call may name: the tools that are offered, and the one for calls that can't be made.
    fn offered(&self, session: &str) -> Vec<String> {
        let mut offered = self.offered_tools(session);
        if self.profile.misuse == MisuseWords::First {
            offered.push(INVALID.to_owned());
        }
        offered
    }
}

/// The tool that a call which can't be made becomes.
const INVALID: &str = "invalid";

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
        Kind::Number | Kind::Count => (value.is_number(), "number".to_owned()),
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
    if let (Kind::Count, Some(message)) = (&field.kind, no_count(value)) {
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
fn no_count(value: &Value) -> Option<String> {
    let number = value.as_f64()?;
    if number.fract() != 0.0 {
        return Some(format!("Expected an integer, got {value}"));
    }
    (number < 0.0).then(|| format!("Expected a value greater than or equal to 0, got {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tool: &str, input: &Value, style: MisuseWords) -> String {
        let fields = TOOLS.iter().find(|(name, _)| *name == tool).unwrap().1;
        in_words(&troubles(fields, input), style)
    }

    #[test]
    fn wrong_arguments_are_told_in_each_servers_words() {
        let input = json!({"filePath": 5, "limit": "many"});
        assert_eq!(
            told("read", &input, MisuseWords::First),
            "SchemaError(Expected string, got 5\n  at [\"filePath\"])"
        );
        assert_eq!(
            told("read", &input, MisuseWords::All),
            "[\"filePath\"]: Expected string, got 5\n[\"limit\"]: Expected number | undefined, got \"many\""
        );
        let input = json!({"todos": [{"content": "a"}]});
        assert_eq!(
            told("todowrite", &input, MisuseWords::First),
            "SchemaError(Missing key\n  at [\"todos\"][0][\"status\"])"
        );
        let input = json!({"filePath": "a", "offset": -1, "limit": 1.5});
        assert_eq!(
            told("read", &input, MisuseWords::All),
            "[\"offset\"]: Expected a value greater than or equal to 0, got -1\n[\"limit\"]: Expected an integer, got 1.5"
        );
        assert_eq!(told("write", &json!({"filePath": "a", "content": ""}), MisuseWords::All), "");
    }
}
