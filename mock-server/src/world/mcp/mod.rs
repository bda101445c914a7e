//! Servers of tools: which there are in an instance, how they are, and the routes about them.
//!
//! Those that the settings name are started when somebody first asks about them or a turn begins. A local one is a
//! program, a remote one is asked over HTTP: `reach` says who it is, `talk` what it is asked, `link` how, `shape` what its
//! answers have to look like.

mod link;
mod program;
mod reach;
mod shape;
mod talk;

use super::routes::body_of;
use super::{ApiRequest, EffectId, ReplyBody, Ticket, World};
use crate::target::unescaped;
pub(super) use link::Link;
use link::{ServedTool, spelled};
pub use program::{Address, Program, ProgramNews, ToolServer};
use reach::failure;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The servers of an instance.
#[derive(Debug, Default)]
pub(super) struct Servers {
    /// In the order in which they became known.
    list: Vec<Server>,
    /// Those of the settings that have not said yet how they are.
    first: BTreeSet<EffectId>,
    /// Who waits for servers.
    waits: Vec<(BTreeSet<EffectId>, Then)>,
}

#[derive(Debug)]
struct Server {
    name: String,
    config: Value,
    status: Value,
    /// The program that is used, and its tools.
    client: Option<(EffectId, Vec<ServedTool>)>,
}

/// What happens when servers have said how they are.
#[derive(Debug)]
enum Then {
    /// A request is looked at.
    Serve(Ticket, Wish),
    /// A request is answered with how all are.
    List(Ticket),
    /// A request is answered with a yes.
    Yes(Ticket),
    /// The model is asked for the step with this message.
    AskModel(String, String),
}

/// What a request wants of the servers.
#[derive(Debug)]
enum Wish {
    List,
    Add {
        name: String,
        config: Value,
    },
    Connect(String),
    Disconnect(String),
    /// The person is to let the server in; or that was done before.
    Authorize {
        name: String,
        only_begins: bool,
    },
    Callback(String),
    Forget(String),
}

impl Wish {
    fn server(&self) -> Option<&str> {
        match self {
            Self::List | Self::Add { .. } => None,
            Self::Connect(name)
            | Self::Disconnect(name)
            | Self::Authorize { name, .. }
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
            "mcp.auth.start" | "mcp.auth.authenticate" => {
                Wish::Authorize { name, only_begins: operation == "mcp.auth.start" }
            }
            "mcp.auth.callback" => Wish::Callback(name),
            "mcp.auth.remove" => Wish::Forget(name),
            _ => return None,
        };
        let directory = self.directory_of(request);
        self.when_servers_are_known(&directory, Then::Serve(request.ticket, wish));
        Some(())
    }

    /// The model is asked only when it is known which tools it can be offered. Says whether that has to be waited for.
    pub(super) fn waits_for_servers(&mut self, session: &str) -> bool {
        let Some(owner) = self.sessions.get(session) else { return false };
        let Some(run) = owner.run.as_ref() else { return false };
        let (directory, then) =
            (owner.directory.clone(), Then::AskModel(session.to_owned(), run.message.clone()));
        self.begin_servers(&directory);
        let servers = self.instances.get_mut(&directory).and_then(|instance| instance.servers.as_mut());
        let Some(servers) = servers.filter(|servers| !servers.first.is_empty()) else { return false };
        servers.waits.push((servers.first.clone(), then));
        true
    }

    fn when_servers_are_known(&mut self, directory: &str, then: Then) {
        self.begin_servers(directory);
        let servers = self.instances.get_mut(directory).and_then(|instance| instance.servers.as_mut());
        match servers {
            Some(servers) if !servers.first.is_empty() => {
                servers.waits.push((servers.first.clone(), then));
            }
            _ => self.goes_on(directory, then),
        }
    }

    /// The servers of the settings are started, once.
    fn begin_servers(&mut self, directory: &str) {
        match self.instances.get_mut(directory) {
            Some(instance) if instance.servers.is_none() => instance.servers = Some(Servers::default()),
            _ => return,
        }
        for (name, config) in self.configured_servers(directory) {
            if let Some(link) = self.put_server(directory, &name, &config)
                && let Some(servers) = self.servers_mut(directory)
            {
                servers.first.insert(link);
            }
        }
    }

    /// What the configuration of a folder names; an entry without a type only switches one off that nobody has named.
    fn configured_servers(&self, directory: &str) -> Map<String, Value> {
        let named = self.customs(directory).settings.get("mcp").and_then(Value::as_object);
        let named = named.into_iter().flatten().filter(|(_, config)| config.get("type").is_some());
        named.map(|(name, config)| (name.clone(), config.clone())).collect()
    }

