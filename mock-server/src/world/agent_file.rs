//! An agent that a person makes in Kilo's settings (`/agent-builder`): the file that it becomes, shown or written into
//! the project.

use super::routes::body_of;
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, Ticket, World};
use crate::target::unescaped;
use serde_json::{Map, Value, json};

/// The fields that are written, in their order; of `permission` more is said.
const FIELDS: &[&str] = &["description", "mode", "model", "color", "steps"];

/// A file that is about to be written.
#[derive(Debug)]
pub(super) struct AgentFile {
    ticket: Ticket,
    directory: String,
    told: Value,
}

impl World {
    /// `POST /agent-builder/preview`, `PUT /agent-builder/{id}`. `None` when it is about something else.
    pub(super) fn about_agent_file(&mut self, request: &ApiRequest, operation: &str, id: &str) -> Option<()> {
        let body = body_of(request);
        let id = match operation {
            "agentBuilder.preview" => body["id"].as_str().unwrap_or_default().to_owned(),
            "agentBuilder.save" => unescaped(id),
            _ => return None,
        };
        let directory = self.directory_of(request);
        let is_global = body["scope"] == "global";
        let folder = match is_global {
            true => format!("{}/.config/{}", self.config.home, self.profile.server.word()),
            false => format!("{}/.kilo", self.project_folder(&directory)),
        };
        let path = format!("{folder}/agent/{id}.md");
        let content = markdown(&body);
        let scope = if is_global { "global" } else { "project" };
        let told = json!({"id": id, "scope": scope, "path": path, "markdown": content});
        match operation {
            "agentBuilder.preview" => self.reply_json(request.ticket, told),
            // What lies in the home is read once.
            _ if is_global => self.not_played(request),
            _ => {
                let file = AgentFile { ticket: request.ticket, directory, told };
                self.ask_place(PlaceAsk::AgentFile(file), PlaceWish::Write { path, content });
            }
        }
        Some(())
    }

    /// The agent is there with the next instance.
    pub(super) fn agent_file_kept(&mut self, file: AgentFile) {
        self.reply_json(file.ticket, file.told);
        self.dispose(&file.directory);
    }
}

/// The whole file: its fields as JSON, which is YAML as well, and its words.
fn markdown(body: &Value) -> String {
    let mut lines = vec!["---".to_owned()];
    for name in FIELDS {
        let value = match body.get(*name) {
            None | Some(Value::Null) if *name == "mode" => json!("primary"),
            None | Some(Value::Null) => continue,
            Some(value) => value.clone(),
        };
        lines.push(format!("{name}: {value}"));
    }
    let tools = body["tools"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut permission: Map<String, Value> = tools.map(|tool| (tool.to_owned(), json!("allow"))).collect();
    let said = body["permission"].as_object();
    permission.extend(said.cloned().unwrap_or_default());
    if said.is_some() || !permission.is_empty() {
        lines.push(format!("permission: {}", Value::Object(permission)));
    }
    let prompt = body["prompt"].as_str().unwrap_or_default().trim();
    format!("{}\n---\n{prompt}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_becomes_the_file_that_the_real_server_writes() {
        assert_eq!(markdown(&json!({"prompt": "Be mine."})), "---\nmode: \"primary\"\n---\nBe mine.\n");
        let full = json!({
            "prompt": "Two\n\nlines\n", "description": "A \"full\" one", "mode": "subagent", "steps": 5, "color": "#ff0000",
            "tools": ["read", "bash"], "permission": {"edit": "deny", "bash": {"*": "ask"}},
        });
        let told = "---\ndescription: \"A \\\"full\\\" one\"\nmode: \"subagent\"\ncolor: \"#ff0000\"\nsteps: 5\n\
                    permission: {\"read\":\"allow\",\"bash\":{\"*\":\"ask\"},\"edit\":\"deny\"}\n---\nTwo\n\nlines\n";
        assert_eq!(markdown(&full), told);
        assert!(markdown(&json!({"prompt": "x", "tools": [], "permission": {}})).contains("permission: {}"));
    }
}
