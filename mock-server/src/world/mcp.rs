//! Servers of tools, as far as they can't be reached: the stand-in starts none and calls none. What the configuration
//! names is told to be disabled, to be missing, or to have hung up at once.

use super::routes::body_of;
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, ReplyBody, World};
use serde_json::{Map, Value, json};

/// The servers of an instance, by name.
#[derive(Debug, Default)]
pub(super) struct Servers(Map<String, Value>);

/// What a request about servers waits for: which programs there are.
#[derive(Debug)]
pub(super) struct Start {
    ticket: u64,
    directory: String,
    wish: Wish,
}

/// What a request wants of the servers.
#[derive(Debug)]
enum Wish {
    List,
    Add { name: String, config: Value },
    Connect(String),
    Disconnect(String),
    Authorize(String),
    Callback(String),
    Forget(String),
}

impl Wish {
    fn server(&self) -> Option<&str> {
        match self {
            Self::List | Self::Add { .. } => None,
            Self::Connect(name)
            | Self::Disconnect(name)
            | Self::Authorize(name)
            | Self::Callback(name)
            | Self::Forget(name) => Some(name),
        }
    }
}

impl World {
    /// The routes about servers of tools. `None` when the operation is none of them.
    pub(super) fn about_servers(&mut self, request: &ApiRequest, operation: &str, name: &str) -> Option<()> {
        let name = name.to_owned();
        let wish = match operation {
            "mcp.status" => Wish::List,
            "mcp.add" => {
                let body = body_of(request);
                let name = body["name"].as_str().unwrap_or_default().to_owned();
                Wish::Add { name, config: body["config"].clone() }
            }
            "mcp.connect" => Wish::Connect(name),
            "mcp.disconnect" => Wish::Disconnect(name),
            "mcp.auth.start" | "mcp.auth.authenticate" => Wish::Authorize(name),
            "mcp.auth.callback" => Wish::Callback(name),
            "mcp.auth.remove" => Wish::Forget(name),
            _ => return None,
        };
        let configured = self.configured_servers();
        let added = match &wish {
            Wish::Add { config, .. } => Some(config),
            _ => None,
        };
        let directory = self.directory_of(request);
        let running = self.instances.get(&directory).and_then(|instance| instance.servers.as_ref());
        let known =
            running.into_iter().flat_map(|servers| servers.0.values().map(|server| &server["config"]));
        let programs: Vec<String> =
            configured.values().chain(added).chain(known).filter_map(program_of).map(str::to_owned).collect();
        let start = Start { ticket: request.ticket, directory, wish };
        self.ask_place(PlaceAsk::Programs(start), PlaceWish::Programs(programs));
        Some(())
    }

    /// What the configuration names; an entry without a type only switches one off that nobody has named.
    fn configured_servers(&self) -> Map<String, Value> {
        let named = self.config.config.get("mcp").and_then(Value::as_object);
        let named = named.into_iter().flatten().filter(|(_, config)| config.get("type").is_some());
        named.map(|(name, config)| (name.clone(), config.clone())).collect()
    }

    pub(super) fn servers_started(&mut self, start: Start, there: &[String]) {
        let configured = self.configured_servers();
        let Some(instance) = self.instances.get_mut(&start.directory) else {
            return self.unknown_error(start.ticket);
        };
        let servers = instance.servers.get_or_insert_with(|| {
            let mut servers = Servers::default();
            configured.iter().for_each(|(name, config)| servers.put(name, config, there));
            servers
        });
        let ticket = start.ticket;
        if let Some(name) = start.wish.server()
            && !servers.0.contains_key(name)
        {
            let message = format!("MCP server not found: {name}");
            let body = json!({"_tag": "McpServerNotFoundError", "name": name, "message": message});
            return self.reply(ticket, 404, ReplyBody::Json(body));
        }
        match start.wish {
            Wish::List => {
                let list = servers.list();
                self.reply_json(ticket, list);
            }
            Wish::Add { name, config } => {
                servers.put(&name, &config, there);
                let list = servers.list();
                self.reply_json(ticket, list);
            }
            Wish::Connect(name) => {
                let mut config = servers.0[&name]["config"].clone();
                config["enabled"] = json!(true);
                servers.put(&name, &config, there);
                self.reply_json(ticket, json!(true));
            }
            Wish::Disconnect(name) => {
                servers.0[&name]["status"] = json!({"status": "disabled"});
                self.reply_json(ticket, json!(true));
            }
            Wish::Authorize(name) => {
                let config = &servers.0[&name]["config"];
                if config["type"] == "remote" && config["oauth"] != false {
                    return self.unknown_error(ticket);
                }
                let error = format!("MCP server {name} does not support OAuth");
                self.reply(ticket, 400, ReplyBody::Json(json!({"error": error})));
            }
            // Nobody has begun what this would end.
            Wish::Callback(_) => self.unknown_error(ticket),
            Wish::Forget(_) => self.reply_json(ticket, json!({"success": true})),
        }
    }
}

impl Servers {
    fn put(&mut self, name: &str, config: &Value, there: &[String]) {
        let status = match failure(name, config, there) {
            _ if config["enabled"] == false => json!({"status": "disabled"}),
            error => json!({"status": "failed", "error": error}),
        };
        self.0.insert(name.to_owned(), json!({"config": config, "status": status}));
    }

    fn list(&self) -> Value {
        let list = self.0.iter().map(|(name, server)| (name.clone(), server["status"].clone()));
        Value::Object(list.collect())
    }
}

fn program_of(config: &Value) -> Option<&str> {
    config["command"].get(0)?.as_str()
}

/// Why a server can't be had.
fn failure(name: &str, config: &Value, there: &[String]) -> String {
    if config["type"] == "remote" {
        let url = config["url"].as_str().unwrap_or_default();
        return if is_url(url) {
            "SSE error: Unable to connect. Is the computer able to access the url?".to_owned()
        } else {
            format!("Invalid MCP URL for \"{name}\"")
        };
    }
    match program_of(config) {
        None => "The \"file\" argument must be of type string. Received undefined".to_owned(),
        Some(program) if there.iter().any(|other| other == program) => {
            "MCP error -32000: Connection closed".to_owned()
        }
        Some(path) if path.contains('/') => {
            format!("ENOENT: no such file or directory, posix_spawn '{path}'")
        }
        Some(program) => format!("Executable not found in $PATH: \"{program}\""),
    }
}

/// A scheme and something behind it.
fn is_url(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
            && !rest.trim_start_matches('/').is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_fails_in_its_own_words() {
        let there = ["sh".to_owned()];
        let local = |command: Value| failure("x", &json!({"type": "local", "command": command}), &there);
        assert!(local(json!(["/no/such"])).starts_with("ENOENT"));
        assert!(local(json!(["nosuch", "x"])).ends_with("$PATH: \"nosuch\""));
        assert!(local(json!(["sh"])).ends_with("Connection closed"));
        assert!(local(json!([])).ends_with("Received undefined"));
        let remote = |url: &str| failure("x", &json!({"type": "remote", "url": url}), &there);
        assert_eq!(remote("nonsense"), "Invalid MCP URL for \"x\"");
        assert!(remote("http://127.0.0.1:1/mcp").starts_with("SSE error"));
    }
}