    fn servers_mut(&mut self, directory: &str) -> Option<&mut Servers> {
        self.instances.get_mut(directory)?.servers.as_mut()
    }

    /// A server is to be used as its settings say. `None` when it is known at once that it can't be; else its program.
    fn put_server(&mut self, directory: &str, name: &str, config: &Value) -> Option<EffectId> {
        let status = match failure(name, config, self.config.runs_shell) {
            _ if config["enabled"] == false => Some(json!({"status": "disabled"})),
            Some(error) => Some(failed(&error)),
            None => None,
        };
        let servers = self.servers_mut(directory)?;
        let at = servers.list.iter().position(|server| server.name == name).unwrap_or_else(|| {
            let (name, config, status) = (name.to_owned(), Value::Null, Value::Null);
            servers.list.push(Server { name, config, status, client: None });
            servers.list.len() - 1
        });
        servers.list[at].config = config.clone();
        match status {
            None => Some(self.start_server(directory, name, config)),
            Some(status) => {
                servers.list[at].status = status;
                let client = servers.list[at].client.take();
                self.let_go(client);
                None
            }
        }
    }

    fn let_go(&mut self, client: Option<(EffectId, Vec<ServedTool>)>) {
        if let Some((client, _)) = client {
            self.end_server(client);
        }
    }

    /// A server's program has told its tools, for the first time or again, or can't be used.
    fn server_settled(&mut self, link: EffectId, told: Result<Vec<ServedTool>, String>) {
        let Some(settled) = self.links.get_mut(&link) else { return };
        let was_open = std::mem::replace(&mut settled.is_open, told.is_ok());
        let (directory, name) = (settled.directory.clone(), settled.name.clone());
        if told.is_err() {
            self.end_server(link);
        }
        let Some(servers) = self.servers_mut(&directory) else { return };
        if let Some(server) = servers.list.iter_mut().find(|server| server.name == name) {
            let before = match told {
                Ok(tools) => {
                    server.status = json!({"status": "connected"});
                    server.client.replace((link, tools)).filter(|(before, _)| *before != link)
                }
                Err(error) => {
                    server.status = failed(&error);
                    server.client.take()
                }
            };
            self.let_go(before);
        }
        if was_open {
            return self.emit(&directory, "mcp.tools.changed", json!({"server": name}));
        }
        let Some(servers) = self.servers_mut(&directory) else { return };
        servers.first.remove(&link);
        servers.waits.iter_mut().for_each(|(links, _)| {
            links.remove(&link);
        });
        let (over, waits) =
            std::mem::take(&mut servers.waits).into_iter().partition(|(links, _)| links.is_empty());
        servers.waits = waits;
        let over: Vec<_> = over;
        over.into_iter().for_each(|(_, then)| self.goes_on(&directory, then));
    }

    /// The program that a server is used by has left. Says whether it was that one.
    fn client_left(&mut self, link: EffectId, directory: &str, name: &str) -> bool {
        let servers = self.servers_mut(directory);
        let server = servers.and_then(|servers| servers.list.iter_mut().find(|server| server.name == name));
        let is_client =
            |server: &&mut Server| server.client.as_ref().is_some_and(|(client, _)| *client == link);
        let Some(server) = server.filter(is_client) else { return false };
        server.client = None;
        server.status = failed("Connection closed");
        true
    }

    fn goes_on(&mut self, directory: &str, then: Then) {
        match then {
            Then::Serve(ticket, wish) => self.serve_wish(directory, ticket, wish),
            Then::List(ticket) => {
                let list = self.servers_mut(directory).map(|servers| servers.wire()).unwrap_or_default();
                self.reply_json(ticket, list);
            }
            Then::Yes(ticket) => self.reply_json(ticket, json!(true)),
            Then::AskModel(session, message) => {
                if self.run_mut(&session).is_some_and(|run| run.message == message) {
                    self.ask_offering(&session);
                }
            }
        }
    }

