//! A value against a schema, and what is wrong with it in the words of the real servers. They stop at the first thing,
//! in the order of the schema.

use crate::javascript;
use serde_json::{Map, Value, json};

/// The named schemas of a `/doc`.
#[derive(Debug)]
pub(super) struct Schemas(Map<String, Value>);

/// These have a name in `/doc` alone: what a client sends for them is made into something else, which has the name.
const NAMELESS: &[&str] = &["AgentConfig", "PermissionConfig"];

/// What may stand for a value that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// It must be there.
    Never,
    /// In JSON.
    Null,
    /// In a query.
    Undefined,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    what: String,
    /// From the outside in.
    path: Vec<Value>,
}

impl Problem {
    pub(super) fn missing() -> Self {
        Self { what: "Missing key".to_owned(), path: Vec::new() }
    }

    fn expected(expected: &str, got: &str) -> Self {
        Self { what: format!("Expected {expected}, got {got}"), path: Vec::new() }
    }

    /// The same, in a thing of this name.
    pub(super) fn at(mut self, name: &str) -> Self {
        self.path.insert(0, json!(name));
        self
    }

    fn at_item(mut self, place: usize) -> Self {
        self.path.insert(0, json!(place));
        self
    }

    pub(super) fn message(&self) -> String {
        if self.path.is_empty() {
            return self.what.clone();
        }
        let path: String = self.path.iter().map(|key| format!("[{key}]")).collect();
        format!("{}\n  at {path}", self.what)
    }
}

impl Schemas {
    pub(super) fn of(doc: &Value) -> Self {
        Self(super::named_schemas(doc))
    }

