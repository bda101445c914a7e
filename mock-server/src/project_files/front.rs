//! Markdown with fields before it, as people write agents, commands and skills: `---`, YAML, `---`, text.

use regex::Regex;
use serde_json::{Map, Number, Value};
use std::sync::LazyLock;
use yaml_rust2::{Yaml, YamlLoader};

/// A file, taken apart.
#[derive(Debug, PartialEq)]
pub(super) struct Front {
    pub(super) fields: Map<String, Value>,
    pub(super) text: String,
}

#[expect(clippy::unwrap_used, reason = "the pattern is a constant, and a test compiles it")]
static FIELD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^([A-Za-z_]\w*)\s*:\s*(.+)$").unwrap());

impl Front {
    /// Who can't read the fields takes all for text.
    pub(super) fn read_or_take(text: &str) -> Self {
        Self::read(text).unwrap_or_else(|| Self { fields: Map::new(), text: text.to_owned() })
    }

    /// `None` when the fields are none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        let Some(rest) = text.strip_prefix("---").filter(|rest| rest.starts_with('\n')) else {
            return Some(Self { fields: Map::new(), text });
        };
        let (head, text) = rest.split_once("\n---").unwrap_or((rest, ""));
        let fields = fields(head).or_else(|| fields(&in_blocks(head)))?;
        Some(Self { fields, text: text.strip_prefix('\n').unwrap_or(text).to_owned() })
    }
}

/// The fields of a text that is all fields.
pub(super) fn fields(head: &str) -> Option<Map<String, Value>> {
    match YamlLoader::load_from_str(head).ok()?.first().map(told) {
        Some(Some(Value::Object(fields))) => Some(fields),
        Some(Some(Value::Null)) | None => Some(Map::new()),
        Some(_) => None,
    }
}

/// People write colons into their sentences: such a line becomes a block, in which it may have them.
fn in_blocks(head: &str) -> String {
    let line = |line: &str| match FIELD.captures(line) {
        Some(found) if found[2].contains(':') && !found[2].starts_with(['"', '\'', '>', '|', '{', '[']) => {
            format!("{}: |-\n  {}\n", &found[1], &found[2])
        }
        _ => format!("{line}\n"),
    };
    head.lines().map(line).collect()
}

fn told(yaml: &Yaml) -> Option<Value> {
    Some(match yaml {
        Yaml::Real(text) => Value::Number(Number::from_f64(text.parse().ok()?)?),
        Yaml::Integer(number) => Value::from(*number),
        Yaml::String(text) => Value::from(text.as_str()),
        Yaml::Boolean(is) => Value::from(*is),
        Yaml::Array(all) => Value::Array(all.iter().map(told).collect::<Option<_>>()?),
        Yaml::Hash(all) => {
            let one = |(key, value): (&Yaml, &Yaml)| {
                let key = match told(key)? {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                Some((key, told(value)?))
            };
            Value::Object(all.iter().map(one).collect::<Option<_>>()?)
        }
        Yaml::Null => Value::Null,
        Yaml::Alias(_) | Yaml::BadValue => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_stand_before_the_text() {
        let front =
            Front::read("---\nname: x\nsteps: 5\ntop: 0.5\nhidden: true\nmore: [1, two]\n---\n\nText.\n")
                .unwrap();
        let fields = json!({"name": "x", "steps": 5, "top": 0.5, "hidden": true, "more": [1, "two"]});
        assert_eq!((Value::Object(front.fields), front.text.as_str()), (fields, "\nText.\n"));
        assert_eq!(Front::read("Only text.\n").unwrap().text, "Only text.\n");
    }

    #[test]
    fn a_sentence_may_have_a_colon() {
        let front = Front::read("---\nname: one\ndescription: The first: with a colon\n---\nOne.\n").unwrap();
        assert_eq!(front.fields["description"], "The first: with a colon");
        assert_eq!(Front::read("---\n[1, 2\n---\nNo.\n"), None);
    }
}
