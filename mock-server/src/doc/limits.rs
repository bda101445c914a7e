//! How long a text, how large a number may be, and what a text must look like: the words for what is outside.

use super::Problem;
use super::schema::js;
use super::unwritten::BETWEEN;
use crate::javascript::number_text;
use regex::Regex;
use serde_json::{Value, json};

pub(super) fn length_problem(
    schema: &Value,
    [min, max]: [&str; 2],
    length: usize,
    value: &Value,
) -> Option<Problem> {
    // What begins with one thing at least is written with its limit before its items.
    let keys = schema.as_object().into_iter().flat_map(serde_json::Map::keys);
    let is_list_of_one = keys.take_while(|key| *key != "items").any(|key| key == "minItems");
    if is_list_of_one && length == 0 && schema.get("items").is_some() {
        return Some(Problem::missing().at_item(0));
    }
    let limit = |key: &str| schema[key].as_u64().and_then(|limit| usize::try_from(limit).ok());
    let expected = match (limit(min), limit(max)) {
        (Some(min), _) if length < min => format!("at least {min}"),
        (_, Some(max)) if length > max => format!("at most {max}"),
        _ => return None,
    };
    Some(Problem::expected(&format!("a value with a length of {expected}"), &js(value)))
}

pub(super) fn pattern_problem(schema: &Value, text: &str) -> Option<Problem> {
    let pattern = schema["pattern"].as_str()?;
    let start = pattern.strip_prefix('^').map(|start| start.trim_end_matches(".*"));
    let start = start.filter(|start| start.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    let (fits, expected) = match (start, schema["format"].as_str()) {
        (Some(start), _) => (text.starts_with(start), format!("a string starting with {start:?}")),
        (None, format) => {
            let fits = Regex::new(pattern).is_ok_and(|known| known.is_match(text));
            let told = format!("a string matching the RegExp {pattern}");
            (fits, if format == Some("uuid") { "a UUID".to_owned() } else { told })
        }
    };
    (!fits).then(|| Problem::expected(&expected, &js(&json!(text))))
}

pub(super) fn range_problem(schema: &Value, number: f64) -> Option<Problem> {
    let limit = |key: &str| schema[key].as_f64();
    let told = |words: &str, limit: f64| {
        Some(Problem::expected(&format!("a value {words} {}", number_text(limit)), &number_text(number)))
    };
    match (limit("minimum"), limit("exclusiveMinimum"), limit("maximum")) {
        (Some(min), _, Some(max)) if schema[BETWEEN] == true && !(min..=max).contains(&number) => {
            let expected = format!("a value between {} and {}", number_text(min), number_text(max));
            Some(Problem::expected(&expected, &number_text(number)))
        }
        (Some(min), _, _) if number < min => told("greater than or equal to", min),
        (_, Some(min), _) if number <= min => told("greater than", min),
        (_, _, Some(max)) if number > max => told("less than or equal to", max),
        _ => None,
    }
}
