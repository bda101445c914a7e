//! Lines of a file that an address asks for, `?start=2&end=9`: the numbers are read as JavaScript reads them, and go to
//! the tool that reads files as they are.

use super::World;
use crate::profile::MisuseWords;
use serde_json::{Value, json};

/// What the tool is asked for; not a number where the address has none.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Range {
    offset: Option<f64>,
    limit: Option<f64>,
}

impl Range {
    /// The first line that is meant, and how many, as an address names first and last one.
    pub(super) fn of(url: &str) -> Self {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let number = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).map(whole_number)
        };
        let Some(start) = number("start") else { return Self::default() };
        let offset = if start.is_nan() { start } else { start.max(1.0) };
        let end = number("end").filter(|end| !end.is_nan() && *end != 0.0);
        Self { offset: Some(offset), limit: end.map(|end| end - (offset - 1.0)) }
    }

    /// The tool's input.
    pub(super) fn input(self, path: &str) -> Value {
        let mut input = json!({"filePath": path});
        for (key, value) in self.named() {
            // What is no number has no word in JSON.
            input[key] = if value.is_nan() { Value::Null } else { json!(whole(value)) };
        }
        input
    }

    /// Offset and limit for a reader that takes them.
    pub(super) fn lines(self) -> (Option<u64>, Option<u64>) {
        let count = |value: Option<f64>| value.and_then(|value| u64::try_from(whole(value)).ok());
        (count(self.offset), count(self.limit))
    }

    fn named(self) -> impl Iterator<Item = (&'static str, f64)> {
        [("offset", self.offset), ("limit", self.limit)]
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
    }

    /// What the tool says of numbers that are none.
    fn no_numbers(self, style: MisuseWords) -> Option<String> {
        let wrong: Vec<&str> = self.named().filter(|(_, value)| value.is_nan()).map(|(key, _)| key).collect();
        let first = wrong.first()?;
        let (integer, count) =
            ("Expected an integer, got NaN", "Expected a value greater than or equal to 0, got NaN");
        Some(match style {
            MisuseWords::First => format!("SchemaError({integer}\n  at [\"{first}\"])"),
            MisuseWords::All => {
                let lines = wrong.iter().map(|key| format!("[\"{key}\"]: {integer}\n[\"{key}\"]: {count}"));
                lines.collect::<Vec<_>>().join("\n")
            }
        })
    }
}

impl World {
    /// Why the tool takes no such range.
    pub(super) fn refuses_range(&self, range: Range, path: &str) -> Option<String> {
        let words = match range.no_numbers(self.profile.misuse) {
            Some(words) => words,
            None => super::tools::wrong_arguments("read", &range.input(path), self.profile.misuse),
        };
        (!words.is_empty()).then(|| super::tools::told_of_arguments("read", &words))
    }
}

/// The whole number that a text begins with.
fn whole_number(text: &str) -> f64 {
    let text = text.trim_start_matches([' ', '\t', '\n', '\r', '+']);
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits[..length].parse::<f64>().map_or(f64::NAN, |number| sign * number)
}

/// Addresses name lines of files, which are far from where numbers are not exact any more.
#[expect(clippy::cast_possible_truncation, reason = "what is too large is cut to the largest")]
fn whole(value: f64) -> i64 {
    value as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_line_become_offset_and_limit() {
        let lines = |query: &str| Range::of(&format!("file:///a{query}")).lines();
        assert_eq!(lines(""), (None, None));
        assert_eq!(lines("?start=2&end=9#x"), (Some(2), Some(8)));
        assert_eq!(lines("?end=9"), (None, None));
        assert_eq!(lines("?start=0&end=2"), (Some(1), Some(2)));
        assert_eq!(lines("?start=3&end=2"), (Some(3), Some(0)));
        assert_eq!(lines("?start=3x&end=0"), (Some(3), None));
    }

    #[test]
    fn numbers_that_are_none_are_told_as_the_tool_tells_them() {
        let range = Range::of("file:///a?start=x&end=2");
        assert_eq!(range.input("/a"), json!({"filePath": "/a", "offset": null, "limit": null}));
        let first = range.no_numbers(MisuseWords::First).unwrap();
        assert_eq!(first, "SchemaError(Expected an integer, got NaN\n  at [\"offset\"])");
        assert_eq!(range.no_numbers(MisuseWords::All).unwrap().lines().count(), 4);
        assert_eq!(Range::of("file:///a?start=1").no_numbers(MisuseWords::All), None);
        assert_eq!(Range::of("file:///a?start=9&end=3").input("/a")["limit"], -5);
    }
}
