//! A value against a schema, and what is wrong with it in the words of the real servers. They stop at the first thing,
//! in the order of the schema.

use super::Problem;
use super::limits::{length_problem, pattern_problem, range_problem};
use super::read::value_of;
use super::unwritten::{ABSENT, NULLABLE, completed, is_spelled_out, spelled};
use crate::javascript::{self, number_text, units};
use fixtures::ServerKind;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The named schemas of a `/doc`, each read when it is first meant.
#[derive(Debug)]
pub(super) struct Schemas {
    server: ServerKind,
    named: BTreeMap<String, (&'static RawValue, OnceLock<Value>)>,
}

/// These have a name in `/doc` alone: what a client sends for them is made into something else, which has the name.
const NAMELESS: &[&str] = &[
    "AgentConfig",
    "ConfigV2ExperimentalPolicy",
    "ConfigV2ReferenceGit",
    "ConfigV2ReferenceLocal",
    "PermissionConfig",
];

/// What may stand for a value that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// It must be there.
    Never,
    /// In JSON.
    Null,
    /// In a query, and in some bodies.
    Undefined,
    /// In JSON, where two schemas say it.
    NullTwice,
    /// In a file, where `null` takes something back.
    NullOrUndefined,
}

impl Schemas {
    pub(super) fn of(server: ServerKind, named: BTreeMap<String, &'static RawValue>) -> Self {
        let named = named.into_iter().map(|(name, text)| (name, (text, OnceLock::new()))).collect();
        Self { server, named }
    }

