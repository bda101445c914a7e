//! Which servers of tools can be tried at all, and who they are.

use super::{Address, Program, ToolServer};
use crate::world::{World, resolved};
use serde_json::Value;

/// Why a server can't be had, where that is known without trying.
pub(super) fn failure(name: &str, config: &Value, runs_programs: bool) -> Option<String> {
    if config["type"] == "remote" {
        let url = config["url"].as_str().unwrap_or_default();
        return (!is_url(url)).then(|| format!("Invalid MCP URL for \"{name}\""));
    }
    if config["command"][0].as_str().is_none() {
        return Some("The \"file\" argument must be of type string. Received undefined".to_owned());
    }
    (!runs_programs).then(|| {
        "standin starts servers of tools only in a folder of its own, or with --allow-shell".to_owned()
    })
}

/// A scheme and something behind it.
fn is_url(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
            && !rest.trim_start_matches('/').is_empty()
    })
}

impl World {
    /// Who is meant by the settings of a server.
    pub(super) fn tool_server(&self, directory: &str, config: &Value) -> ToolServer {
        let pairs = |said: &Value| -> Vec<(String, String)> {
            let said = said.as_object().into_iter().flatten();
            said.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
        };
        if config["type"] == "remote" {
            let url = config["url"].as_str().unwrap_or_default().to_owned();
            return ToolServer::Address(Address { url, headers: pairs(&config["headers"]) });
        }
        let command = config["command"].as_array().into_iter().flatten();
        let folder = config["cwd"].as_str().filter(|_| self.profile.servers_have_folders);
        ToolServer::Program(Program {
            command: command.filter_map(Value::as_str).map(str::to_owned).collect(),
            directory: folder.map_or_else(|| directory.to_owned(), |folder| resolved(directory, folder)),
            home: self.config.home.clone(),
            environment: pairs(&config["environment"]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_can_t_be_tried_fails_in_its_own_words() {
        let local = |command: Value| failure("x", &json!({"type": "local", "command": command}), true);
        assert_eq!(local(json!(["sh"])), None);
        assert!(local(json!([])).unwrap().ends_with("Received undefined"));
        assert!(failure("x", &json!({"command": ["sh"]}), false).unwrap().contains("--allow-shell"));
        let remote = |url: &str| failure("x", &json!({"type": "remote", "url": url}), true);
        assert_eq!(remote("nonsense").unwrap(), "Invalid MCP URL for \"x\"");
        assert_eq!(remote("http://127.0.0.1:1/mcp"), None);
    }
}
