//! YAML as the servers' library writes it: plain where that is read as the same, in blocks where there are several lines,
//! long lines folded at a space.

use regex::Regex;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::sync::LazyLock;

/// No line is longer, if it can be helped.
const WIDTH: usize = 80;
/// So much stands in a line, however deep it is.
const CONTENT_MIN: usize = 20;

/// What would be read as something else than a text.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test compiles it")]
static NO_TEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(~|[Nn]ull|NULL|[Tt]rue|TRUE|[Ff]alse|FALSE|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?[0-9]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.nan|\.NaN|\.NAN)?$",
    )
    .unwrap()
});
/// What means something in YAML.
#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test compiles it")]
static SIGNS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^[\n\t ,\[\]{}#&*!|>'"%@`]|^[?-]$|^[?-][ \t]|[\n:][ \t]|[ \t]\n|[\n\t ]#|[\n\t :-]$"#)
        .unwrap()
});

/// The fields, each in lines of its own.
pub(super) fn text(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_fields(&mut text, fields, 0);
    text
}

fn write_fields(text: &mut String, fields: &Map<String, Value>, depth: usize) {
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            text.push_str(&" ".repeat(depth));
        }
        let name = scalar(name, 0, 0, true);
        let column = depth + name.chars().count() + 2;
        let _ = write!(text, "{name}:");
        write_value(text, value, (depth, column), "\n");
    }
}

/// What stands behind a name or the sign of a list's member. `between` separates it from what has lines of its own.
fn write_value(text: &mut String, value: &Value, (depth, column): (usize, usize), between: &str) {
    let inner = depth + 2;
    let lead = if between == "\n" { format!("\n{}", " ".repeat(inner)) } else { between.to_owned() };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push_str(&lead);
            write_fields(text, fields, inner);
        }
        Value::Array(members) if !members.is_empty() => {
            for (at, member) in members.iter().enumerate() {
                let lead = if at == 0 { lead.clone() } else { " ".repeat(inner) };
                let _ = write!(text, "{lead}-");
                write_value(text, member, (inner, inner + 2), " ");
            }
        }
        Value::String(word) => {
            let _ = writeln!(text, " {}", scalar(word, inner, column, false));
        }
        plain => {
            let _ = writeln!(text, " {plain}");
        }
    }
}

fn scalar(word: &str, depth: usize, column: usize, is_name: bool) -> String {
    let has_lines = word.contains('\n');
    if has_lines && !is_name && !word.starts_with([' ', '\t', '\n']) && !ends_in_blanks(word) {
        return block(word, depth);
    }
    let told = if has_lines || SIGNS.is_match(word) || NO_TEXT.is_match(word) {
        quoted(word)
    } else {
        word.to_owned()
    };
    if is_name { told } else { folded(&told, depth, column) }
}

fn ends_in_blanks(word: &str) -> bool {
    let trimmed = word.trim_end_matches([' ', '\t']);
    trimmed.len() < word.len() && trimmed.ends_with('\n')
}

fn quoted(word: &str) -> String {
    match word.contains('"') && !word.contains(['\'', '\n']) {
        true => format!("'{word}'"),
        false => Value::from(word).to_string(),
    }
}

/// Several lines, as they are; a sign says how many ends of lines there are behind them.
fn block(word: &str, depth: usize) -> String {
    let body = word.trim_end_matches('\n');
    let sign = match word.len() - body.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    let lines = word.strip_suffix('\n').unwrap_or(word).split('\n');
    let blank = " ".repeat(depth);
    let lines = lines.map(|line| if line.is_empty() { String::new() } else { format!("{blank}{line}") });
    format!("|{sign}\n{}", lines.collect::<Vec<_>>().join("\n"))
}

/// Breaks a long line at the last single space before its end.
fn folded(told: &str, depth: usize, column: usize) -> String {
    let letters: Vec<char> = told.chars().collect();
    let step = (1 + CONTENT_MIN).max((1 + WIDTH).saturating_sub(depth));
    if letters.len() <= step {
        return told.to_owned();
    }
    let (mut folds, mut split) = (Vec::new(), None);
    let mut end = WIDTH.saturating_sub(column);
    if column > WIDTH - CONTENT_MIN {
        folds.push(0);
        end = WIDTH.saturating_sub(depth);
    }
    let is_blank = |at: usize| matches!(letters.get(at), Some(' ' | '\t' | '\n'));
    for at in 0..letters.len() {
        if letters[at] == ' ' && at > 0 && !is_blank(at - 1) && at + 1 < letters.len() && !is_blank(at + 1) {
            split = Some(at);
        }
        if at >= end
            && let Some(at) = split.take()
        {
            folds.push(at);
            end = at + step;
        }
    }
    let mut text = String::new();
    let mut from = 0;
    for fold in folds {
        text.extend(&letters[from..fold]);
        let _ = write!(text, "\n{}", " ".repeat(depth));
        from = if fold == 0 { 0 } else { fold + 1 };
    }
    text.extend(&letters[from..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use yaml_rust2::{Yaml, YamlLoader};

    fn of(value: &Value) -> String {
        text(value.as_object().unwrap())
    }

    #[test]
    fn it_is_written_as_the_real_server_writes_it() {
        let value = json!({
            "s": "yes", "n": "1", "e": "", "m": "a\nb", "m2": "a\nb\n", "sp": " lead", "hash": "a # b", "col": "a: b", "dash": "- x", "tilde": "~",
            "q": "it's", "dq": "say \"x\"", "uni": "héé", "long": "word ".repeat(30), "date": "2020-01-01", "null": null, "f": 1.5,
            "arr": [], "obj": {}, "nest": [[1, 2], {"a": 1, "b": [2]}], "key with: colon": 1, "1": 2, "": 3, "colon_end": "a:", "comma": "a, b",
            "tr": "True", "hex": "0x1f", "plus": "+1", "bs": "a\\b", "url": "http://x", "longu": "x".repeat(100),
        });
        insta::assert_snapshot!(of(
            &json!({"description": format!("D {}", "long words ".repeat(12)), "options": value})
        ));
    }

    fn back(yaml: &Yaml) -> Value {
        match yaml {
            Yaml::Real(text) => json!(text.parse::<f64>().unwrap()),
            Yaml::Integer(number) => json!(number),
            Yaml::String(text) => json!(text),
            Yaml::Boolean(is_so) => json!(is_so),
            Yaml::Array(all) => all.iter().map(back).collect(),
            Yaml::Hash(all) => all
                .iter()
                .map(|(key, value)| (key.as_str().unwrap().to_owned(), back(value)))
                .collect::<Map<_, _>>()
                .into(),
            _ => Value::Null,
        }
    }

    fn words() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,12}( [a-z'\":#,-]{1,12}){0,20}",
            "[ -~]{0,30}",
            "([ -~]{0,20}\n){1,3}[a-z]?",
            "[-+.0-9ex~]{0,5}"
        ]
    }

    /// The reader of this test takes a plus and another sign for a number; YAML does not, nor does the servers' library.
    fn misleads_the_reader(word: &str) -> bool {
        word.starts_with("++") || word.starts_with("+-")
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_the_same(first in words(), second in words(), name in "[ -~]{1,12}") {
            prop_assume!([&first, &second, &name].iter().all(|word| !misleads_the_reader(word)));
            let value = json!({"k": first, "list": [second, {name: 1}], "deep": {"in": {"it": first}}});
            let told = of(&value);
            let read = YamlLoader::load_from_str(&told);
            prop_assert!(read.is_ok(), "{told}");
            prop_assert_eq!(back(&read.unwrap()[0]), value, "{}", told);
        }
    }
}