    /// The schema that is meant, and its name if messages tell it by that.
    pub(super) fn resolved<'a>(&'a self, schema: &'a Value) -> (&'a Value, Option<&'a str>) {
        let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        match name.and_then(|name| self.named.get_key_value(name)) {
            Some((name, (text, schema))) => {
                let schema = schema.get_or_init(|| completed(self.server, name, value_of(text)));
                (schema, Some(name.as_str()).filter(|name| !NAMELESS.contains(name)))
            }
            None => (schema, None),
        }
    }

    #[cfg(test)]
    pub(super) fn knows(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// The names of a schema's properties.
    pub(super) fn fields(&self, schema: &Value) -> Vec<String> {
        let properties = self.resolved(schema).0["properties"].as_object();
        properties.into_iter().flat_map(serde_json::Map::keys).cloned().collect()
    }

    /// What is wrong with a value.
    pub(super) fn problem(&self, schema: &Value, value: &Value, absent: Absent) -> Option<Problem> {
        let mut members = Vec::new();
        self.members(schema, &mut members);
        // A schema with a name is asked as one thing; only what is of no kind that it knows could have been nothing.
        let is_known_kind = members.iter().any(|member| is_of_kind(self.resolved(member).0, value));
        let absent = if self.resolved(schema).1.is_some() && is_known_kind { Absent::Never } else { absent };
        // A word can only be wrong where there is nothing else to choose.
        let is_choice = self.is_choice(schema);
        members.retain(|member| match is_choice {
            true => self.could_be(member, value),
            false => is_of_kind(self.resolved(member).0, value),
        });
        let mut problems = Vec::new();
        for member in members {
            problems.push(match self.is_choice(member) {
                true => self.problem(member, value, Absent::Never)?,
                false => self.problem_inside(member, value)?,
            });
        }
        let of_no_kind = || Problem::expected(&self.words_or(schema, absent), &js(value));
        Some(problems.into_iter().reduce(Problem::and).unwrap_or_else(of_no_kind))
    }

    /// What is wrong with a body, or with none: it is chosen by its fixed words even where it can be one thing only.
    pub(super) fn problem_of_body(&self, schema: &Value, body: Option<&Value>) -> Option<Problem> {
        let choice = json!({"anyOf": [schema]});
        let choice = if self.is_choice(schema) { schema } else { &choice };
        match body {
            Some(body) => self.problem(choice, body, Absent::Never),
            None => Some(Problem::expected(&self.words(choice), "undefined")),
        }
    }

    /// What is wrong with a value of a query.
    pub(super) fn problem_of_text(&self, schema: &Value, text: &str) -> Option<Problem> {
        let mut members = Vec::new();
        self.members(schema, &mut members);
        let number = javascript::number(text);
        members.iter_mut().for_each(|member| *member = self.resolved(member).0);
        let is_number = |member: &&Value| matches!(type_of(member), "integer" | "number");
        match members.iter().find(|member| is_number(member)) {
            Some(member)
                if type_of(member) == "integer" && number.is_none_or(|n| n.fract() != 0.0 || !is_safe(n)) =>
            {
                Some(Problem::expected("an integer", &number.map_or("NaN".to_owned(), number_text)))
            }
            Some(member) => range_problem(member, number?),
            None => {
                // Only texts can stand in a query.
                members.retain(|member| type_of(member) == "string");
                let words: Vec<String> = members.iter().map(|member| self.words(member)).collect();
                let value = json!(text);
                let problems: Vec<Problem> =
                    members.iter().filter_map(|member| self.problem_inside(member, &value)).collect();
                match &problems[..] {
                    [problem] if problems.len() == members.len() => Some(problem.clone()),
                    [_, ..] if problems.len() == members.len() => {
                        Some(Problem::expected(&words.join(" | "), &js(&value)))
                    }
                    _ => None,
                }
            }
        }
    }

    /// A thing has its parts in a query, not itself.
    pub(super) fn thing_as_text(&self, schema: &Value, given: &[&str]) -> Option<Problem> {
        let value = if let [one] = given { json!(one) } else { json!(given) };
        let is_thing = type_of(self.resolved(schema).0) == "object" && !given.is_empty();
        is_thing.then(|| Problem::expected("object | undefined", &js(&value)))
    }

    /// A query that names a parameter more than once.
    pub(super) fn repeated(&self, schema: &Value, given: &[&str], is_required: bool) -> Problem {
        let mut members = Vec::new();
        self.members(schema, &mut members);
        let mut words: Vec<String> = members
            .iter()
            .filter(|member| type_of(member) != "boolean")
            .map(|member| if type_of(member) == "string" { self.words(member) } else { "string".to_owned() })
            .collect();
        if !is_required {
            words.push(Absent::Undefined.word().to_owned());
        }
        Problem::expected(&words.join(" | "), &json!(given).to_string())
    }

    /// The schemas of which a value must fit one. A choice within a choice is one of them.
    pub(super) fn members<'a>(&'a self, schema: &'a Value, members: &mut Vec<&'a Value>) {
        match choices(self.resolved(schema).0) {
            Some(inner) => members.extend(inner),
            None => members.push(schema),
        }
    }

    pub(super) fn is_choice(&self, schema: &Value) -> bool {
        choices(self.resolved(schema).0).is_some()
    }

    /// Is a value of this schema's kind? A thing with fixed words is of its kind by one of them.
    pub(super) fn could_be(&self, schema: &Value, value: &Value) -> bool {
        let (inner, _) = self.resolved(schema);
        if let Some(choices) = choices(inner) {
            return choices.iter().any(|choice| is_of_kind(self.resolved(choice).0, value));
        }
        let mut words = self.fixed_words(inner).peekable();
        let is_named = words.peek().is_none() || words.any(|(name, word)| value[name] == *word);
        is_of_kind(inner, value) && is_named
    }

    /// The properties that can have one value only.
    fn fixed_words<'a>(&'a self, schema: &'a Value) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let properties = schema["properties"].as_object().into_iter().flatten();
        properties.filter_map(|(name, property)| {
            let [word] = &property["enum"].as_array()?[..] else { return None };
            let is_word = word.is_string() || word.is_boolean();
            (is_word && is_required(schema, name)).then_some((name.as_str(), word))
        })
    }

    /// What is wrong with a value of the right kind.
    fn problem_inside(&self, named: &Value, value: &Value) -> Option<Problem> {
        let (schema, _) = self.resolved(named);
        if let Some(words) = schema["enum"].as_array() {
            let told = if is_spelled_out(self.server, self.resolved(named).1) { schema } else { named };
            return (!words.contains(value)).then(|| Problem::expected(&self.words(told), &js(value)));
        }
        match value {
            Value::Object(map) => self.problem_in_object(schema, map),
            Value::Array(items) => {
                let item = |(place, item)| {
                    Some(self.problem(schema.get("items")?, item, Absent::Never)?.at_item(place))
                };
                let inside = items.iter().enumerate().find_map(item);
                inside.or_else(|| length_problem(schema, ["minItems", "maxItems"], items.len(), value))
            }
            Value::String(text) => {
                let length = units(text);
                length_problem(schema, ["minLength", "maxLength"], length, value)
                    .or_else(|| pattern_problem(schema, text))
            }
            Value::Number(number) => {
                let number = number.as_f64()?;
                let is_integer = type_of(schema) != "integer" || number.fract() == 0.0;
                if is_integer {
                    range_problem(schema, number)
                } else {
                    Some(Problem::expected("an integer", &js(value)))
                }
            }
            Value::Null | Value::Bool(_) => None,
        }
    }

    fn problem_in_object(&self, schema: &Value, map: &Map<String, Value>) -> Option<Problem> {
        let empty = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&empty);
        for (name, property) in properties {
            let required = is_required(schema, name);
            let problem = match map.get(name) {
                None if required => Some(Problem::missing()),
                None => None,
                Some(value) => {
                    let absent = if required { Absent::Never } else { Absent::of(property) };
                    let is_nothing = matches!(absent, Absent::Null | Absent::NullTwice) && value.is_null();
                    if is_nothing { None } else { self.problem(property, value, absent) }
                }
            };
            if let Some(problem) = problem {
                return Some(problem.at(name));
            }
        }
        let others = schema.get("additionalProperties").filter(|others| others.is_object())?;
        let is_other = |(name, value): &(&String, &Value)| {
            !(properties.contains_key(*name) || value.is_null() && others[NULLABLE] == true)
        };
        let other =
            |(name, value): (&String, &Value)| Some(self.problem(others, value, Absent::Never)?.at(name));
        map.iter().filter(is_other).find_map(other)
    }

    /// What a schema asks for.
    fn words(&self, schema: &Value) -> String {
        let (inner, name) = self.resolved(schema);
        if let Some(name) = name {
            return spelled(name);
        }
        if let Some(members) = inner["anyOf"].as_array() {
            let mut words: Vec<String> = members.iter().map(|member| self.words_of_member(member)).collect();
            words.dedup();
            return words.join(" | ");
        }
        match inner["enum"].as_array() {
            Some(words) => words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | "),
            None if type_of(inner) == "integer" => "number".to_owned(),
            // What may be anything has to be something.
            None if type_of(inner).is_empty() => "JSON value".to_owned(),
            None => type_of(inner).to_owned(),
        }
    }

    /// A thing with a fixed word is told by it.
    fn words_of_member(&self, schema: &Value) -> String {
        let (inner, _) = self.resolved(schema);
        match self.fixed_words(inner).next() {
            Some((name, word)) => format!("{{ readonly {name:?}: {word}, ... }}"),
            None => self.words(schema),
        }
    }

    fn words_or(&self, schema: &Value, absent: Absent) -> String {
        match absent {
            Absent::Never => self.words(schema),
            _ => format!("{} | {}", self.words(schema), absent.word()),
        }
    }
}

impl Absent {
    /// What may be missing may be null as well, unless something else is known.
    fn of(property: &Value) -> Self {
        match property[ABSENT].as_str() {
            None => Self::Null,
            Some("never") => Self::Never,
            Some("undefined") => Self::Undefined,
            Some(_) => Self::NullTwice,
        }
    }

    /// The same, where a file says it.
    pub(super) fn in_file(property: &Value) -> Self {
        match Self::of(property) {
            Self::Null => Self::Undefined,
            Self::NullTwice => Self::NullOrUndefined,
            other => other,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Never => "",
            Self::Null => "null",
            Self::Undefined => "undefined",
            Self::NullTwice => "null | null",
            Self::NullOrUndefined => "null | undefined",
        }
    }
}

/// What a value can be, where it is one of several things.
fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array())
}

fn is_of_kind(schema: &Value, value: &Value) -> bool {
    match type_of(schema) {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" | "number" => value.is_number(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn type_of(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|one| one == name))
}

fn is_safe(number: f64) -> bool {
    const MAX: f64 = 9_007_199_254_740_991.0;
    number.abs() <= MAX
}

pub(super) fn js(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => number_text(number),
        None => value.to_string(),
    }
}
