//! What the servers ask of a request although `/doc` does not say it: seen by asking the real servers, of each field,
//! for a thing of another kind, for `null` and for nothing; and the names as they write them.

use fixtures::ServerKind;
use serde_json::{Value, json};

/// The key under which a schema says what may stand for a value that may be missing.
pub(super) const ABSENT: &str = "x-absent";
/// The key under which a schema says that its two limits are told together.
pub(super) const BETWEEN: &str = "x-between";

/// The key under which a schema says that `null` will do as well.
pub(super) const NULLABLE: &str = "x-nullable";

/// One choice of words has a name and is told without it: to that server it may be `null`, too.
pub(super) fn is_spelled_out(server: ServerKind, name: Option<&str>) -> bool {
    server == ServerKind::Kilo && name == Some("PermissionActionConfig")
}

/// What is asked.
#[derive(Clone, Copy)]
enum Asked {
    /// It may be missing, but may not be `null`.
    Given,
    /// The same, and that is told.
    GivenOrUndefined,
    /// It may be missing or `null`, which is told twice.
    NullTwice,
    /// It is not empty.
    Filled,
    /// Its two limits are told together.
    Between,
    /// It may be `null`.
    OrNull,
    /// The same, and nobody says so.
    NullUntold,
    /// Of the things that it can be the first two are one choice.
    TwoInOne,
}

use Asked::{Between, Filled, Given, GivenOrUndefined, NullTwice, NullUntold, OrNull, TwoInOne};

