//! An agent that a person makes in Kilo's settings (`/agent-builder`): the file that it becomes, shown or written into
//! the project, and taken away again.

use super::routes::body_of;
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, ReplyBody, Ticket, World};
use crate::target::unescaped;
use serde_json::{Map, Value, json};

/// The fields that are written, in their order; of `permission` more is said.
const FIELDS: &[&str] = &["description", "mode", "model", "color", "steps"];

const NOWHERE: &str = "no agent file found on disk";

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
            _ => {
                let file = AgentFile { ticket: request.ticket, directory, told };
                let at_home = path.strip_prefix(&format!("{}/", self.config.home)).filter(|_| is_global);
                let wish = match at_home {
                    Some(path) => PlaceWish::Keep { path: path.to_owned(), content },
                    None => PlaceWish::Write { path, content },
                };
                self.ask_place(PlaceAsk::AgentFile(file), wish);
            }
        }
        Some(())
    }

    /// `POST /kilocode/agent/remove`: its file goes, or its entry in the settings. `None` when it is about something else.
    pub(super) fn remove_agent(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        if operation != "kilocode.removeAgent" {
            return None;
        }
        let body = body_of(request);
        let name = body["name"].as_str().unwrap_or_default().to_owned();
        match self.agents_in(&self.directory_of(request)).named(&name) {
            None => self.keeps_agent(request.ticket, "agent not found"),
            Some(agent) if agent.is_native => self.keeps_agent(request.ticket, "cannot remove native agent"),
            Some(_) if body["scope"] == "global" => {
                let folders = vec![format!("{}/.config/{}", self.config.home, self.profile.server.word())];
                let ask = PlaceAsk::AgentGone(request.ticket, self.directory_of(request));
                self.ask_place(ask, PlaceWish::ForgetAgent { name, folders, settings: Vec::new() });
            }
            Some(_) => {
                let directory = self.directory_of(request);
                let project = self.project_folder(&directory);
                let below = |folder: &str, names: &[&str]| -> Vec<String> {
                    names.iter().map(|name| format!("{folder}/{name}")).collect()
                };
                let folders = below(&project, self.profile.settings_folders);
                let mut settings = below(&project, self.profile.project_settings);
                settings
                    .extend(folders.iter().flat_map(|folder| below(folder, self.profile.folder_settings)));
                let ask = PlaceAsk::AgentGone(request.ticket, directory);
                self.ask_place(ask, PlaceWish::ForgetAgent { name, folders, settings });
            }
        }
        Some(())
    }

    /// It was taken out of these files, if of any.
    pub(super) fn agent_gone(&mut self, ticket: Ticket, directory: &str, files: &[String]) {
        if files.is_empty() {
            return self.keeps_agent(ticket, NOWHERE);
        }
        self.reply_json(ticket, json!(true));
        self.dispose(directory);
    }

    fn keeps_agent(&mut self, ticket: Ticket, why: &str) {
        let body = json!({"_tag": "InvalidRequestError", "message": why});
        self.reply(ticket, 400, ReplyBody::Json(body));
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
