//! A tool server of the marketplace becomes one of the settings: which of several ways to install it, with what a
//! person has filled in, in the server's own form.

use crate::{javascript, no_json};
use serde_json::{Map, Value, json};

/// The parameter that names the way.
const METHOD: &str = "__method";

/// What is written into the settings; nothing where there is nothing to install.
pub(super) fn settings(content: &Value, parameters: &Value) -> Result<Option<Value>, String> {
    let method = parameters[METHOD].as_str();
    let text = match content {
        Value::Array(ways) => {
            let chosen = method.and_then(|name| ways.iter().find(|way| way["name"] == name));
            chosen.or(ways.first()).and_then(|way| way["content"].as_str())
        }
        other => other.as_str(),
    };
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let filled = filled(text, parameters);
    match javascript::parse(filled.as_bytes()) {
        Some(server) => Ok(Some(in_own_form(server))),
        None => Err(no_json::why(&filled).unwrap_or_else(|| "JSON Parse error".to_owned())),
    }
}

/// `{{name}}` and `${name}` stand for what a person has said, within the quotes of a JSON text.
fn filled(text: &str, parameters: &Value) -> String {
    let said = parameters.as_object().into_iter().flatten().filter(|(name, _)| *name != METHOD);
    said.fold(text.to_owned(), |text, (name, value)| {
        let mut word = if value.is_null() { String::new() } else { javascript::text_of(value) };
        for (letter, told) in [('\\', "\\\\"), ('"', "\\\""), ('\n', "\\n"), ('\r', "\\r"), ('\t', "\\t")] {
            word = word.replace(letter, told);
        }
        text.replace(&format!("{{{{{name}}}}}"), &word).replace(&format!("${{{name}}}"), &word)
    })
}

/// Other programs write `command` and `args`, or a `url` alone.
fn in_own_form(server: Value) -> Value {
    let Some(fields) = server.as_object() else { return server };
    if ["local", "remote"].iter().any(|kind| server["type"] == *kind) {
        return server;
    }
    let copied = |own: &mut Map<String, Value>, names: &[&str]| {
        let known = names.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?.clone())));
        own.extend(known);
    };
    let filled = |name: &str| fields.get(name).filter(|value| value.is_object() || value.is_array()).cloned();
    let mut own = Map::new();
    if let Some(url) = server["url"].as_str() {
        own.extend([("type".to_owned(), json!("remote")), ("url".to_owned(), json!(url))]);
        own.extend(filled("headers").map(|headers| ("headers".to_owned(), headers)));
        copied(&mut own, &["enabled", "timeout", "oauth"]);
    } else if let Some(program) = server["command"].as_str() {
        let words = server["args"].as_array().into_iter().flatten().filter(|word| word.is_string()).cloned();
        let line: Vec<Value> = std::iter::once(json!(program)).chain(words).collect();
        own.extend([("type".to_owned(), json!("local")), ("command".to_owned(), json!(line))]);
        let environment = filled("env").filter(|env| env.as_object().is_none_or(|env| !env.is_empty()));
        own.extend(environment.map(|environment| ("environment".to_owned(), environment)));
        copied(&mut own, &["enabled", "timeout"]);
    } else {
        return server;
    }
    Value::Object(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_written_in_the_settings_own_form() {
        let text =
            r#"{"command":"run-{{what}}","args":["a",1],"env":{"K":"${key}"},"enabled":false,"odd":1}"#;
        let said = json!({"what": "the \"x\"", "key": 7, "__method": "none"});
        let own = json!({
            "type": "local", "command": ["run-the \"x\"", "a"], "environment": {"K": "7"}, "enabled": false,
        });
        assert_eq!(settings(&json!(text), &said), Ok(Some(own)));
        let remote = json!(r#"{"url":"http://x","headers":{"a":"b"},"oauth":false,"env":{}}"#);
        let own = json!({"type": "remote", "url": "http://x", "headers": {"a": "b"}, "oauth": false});
        assert_eq!(settings(&remote, &Value::Null), Ok(Some(own)));
        for as_it_is in [json!({"type": "local", "command": ["x"]}), json!({"foo": 1}), json!(7)] {
            assert_eq!(settings(&json!(as_it_is.to_string()), &Value::Null), Ok(Some(as_it_is)));
        }
    }

    #[test]
    fn one_of_several_ways_is_chosen_by_its_name() {
        let ways = json!([{"name": "one", "content": "1"}, {"name": "two", "content": "2"}]);
        assert_eq!(settings(&ways, &json!({"__method": "two"})), Ok(Some(json!(2))));
        assert_eq!(settings(&ways, &json!({"__method": "three"})), Ok(Some(json!(1))));
        assert_eq!(settings(&json!([]), &Value::Null), Ok(None));
        assert_eq!(settings(&json!(""), &Value::Null), Ok(None));
        assert_eq!(settings(&json!("{nope"), &Value::Null), Err("JSON Parse error: Expected '}'".to_owned()));
    }
}
