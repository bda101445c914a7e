//! The file of an agent that comes from the marketplace: its fields as YAML, and its words.

use super::yaml;
use serde_json::{Map, Value};

/// The fields, in the order in which they are written.
const FIELDS: [&str; 5] = ["mode", "description", "options", "permission", "requirements"];

pub(super) fn written(content: &Value) -> String {
    let field = |name: &&str| Some(((*name).to_owned(), content.get(*name)?.clone()));
    let fields: Map<String, Value> = FIELDS.iter().filter_map(field).collect();
    let prompt = content["prompt"].as_str().unwrap_or_default();
    format!("---\n{}\n---\n\n{prompt}\n", yaml::text(&fields).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_agent_becomes_the_file_that_the_real_server_writes() {
        let content = json!({
            "prompt": "Be kind.\nVery.", "description": "Helps: a \"lot\"", "mode": "subagent",
            "permission": {"edit": "deny", "bash": {"*": "ask"}}, "options": {"a": [1, {"b": true}]}, "odd": 1,
        });
        let told = "---\nmode: subagent\ndescription: 'Helps: a \"lot\"'\noptions:\n  a:\n    - 1\n    - b: true\n\
                    permission:\n  edit: deny\n  bash:\n    \"*\": ask\n---\n\nBe kind.\nVery.\n";
        assert_eq!(written(&content), told);
    }
}