    /// The schema that is meant, and its name if messages tell it by that.
    fn resolved<'a>(&'a self, schema: &'a Value) -> (&'a Value, Option<&'a str>) {
        let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        match name.and_then(|name| self.0.get_key_value(name)) {
            Some((name, schema)) => (schema, Some(name.as_str()).filter(|name| !NAMELESS.contains(name))),
            None => (schema, None),
        }
    }

    /// The names of a schema's properties.
    pub(super) fn fields(&self, schema: &Value) -> Vec<String> {
        let properties = self.resolved(schema).0["properties"].as_object();
        properties.into_iter().flat_map(serde_json::Map::keys).cloned().collect()
    }

    /// A value with its properties in the schema's order.
    pub(super) fn in_order(&self, schema: &Value, value: Value) -> Value {
        let mut members = Vec::new();
        self.members(schema, &mut members);
        let Some(member) = members.into_iter().find(|member| self.could_be(member, &value)) else {
            return value;
        };
        let (schema, _) = self.resolved(member);
        match value {
            Value::Object(mut fields) => {
                let known = schema["properties"].as_object();
                let known = known.into_iter().flatten().map(|(name, inner)| (name.clone(), inner));
                let mut ordered: Map<String, Value> = known
                    .filter_map(|(name, inner)| {
                        let value = fields.shift_remove(&name)?;
                        Some((name, self.in_order(inner, value)))
                    })
                    .collect();
                let others = &schema["additionalProperties"];
                ordered.extend(fields.into_iter().map(|(name, value)| (name, self.in_order(others, value))));
                Value::Object(ordered)
            }
            Value::Array(items) => {
                items.into_iter().map(|item| self.in_order(&schema["items"], item)).collect()
            }
            other => other,
        }
    }

    /// What is wrong with a value.
    pub(super) fn problem(&self, schema: &Value, value: &Value, absent: Absent) -> Option<Problem> {
        let mut members = Vec::new();
        self.members(schema, &mut members);
        // A schema with a name is asked as one thing; only what is of no kind that it knows could have been nothing.
        let is_known_kind = members.iter().any(|member| is_of_kind(self.resolved(member).0, value));
        let absent = if self.resolved(schema).1.is_some() && is_known_kind { Absent::Never } else { absent };
        members.retain(|member| self.could_be(member, value));
        let mut first = None;
        for member in members {
            match self.problem_inside(member, value) {
                None => return None,
                Some(problem) => {
                    first.get_or_insert(problem);
                }
            }
        }
        first.or_else(|| Some(Problem::expected(&self.words_or(schema, absent), &js(value))))
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
                Some(Problem::expected("an integer", &number.map_or("NaN".to_owned(), js_number_text)))
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

    /// A request without its body.
    pub(super) fn no_body(&self, schema: &Value) -> Problem {
        Problem::expected(&self.words_or(schema, Absent::Never), "undefined")
    }

    /// The schemas of which a value must fit one.
    fn members<'a>(&'a self, schema: &'a Value, members: &mut Vec<&'a Value>) {
        let (inner, _) = self.resolved(schema);
        match inner["anyOf"].as_array().or_else(|| inner["oneOf"].as_array()) {
            Some(inner) => inner.iter().for_each(|member| self.members(member, members)),
            None => members.push(schema),
        }
    }

    /// Is a value of this schema's kind? A thing with a fixed word is of its kind by that word.
    fn could_be(&self, schema: &Value, value: &Value) -> bool {
        let (schema, _) = self.resolved(schema);
        let has_word = |(name, word): (&str, &Value)| value[name] == *word;
        is_of_kind(schema, value) && self.fixed_words(schema).all(has_word)
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
            return (!words.contains(value)).then(|| Problem::expected(&self.words(named), &js(value)));
        }
        match value {
            Value::Object(map) => self.problem_in_object(schema, map),
            Value::Array(items) => {
                let item = |(place, item)| {
                    Some(self.problem(schema.get("items")?, item, Absent::Never)?.at_item(place))
                };
                items.iter().enumerate().find_map(item)
            }
            Value::String(text) => {
                let start = schema["pattern"].as_str()?.strip_prefix('^')?.trim_end_matches(".*");
                let is_plain = start.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let expected = format!("a string starting with {start:?}");
                (is_plain && !text.starts_with(start)).then(|| Problem::expected(&expected, &js(value)))
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
                // What may be missing may be null as well, unless it is marked.
                Some(Value::Null) if !required && property.get(STRICT).is_none() => None,
                Some(value) => {
                    let is_sure = required || property.get(STRICT).is_some();
                    self.problem(property, value, if is_sure { Absent::Never } else { Absent::Null })
                }
            };
            if let Some(problem) = problem {
                return Some(problem.at(name));
            }
        }
        let others = schema.get("additionalProperties").filter(|others| others.is_object())?;
        let other =
            |(name, value): (&String, &Value)| Some(self.problem(others, value, Absent::Never)?.at(name));
        map.iter().filter(|(name, _)| !properties.contains_key(*name)).find_map(other)
    }

    /// What a schema asks for.
    fn words(&self, schema: &Value) -> String {
        let (inner, name) = self.resolved(schema);
        if let Some(name) = name {
            return spelled(name);
        }
        if let Some(members) = inner["anyOf"].as_array() {
            return members.iter().map(|member| self.words_of_member(member)).collect::<Vec<_>>().join(" | ");
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
            // A thing with a fixed word of its own is told by it, unless it has a name.
            Absent::Never if self.resolved(schema).1.is_none() => match schema.get("anyOf") {
                None => self.words_of_member(schema),
                Some(_) => self.words(schema),
            },
            Absent::Never => self.words(schema),
            _ => format!("{} | {}", self.words(schema), absent.word()),
        }
    }
}

impl Absent {
    fn word(self) -> &'static str {
        match self {
            Self::Never => "",
            Self::Null => "null",
            Self::Undefined => "undefined",
        }
    }
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

fn range_problem(schema: &Value, number: f64) -> Option<Problem> {
    let limit = |key: &str| schema[key].as_f64();
    let told = |words: &str, limit: f64| {
        Some(Problem::expected(
            &format!("a value {words} {}", js_number_text(limit)),
            &js_number_text(number),
        ))
    };
    match (limit("minimum"), limit("exclusiveMinimum"), limit("maximum")) {
        (Some(min), _, _) if number < min => told("greater than or equal to", min),
        (_, Some(min), _) if number <= min => told("greater than", min),
        (_, _, Some(max)) if number > max => told("less than or equal to", max),
        _ => None,
    }
}

/// Marks what may be missing, but may not be null.
pub(super) const STRICT: &str = "x-strict";

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

fn spelled(name: &str) -> String {
    let dotted = DOTTED.iter().find(|dotted| dotted.replace('.', "") == name);
    dotted.copied().unwrap_or(name).to_owned()
}

fn is_safe(number: f64) -> bool {
    const MAX: f64 = 9_007_199_254_740_991.0;
    number.abs() <= MAX
}

fn js_number_text(number: f64) -> String {
    format!("{number}")
}

fn js(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => js_number_text(number),
        None => value.to_string(),
    }
}