    fn serve_wish(&mut self, directory: &str, ticket: Ticket, wish: Wish) {
        let Some(servers) = self.servers_mut(directory) else { return self.unknown_error(ticket) };
        let known = wish.server().map(|name| servers.list.iter_mut().find(|server| server.name == name));
        let server = match known {
            Some(None) => {
                let name = unescaped(wish.server().unwrap_or_default());
                let message = format!("MCP server not found: {name}");
                let body = json!({"_tag": "McpServerNotFoundError", "name": name, "message": message});
                return self.reply(ticket, 404, ReplyBody::Json(body));
            }
            Some(Some(server)) => Some(server),
            None => None,
        };
        match (wish, server) {
            (Wish::Add { name, config }, _) => {
                let link = self.put_server(directory, &name, &config);
                self.when_settled(directory, link, Then::List(ticket));
            }
            (Wish::Connect(name), Some(server)) => {
                let mut config = server.config.clone();
                config["enabled"] = json!(true);
                let link = self.put_server(directory, &name, &config);
                self.when_settled(directory, link, Then::Yes(ticket));
            }
            (Wish::Disconnect(_), Some(server)) => {
                server.status = json!({"status": "disabled"});
                let client = server.client.take();
                self.let_go(client);
                self.reply_json(ticket, json!(true));
            }
            (Wish::Authorize { name, only_begins }, Some(server)) => {
                if server.config["type"] == "remote" && server.config["oauth"] != false {
                    // Who takes one in without a key has nothing to sign.
                    if server.status["status"] != "connected" {
                        return self.unknown_error(ticket);
                    }
                    let welcome = if only_begins {
                        json!({"authorizationUrl": "", "oauthState": self.ids.state()})
                    } else {
                        server.status.clone()
                    };
                    return self.reply_json(ticket, welcome);
                }
                let error = format!("MCP server {name} does not support OAuth");
                self.reply(ticket, 400, ReplyBody::Json(json!({"error": error})));
            }
            // Nobody has begun what this would end.
            (Wish::Callback(_), _) => self.unknown_error(ticket),
            (Wish::Forget(_), _) => self.reply_json(ticket, json!({"success": true})),
            (Wish::List, _) => self.goes_on(directory, Then::List(ticket)),
            (Wish::Connect(_) | Wish::Disconnect(_) | Wish::Authorize { .. }, None) => {}
        }
    }

    fn when_settled(&mut self, directory: &str, link: Option<EffectId>, then: Then) {
        match (link, self.servers_mut(directory)) {
            (Some(link), Some(servers)) => servers.waits.push((BTreeSet::from([link]), then)),
            _ => self.goes_on(directory, then),
        }
    }

    /// The tools that servers give to a directory's agents: each by its name for the model, with the program that has it.
    fn served_in(&self, directory: &str) -> impl Iterator<Item = (String, EffectId, &ServedTool)> {
        let servers = self.instances.get(directory).and_then(|instance| instance.servers.as_ref());
        let list = servers.into_iter().flat_map(|servers| &servers.list);
        list.flat_map(|server| {
            let tools = server.client.iter().flat_map(|(link, tools)| tools.iter().map(|tool| (*link, tool)));
            tools.map(|(link, tool)| {
                (format!("{}_{}", spelled(&server.name), spelled(&tool.name)), link, tool)
            })
        })
    }

    /// The names of the tools that servers give to a session's agent.
    pub(super) fn served_tools(&self, session: &str) -> Vec<String> {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        let names: BTreeSet<String> = self.served_in(directory).map(|(name, ..)| name).collect();
        names.into_iter().collect()
    }

    /// What a session's model is told of them.
    pub(super) fn served_definitions(&self, session: &str) -> Map<String, Value> {
        let directory = self.sessions.get(session).map_or("", |owner| owner.directory.as_str());
        self.served_in(directory).map(|(name, _, tool)| (name, tool.definition.clone())).collect()
    }

    /// The program that has a tool, and the tool's name there.
    pub(super) fn server_of(&self, session: &str, tool: &str) -> Option<(EffectId, String)> {
        let directory = &self.sessions.get(session)?.directory;
        // Of tools with one name the last counts.
        let named = self.served_in(directory).filter(|(name, ..)| name == tool).last();
        named.map(|(_, link, tool)| (link, tool.name.clone()))
    }

    /// The servers of an instance that is no more are ended; whoever waits for them hears nothing good.
    pub(super) fn end_servers(&mut self, directory: &str, servers: Option<Servers>) {
        for (_, then) in servers.into_iter().flat_map(|servers| servers.waits) {
            if let Then::Serve(ticket, _) | Then::List(ticket) | Then::Yes(ticket) = then {
                self.unknown_error(ticket);
            }
        }
        let here: Vec<EffectId> = self
            .links
            .iter()
            .filter(|(_, link)| link.directory == directory)
            .map(|(link, _)| *link)
            .collect();
        here.into_iter().for_each(|link| self.end_server(link));
    }
}

impl Servers {
    fn wire(&self) -> Value {
        let list = self.list.iter().filter(|server| !server.status.is_null());
        Value::Object(list.map(|server| (server.name.clone(), server.status.clone())).collect())
    }
}

fn failed(error: &str) -> Value {
    json!({"status": "failed", "error": error})
}