/// Of which operation's body or which named schema, at which fields; `*` is any other field. What holds for one server
/// alone has its name before it.
type Entry = (&'static str, Asked, &'static [&'static str]);

/// What a client of Kilo may take back from an agent's settings.
const TAKEN_BACK: &[&str] = &["model", "variant", "temperature", "top_p", "prompt", "description", "steps"];

const UNWRITTEN: &[Entry] = &[
    ("Config", Between, &["console.context_sidebar_width"]),
    ("Config", TwoInOne, &["mcp.*"]),
    ("EventTuiToastShow", Given, &["properties.title"]),
    ("LocationRef", Given, &["workspaceID"]),
    ("McpOAuthConfig", Between, &["callbackPort"]),
    ("ModelRef", Given, &["variant"]),
    ("OutputFormatJsonSchema", NullTwice, &["retryCount"]),
    ("ProjectCommands", Given, &["start"]),
    ("ProjectIcon", Given, &["url", "override", "color"]),
    ("WorktreeCreateInput", GivenOrUndefined, &["name", "startCommand"]),
    ("kilo AgentConfig", NullTwice, TAKEN_BACK),
    (
        "kilo Config",
        NullTwice,
        &[
            "model",
            "small_model",
            "subagent_model",
            "subagent_variant",
            "subagent_variant_overrides",
            "default_agent",
            "compaction.threshold_percent",
        ],
    ),
    ("kilo PermissionConfig", NullUntold, &["*"]),
    ("kilo PermissionObjectConfig", NullUntold, &["*"]),
    ("kilo ProviderConfig", OrNull, &["models.*"]),
    ("pty.create", Given, &["command", "args", "cwd", "title", "env", "size"]),
    ("pty.update", Given, &["title", "size"]),
    (
        "session.create",
        Given,
        &[
            "parentID",
            "title",
            "agent",
            "model",
            "model.variant",
            "metadata",
            "permission",
            "platform",
            "sandboxInheritanceToken",
            "workspaceID",
        ],
    ),
    ("session.fork", Given, &["messageID"]),
    ("tui.showToast", Given, &["title"]),
    ("v2.projectCopy.create", Filled, &["strategy"]),
    ("v2.projectCopy.create", Given, &["name"]),
    ("v2.pty.create", Given, &["command", "args", "cwd", "title", "env", "size"]),
    ("v2.pty.update", Given, &["title", "size"]),
    ("v2.session.permission.create", Given, &["metadata", "save", "source"]),
];

/// A schema with what is asked although it does not say it.
pub(super) fn completed(server: ServerKind, of: &str, mut schema: Value) -> Value {
    say_once(&mut schema);
    for (place, asked, fields) in UNWRITTEN {
        let (at, place) = place.split_once(' ').map_or((None, *place), |(at, place)| (Some(at), place));
        if place != of || at.is_some_and(|at| at != server.word()) {
            continue;
        }
        for field in *fields {
            asked.put(&mut schema, &field.split('.').collect::<Vec<_>>());
        }
    }
    schema
}

/// What is a number to JavaScript and none to JSON is listed word by word, and then all of it once more.
fn say_once(schema: &mut Value) {
    let word =
        |one: &Value| one["enum"].as_array().filter(|words| words.len() == 1).map(|words| words[0].clone());
    if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut)
        && let Some(all) = choices.last().and_then(|last| last["enum"].as_array()).cloned()
        && all.len() > 1
    {
        choices.retain(|choice| !word(choice).is_some_and(|word| all.contains(&word)));
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(say_once),
        Value::Array(items) => items.iter_mut().for_each(say_once),
        _ => {}
    }
}

impl Asked {
    /// Says it in a schema, or wherever it holds a field of this name: releases differ in what they know.
    fn put(self, schema: &mut Value, field: &[&str]) {
        if let Some(choices) =
            schema.get_mut("anyOf").and_then(Value::as_array_mut).filter(|_| !field.is_empty())
        {
            choices.iter_mut().for_each(|choice| self.put(choice, field));
        }
        match field {
            [] => self.put_here(schema),
            ["*", rest @ ..] => {
                if let Some(inner) = schema.get_mut("additionalProperties").filter(|inner| inner.is_object())
                {
                    self.put(inner, rest);
                }
            }
            [name, rest @ ..] => {
                if let Some(inner) = schema.pointer_mut(&format!("/properties/{name}")) {
                    self.put(inner, rest);
                }
            }
        }
    }

    fn put_here(self, schema: &mut Value) {
        match self {
            Given => schema[ABSENT] = json!("never"),
            GivenOrUndefined => schema[ABSENT] = json!("undefined"),
            NullTwice => schema[ABSENT] = json!("null | null"),
            Filled => schema["minLength"] = json!(1),
            NullUntold => schema[NULLABLE] = json!(true),
            Between => schema[BETWEEN] = json!(true),
            OrNull => *schema = json!({"anyOf": [schema.take(), {"type": "null"}]}),
            TwoInOne => {
                if let Some(choices) = schema["anyOf"].as_array_mut().filter(|choices| choices.len() > 1) {
                    let two: Vec<Value> = choices.drain(..2).collect();
                    choices.insert(0, json!({"anyOf": two}));
                }
            }
        }
    }
}

/// `/doc` leaves the dots out of these names.
const DOTTED: &[&str] = &[
    "Location.Ref",
    "Model.Ref",
    "MoveSession.Destination",
    "PermissionV2.Reply",
    "PermissionV2.Source",
    "Policy.Effect",
    "Project.Commands",
    "Project.Icon",
    "Prompt.AgentAttachment",
    "Prompt.Source",
    "PromptInput.FileAttachment",
    "QuestionV2.Answer",
    "QuestionV2.Reply",
];

/// A name as messages have it.
pub(super) fn spelled(name: &str) -> String {
    let dotted = DOTTED.iter().find(|dotted| dotted.replace('.', "") == name);
    dotted.copied().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::UNWRITTEN;
    use crate::doc::Operations;
    use fixtures::ServerKind;

    #[test]
    fn each_entry_is_about_a_release_that_there_is() {
        let known: Vec<&Operations> = ServerKind::ALL.iter().map(|server| Operations::of(*server)).collect();
        for (place, ..) in UNWRITTEN {
            let place = place.split(' ').next_back().unwrap();
            assert!(known.iter().any(|operations| operations.knows(place)), "{place}");
        }
    }
}
