//! What a fact has to look like: places in it, and what must stand there.
//!
//! A `$name` by itself gives a value its name, or is the value that has it; inside of a rule it is only the latter.

use fixtures::deviations::fits;
use fixtures::near_names::unknown;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What stands where. A place is a path with dots: `event.properties.sessionID`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Pattern(BTreeMap<String, Condition>);

/// The values that have a name in a claim, the same wherever the name stands.
pub type Names = BTreeMap<String, Value>;

/// What must stand at a place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Value")]
enum Condition {
    /// This; in a text `*` stands for anything, and alone for any value. Of an object all that is said is there.
    Is(Value),
    /// `$name`: the same as wherever this name stands.
    Named(String),
    /// `{ absent = true }`: nothing.
    Absent,
    /// `{ one_of = [ … ] }`: one of these.
    OneOf(Vec<Value>),
    /// `{ not = … }`: something else.
    Not(Value),
    /// `{ keys = [ … ] }`: an object with these keys and no others.
    Keys(Vec<String>),
    /// `{ has_keys = [ … ] }`: an object with these keys, among others.
    HasKeys(Vec<String>),
    /// `{ same_as = "place" }`: what stands at another place of the fact.
    SameAs(String),
    /// `{ contains = … }`: a list that has this; of an object all that is said.
    Contains(Value),
    /// `{ from = 1, to = 2 }`: a number in between, both ends among them.
    Between(f64, f64),
}

const WORDS: [&str; 9] = ["absent", "one_of", "not", "keys", "has_keys", "same_as", "contains", "from", "to"];

impl TryFrom<Value> for Condition {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            Value::String(text) => Ok(match text.strip_prefix('$') {
                Some(name) => Self::Named(name.to_owned()),
                None => Self::Is(Value::String(text)),
            }),
            Value::Object(rule) => Self::of_rule(rule),
            other => Ok(Self::Is(other)),
        }
    }
}

impl JsonSchema for Condition {
    fn schema_name() -> Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let rule = |word: &str, value: Value| json!({"type": "object", "properties": {word: value}, "required": [word], "additionalProperties": false});
        let number = json!({"type": "number"});
        json_schema!({
            "description": "What must stand at the place.",
            "anyOf": [
                {"type": ["string", "number", "boolean", "array"]},
                rule("absent", json!({"const": true})),
                rule("one_of", json!({"type": "array"})),
                rule("not", json!(true)),
                rule("keys", texts.clone()),
                rule("has_keys", texts),
                rule("same_as", json!({"type": "string"})),
                rule("contains", json!(true)),
                {"type": "object", "properties": {"from": number.clone(), "to": number}, "minProperties": 1, "additionalProperties": false},
            ],
        })
    }
}

