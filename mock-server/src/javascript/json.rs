//! JSON as the servers read it: to JavaScript `1.0` is `1`, a whole number beyond 2^53 is the nearest one that it has,
//! half a letter is a letter that nobody knows, and names that are numbers come first.

use serde_json::{Map, Number, Value};

/// Up to here each whole number is one of its own.
const WHOLE: f64 = 9_007_199_254_740_992.0;
/// From here on numbers are told with their power of ten.
const HUGE: i32 = 21;
/// Below here, too.
const TINY: i32 = -7;

/// What a text is, if it is JSON.
pub(crate) fn parse(bytes: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(bytes);
    let mut value: Value = match serde_json::from_str(&text) {
        Ok(value) => value,
        Err(_) => serde_json::from_str(&without_halves(&text)?).ok()?,
    };
    settle(&mut value);
    Some(value)
}

/// A number as JavaScript tells it.
pub(crate) fn number_text(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return if number == 0.0 { "0".to_owned() } else { format!("{number}").replace("inf", "Infinity") };
    }
    let told = format!("{number:e}");
    let (digits, power) = told.split_once('e').unwrap_or((&told, "0"));
    match power.parse::<i32>() {
        Ok(power) if power >= HUGE => format!("{digits}e+{power}"),
        Ok(power) if power <= TINY => format!("{digits}e{power}"),
        _ => format!("{number}"),
    }
}

fn settle(value: &mut Value) {
    match value {
        Value::Number(number) => *number = settled(number),
        Value::Array(items) => items.iter_mut().for_each(settle),
        Value::Object(fields) => settle_fields(fields),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Fields that were not read from JSON, as if they had been.
pub(crate) fn settle_fields(fields: &mut Map<String, Value>) {
    fields.values_mut().for_each(settle);
    numbers_first(fields);
}

/// Names that are numbers come first, in their order.
fn numbers_first(fields: &mut Map<String, Value>) {
    let place = |name: &str| name.parse::<u32>().ok().filter(|at| *at < u32::MAX && at.to_string() == name);
    if !fields.keys().any(|name| place(name).is_some()) {
        return;
    }
    let (mut first, rest): (Vec<_>, Vec<_>) =
        std::mem::take(fields).into_iter().partition(|(name, _)| place(name).is_some());
    first.sort_by_key(|(name, _)| place(name));
    fields.extend(first.into_iter().chain(rest));
}

fn settled(number: &Number) -> Number {
    let Some(float) = number.as_f64() else { return number.clone() };
    if float.fract() != 0.0 || !number.is_f64() && float.abs() < WHOLE {
        return number.clone();
    }
    let told = number_text(float);
    let whole = told.parse::<i64>().map(Number::from).or_else(|_| told.parse::<u64>().map(Number::from));
    whole.unwrap_or_else(|_| Number::from_f64(float).unwrap_or_else(|| number.clone()))
}

/// A JSON text in which no escaped half of a letter stands alone; none if it has no halves.
fn without_halves(text: &str) -> Option<String> {
    let half = |at: usize| -> Option<u16> {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok().filter(|unit| (0xd800..=0xdfff).contains(unit))
    };
    let (mut whole, mut at, mut found) = (String::with_capacity(text.len()), 0, false);
    while at < text.len() {
        let rest = &text[at..];
        let length = match (half(at), half(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(_), _) => {
                whole.push_str("\\ufffd");
                (at, found) = (at + 6, true);
                continue;
            }
            // What is escaped is no beginning of an escape.
            _ if rest.starts_with('\\') => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        whole.push_str(&rest[..length]);
        at += length;
    }
    found.then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::{number_text, parse};
    use proptest::prelude::*;

    fn told(text: &str) -> String {
        parse(text.as_bytes()).map_or("nothing".to_owned(), |value| value.to_string())
    }

    #[test]
    fn numbers_are_those_of_javascript() {
        assert_eq!(told("[0.0, -0.0, 1.0, 1e3, 0.5, 7]"), "[0,0,1,1000,0.5,7]");
        assert_eq!(
            told("[9007199254740993, 12345678901234567890]"),
            "[9007199254740992,12345678901234567000]"
        );
        assert_eq!(told(r#"{"a": {"b": [2.0]}}"#), r#"{"a":{"b":[2]}}"#);
        assert_eq!(
            told(r#"{"b": 1, "10": 1, "02": 1, "9": 1, "4294967295": 1}"#),
            r#"{"9":1,"10":1,"b":1,"02":1,"4294967295":1}"#
        );
    }

    #[test]
    fn numbers_are_told_as_javascript_tells_them() {
        let told: Vec<String> =
            [0.0, -0.0, 1.5, 1e-6, 1.5e-7, 2.589_041_988_477_783_3e-42, 1e20, 1e21, -2.5e30, f64::INFINITY]
                .map(number_text)
                .into();
        let expected =
            "0 0 1.5 0.000001 1.5e-7 2.5890419884777833e-42 100000000000000000000 1e+21 -2.5e+30 Infinity";
        assert_eq!(told.join(" "), expected);
    }

    #[test]
    fn half_a_letter_is_a_letter_all_the_same() {
        assert_eq!(
            told(r#"["\ud800x", "\ud83d\ude00", "\\ud800"]"#),
            "[\"\u{fffd}x\",\"\u{1f600}\",\"\\\\ud800\"]"
        );
        assert_eq!(told(r#"["\ud83d\ud83d\ude00"]"#), "[\"\u{fffd}\u{1f600}\"]");
        assert_eq!(told("[1"), "nothing");
    }

    proptest! {
        #[test]
        fn nothing_is_too_odd_to_be_read(text in r#"[\[\]{}",:\\uda-f0-9é ]{0,40}"#) {
            let once = parse(text.as_bytes());
            let again = once.as_ref().and_then(|value| parse(value.to_string().as_bytes()));
            prop_assert_eq!(once, again);
        }
    }
}