impl Condition {
    fn of_rule(mut rule: Map<String, Value>) -> Result<Self, String> {
        if let Some(word) = rule.keys().find(|word| !WORDS.contains(&word.as_str())) {
            return Err(unknown("rule", word, &WORDS));
        }
        if rule.contains_key("from") || rule.contains_key("to") {
            let end = |word: &str, other: f64| rule.get(word).map_or(Some(other), Value::as_f64);
            let ends = (end("from", f64::NEG_INFINITY), end("to", f64::INFINITY));
            return match (ends, rule.keys().all(|word| word == "from" || word == "to")) {
                ((Some(from), Some(to)), true) => Ok(Self::Between(from, to)),
                _ => Err("'from' and 'to' are numbers and stand with no other rule".to_owned()),
            };
        }
        let Some((word, said)) = WORDS.iter().find_map(|word| rule.shift_remove_entry(*word)) else {
            return Err(format!("an empty rule; write one of: {}", WORDS.join(", ")));
        };
        if let Some(more) = rule.keys().next() {
            return Err(format!("'{word}' and '{more}' are two rules; a place has one"));
        }
        let wrong = || format!("'{word}' can't be {said}");
        match (word.as_str(), &said) {
            ("absent", Value::Bool(true)) => Ok(Self::Absent),
            ("not", _) => Ok(Self::Not(said)),
            ("contains", _) => Ok(Self::Contains(said)),
            ("same_as", Value::String(place)) => Ok(Self::SameAs(place.clone())),
            ("one_of", Value::Array(values)) => Ok(Self::OneOf(values.clone())),
            ("keys", Value::Array(keys)) => texts(keys).map(Self::Keys).ok_or_else(wrong),
            ("has_keys", Value::Array(keys)) => texts(keys).map(Self::HasKeys).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn holds(&self, found: Option<&Value>, whole: &Value, names: &mut Names) -> bool {
        match (self, found) {
            (Self::Absent, found) => found.is_none(),
            (_, None) => false,
            (Self::Is(value), Some(found)) => is(value, found, names),
            (Self::Not(value), Some(found)) => !is(value, found, names),
            (Self::Named(name), Some(found)) => match names.get(name) {
                Some(known) => known == found,
                None => {
                    names.insert(name.clone(), found.clone());
                    true
                }
            },
            (Self::OneOf(values), Some(found)) => values.iter().any(|value| is(value, found, names)),
            (Self::Keys(keys), Some(found)) => found.as_object().is_some_and(|found| {
                found.len() == keys.len() && keys.iter().all(|key| found.contains_key(key))
            }),
            (Self::HasKeys(keys), Some(found)) => {
                found.as_object().is_some_and(|found| keys.iter().all(|key| found.contains_key(key)))
            }
            (Self::SameAs(place), Some(found)) => at(whole, place) == Some(found),
            (Self::Contains(value), Some(found)) => {
                found.as_array().is_some_and(|found| found.iter().any(|found| is(value, found, names)))
            }
            (Self::Between(from, to), Some(found)) => {
                found.as_f64().is_some_and(|found| *from <= found && found <= *to)
            }
        }
    }
}

impl Pattern {
    /// Does a value look like this? Names that are new get their values.
    #[must_use]
    pub fn fits(&self, value: &Value, names: &mut Names) -> bool {
        let mut new = names.clone();
        let fits = self.0.iter().all(|(place, condition)| condition.holds(at(value, place), value, &mut new));
        if fits {
            *names = new;
        }
        fits
    }

    /// The places that are looked at.
    #[cfg(test)]
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Is nothing asked for?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What stands at a place.
#[must_use]
pub fn at<'a>(value: &'a Value, place: &str) -> Option<&'a Value> {
    place.split('.').try_fold(value, |value, part| match value {
        Value::Array(values) => values.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

/// Is a value what a claim says of it? A `$name` in what is said is the value that has the name already.
fn is(said: &Value, found: &Value, names: &Names) -> bool {
    match (said, found) {
        (Value::String(pattern), _) if pattern == "*" => true,
        (Value::String(pattern), found) => match (pattern.strip_prefix('$'), found) {
            (Some(name), _) => names.get(name) == Some(found),
            (None, Value::String(found)) => fits(pattern, found),
            (None, _) => false,
        },
        (Value::Number(said), Value::Number(found)) => said.as_f64() == found.as_f64(),
        (Value::Object(said), Value::Object(found)) => {
            said.iter().all(|(key, said)| found.get(key).is_some_and(|found| is(said, found, names)))
        }
        _ => said == found,
    }
}

fn texts(values: &[Value]) -> Option<Vec<String>> {
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn every_rule_takes_what_it_says_and_nothing_else() {
        let fact = serde_json::json!({
            "kind": "event", "n": 3, "yes": true, "list": ["a", {"id": 1, "x": 2}], "o": {"a": 1, "b": "one two"}, "c": 1,
        });
        for (text, expected) in [
            ("kind = 'event'", true),
            ("kind = 'events'", false),
            ("'o.b' = 'one*'", true),
            ("'o.b' = 'two*'", false),
            ("n = 3", true),
            ("n = 3.0", true),
            ("n = 4", false),
            ("n = '*'", true),
            ("m = '*'", false),
            ("yes = true", true),
            ("yes = false", false),
            ("'list.0' = 'a'", true),
            ("'list.2' = '*'", false),
            ("m = { absent = true }", true),
            ("n = { absent = true }", false),
            ("n = { one_of = [1, 3] }", true),
            ("n = { one_of = [1, 2] }", false),
            ("n = { not = 4 }", true),
            ("n = { not = 3 }", false),
            ("m = { not = 3 }", false),
            ("o = { keys = ['b', 'a'] }", true),
            ("o = { keys = ['a'] }", false),
            ("o = { has_keys = ['a'] }", true),
            ("o = { has_keys = ['c'] }", false),
            ("'o.a' = { same_as = 'c' }", true),
            ("'o.a' = { same_as = 'n' }", false),
            ("list = { contains = { id = 1 } }", true),
            ("list = { contains = { id = 2 } }", false),
            ("list = { contains = 'a' }", true),
            ("n = { from = 3, to = 3 }", true),
            ("n = { from = 3.5 }", false),
            ("n = { to = 2 }", false),
            ("kind = { from = 1 }", false),
        ] {
            assert_eq!(pattern(text).fits(&fact, &mut Names::new()), expected, "{text}");
        }
    }

    #[test]
    fn a_name_is_one_value_and_what_does_not_fit_names_nothing() {
        let mut names = Names::new();
        let a = serde_json::json!({"id": "a", "n": 1});
        assert!(!pattern("id = '$x'\nn = 2").fits(&a, &mut names));
        assert_eq!(names.len(), 0);
        assert!(pattern("id = '$x'").fits(&a, &mut names));
        assert!(!pattern("id = '$x'").fits(&serde_json::json!({"id": "b"}), &mut names));
        assert!(pattern("id = { not = '$x' }").fits(&serde_json::json!({"id": "b"}), &mut names));
        assert!(
            pattern("list = { contains = { id = '$x' } }")
                .fits(&serde_json::json!({"list": [a]}), &mut names)
        );
    }

    #[test]
    fn nonsense_is_told_with_its_mend() {
        let told = |text: &str| toml::from_str::<Pattern>(text).unwrap_err().message().to_owned();
        assert!(told("a = { keyz = [] }").starts_with("there is no rule 'keyz'; did you mean 'keys'?"));
        assert_eq!(
            told("a = { absent = true, not = 1 }"),
            "'absent' and 'not' are two rules; a place has one"
        );
        assert_eq!(told("a = { absent = false }"), "'absent' can't be false");
        assert_eq!(told("a = { keys = [1] }"), "'keys' can't be [1]");
        assert!(told("a = {}").starts_with("an empty rule; write one of: "));
        assert_eq!(told("a = { from = 'x' }"), "'from' and 'to' are numbers and stand with no other rule");
    }
}
