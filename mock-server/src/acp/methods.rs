//! What an agent does for each method.

use super::agent::{Inner, Refusal, Session};
use super::config::{Chosen, options};
use super::directory::Directory;
use super::server::in_session;
use super::{events, kiro};
use fixtures::ServerKind;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the real agents know; a dialect may add to it.
const METHODS: &[&str] = &[
    "initialize",
    "authenticate",
    "session/new",
    "session/load",
    "session/list",
    "session/resume",
    "session/fork",
    "session/close",
    "session/prompt",
    "session/set_mode",
    "session/set_model",
    "session/set_config_option",
];

/// Who resumes or forks a session looks at so many of its messages.
const LAST_ONES: &str = "?limit=20";

/// The code of an agent whose server has failed.
pub(super) fn service_failure(said: &str, data: &Value) -> Refusal {
    Refusal(-32603, format!("Internal error: {said}"), Some(data.clone()))
}

/// What a server refuses, as an agent tells it: Kilo's has the other one's name for itself there.
pub(super) fn failure(service: &str) -> Refusal {
    service_failure("OpenCode service failure", &json!({"service": service}))
}

pub(super) fn invalid(said: &str, data: Value) -> Refusal {
    Refusal(-32602, format!("Invalid params: {said}"), Some(data))
}

impl Inner {
    /// The name that the agent has for itself.
    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            ServerKind::Kilo => "Kilo",
            ServerKind::Opencode => "OpenCode",
        }
    }

    pub(super) fn has_method(&self, method: &str) -> bool {
        METHODS.contains(&method) || (self.dialect.is_kiro() && kiro::has_method(method))
    }

    pub(super) async fn perform(self: &Arc<Self>, method: &str, params: &Value) -> Result<Value, Refusal> {
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        match method {
            "initialize" => Ok(self.initialize(params)),
            "authenticate" => match text("methodId") == self.login() {
                true => Ok(json!({})),
                false => {
                    let method = text("methodId");
                    Err(invalid(&format!("unknown auth method: {method}"), json!({"methodId": method})))
                }
            },
            "session/new" => self.new_session(params).await,
            "session/load" => self.load_session(params, text("sessionId"), true).await,
            "session/resume" => self.load_session(params, text("sessionId"), false).await,
            "session/fork" => self.fork_session(params).await,
            "session/list" => self.list_sessions(params).await,
            "session/close" => Ok(self.close_session(text("sessionId")).await),
            "session/prompt" => self.prompt(params).await,
            "session/set_mode" => self.set_mode(text("sessionId"), text("modeId")).await.map(|_| json!({})),
            "session/set_model" => {
                self.set_model(text("sessionId"), text("modelId")).await.map(|_| json!({}))
            }
            "session/set_config_option" => self.set_option(params).await,
            _ => Ok(json!({})),
        }
    }

    /// The client cancels.
    pub(super) async fn cancelled(self: &Arc<Self>, number: u64, method: &str, params: Value) {
        let mut params = self.dialect.hears(method, params);
        if let Some(names) = &self.names {
            names.heard(&mut params);
        }
        self.cancel(method, &params).await;
        self.state().aborts.remove(&number);
        self.settled.notify_waiters();
    }

    /// Waits until all is cancelled that was to be, up to the cancel of this number: an answer that came behind it is too
    /// late, and a prompt behind it is another turn.
    pub(super) async fn aborted(&self, last: u64) {
        loop {
            let news = self.settled.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if self.state().aborts.range(..=last).next().is_none() {
                return;
            }
            news.await;
        }
    }

    async fn cancel(&self, method: &str, params: &Value) {
        let id = params["sessionId"].as_str().unwrap_or_default();
        match self.session(id) {
            Some(session) => self.abort(id, &session.folder).await,
            None => self.complain(&format!("Error handling notification {method}: session not found: {id}")),
        }
    }

    async fn abort(&self, id: &str, folder: &str) {
        // Who is idle has nothing to abort.
        self.server.post(&in_session(id, "/abort"), folder, &json!({})).await.ok();
    }

    /// The client has left. Kilo's agent ends what is at work, and tells of it; OpenCode's just ends.
    pub(super) async fn leave(&self) {
        self.unlock();
        if self.kind == ServerKind::Kilo {
            let sessions = self.state().sessions.clone();
            for (id, session) in sessions {
                self.abort(&id, &session.folder).await;
            }
        }
    }

    fn login(&self) -> &'static str {
        match self.kind {
            ServerKind::Kilo => "kilo-login",
            ServerKind::Opencode => "opencode-login",
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        let (command, name, label) = match self.kind {
            ServerKind::Kilo => ("kilo", "Login with Kilo", "Kilo Login"),
            ServerKind::Opencode => ("opencode", "Login with opencode", "OpenCode Login"),
        };
        let mut login = json!({
            "description": format!("Run `{command} auth login` in the terminal"), "name": name, "id": self.login(),
        });
        if params["clientCapabilities"]["_meta"]["terminal-auth"] == true {
            // Kilo's agent names the other one's command, too.
            let terminal = json!({"command": "opencode", "args": ["auth", "login"], "label": label});
            login["_meta"] = json!({"terminal-auth": terminal});
        }
        json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "mcpCapabilities": {"http": true, "sse": true},
                "promptCapabilities": {"embeddedContext": true, "image": true},
                "sessionCapabilities": {"close": {}, "fork": {}, "list": {}, "resume": {}},
            },
            "authMethods": [login],
            "agentInfo": {"name": self.name(), "version": self.version},
        })
    }

    pub(super) fn known_session(&self, id: &str) -> Result<Session, Refusal> {
        self.session(id).ok_or_else(|| invalid(&format!("session not found: {id}"), json!({"sessionId": id})))
    }

    pub(super) async fn directory(&self, folder: &str) -> Result<Arc<Directory>, Refusal> {
        if let Some(known) = self.state().directories.get(folder) {
            return Ok(Arc::clone(known));
        }
        let read = Directory::of(&self.server, folder).await;
        let directory = Arc::new(read.map_err(|_| failure("directory"))?);
        self.state().directories.insert(folder.to_owned(), Arc::clone(&directory));
        Ok(directory)
    }

    async fn new_session(self: &Arc<Self>, params: &Value) -> Result<Value, Refusal> {
        let folder = params["cwd"].as_str().unwrap_or_default();
        let directory = self.directory(folder).await?;
        let model = directory.default_model.clone();
        let variant = directory.default_variant(&model);
        let mode = (!directory.modes.is_empty()).then(|| directory.default_mode.clone());
        let mut body = json!({});
        if let Some(mode) = &mode {
            body["agent"] = json!(mode);
        }
        body["model"] = json!({"providerID": model.provider, "id": model.model});
        if let Some(variant) = &variant {
            body["model"]["variant"] = json!(variant);
        }
        let created = self.server.post("/session", folder, &body).await.map_err(|_| failure("session"))?;
        let id = created["id"].as_str().unwrap_or_default().to_owned();
        let begun_ms = self.now_ms();
        let session = Session { folder: folder.to_owned(), model, variant, mode, begun_ms };
        self.begin(&id, session.clone(), &directory, &params["mcpServers"]).await;
        Ok(json!({"sessionId": id, "configOptions": self.chosen(&directory, &session)}))
    }

    /// A session is known from now on, with the client's servers of tools.
    async fn begin(
        self: &Arc<Self>,
        id: &str,
        session: Session,
        directory: &Arc<Directory>,
        servers: &Value,
    ) {
        let folder = session.folder.clone();
        self.state().sessions.insert(id.to_owned(), session);
        for server in servers.as_array().into_iter().flatten() {
            let name = server["name"].as_str().unwrap_or_default();
            let config = as_settings(server);
            let key = format!("{name}:{config}");
            if !self.state().servers_of_tools.entry(id.to_owned()).or_default().insert(key) {
                continue;
            }
            // A server that does not start is none of the client's business.
            self.server.post("/mcp", &folder, &json!({"name": name, "config": config})).await.ok();
        }
        let (inner, id, commands) = (Arc::clone(self), id.to_owned(), directory.commands.clone());
        tokio::spawn(async move {
            // Behind whatever is said now: the real agents tell of it a moment later.
            inner.out.written().await;
            inner.tell(
                &id,
                json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
            );
        });
    }

    /// `session/load` tells all that was said, `session/resume` nothing.
    async fn load_session(self: &Arc<Self>, params: &Value, id: &str, tells: bool) -> Result<Value, Refusal> {
        let folder = params["cwd"].as_str().unwrap_or_default();
        let directory = self.directory(folder).await?;
        let failed = |_| failure("session");
        let info = self.server.get(&in_session(id, ""), folder).await.map_err(failed)?;
        let last = if tells { "" } else { LAST_ONES };
        let messages =
            self.server.get(&in_session(id, &format!("/message{last}")), folder).await.map_err(failed)?;
        let messages = messages.as_array().cloned().unwrap_or_default();
        let session = self.restored(folder, &directory, &info, &messages);
        self.begin(id, session.clone(), &directory, &params["mcpServers"]).await;
        if tells {
            events::again(self, &messages);
        }
        Ok(json!({"configOptions": self.chosen(&directory, &session)}))
    }

    async fn fork_session(self: &Arc<Self>, params: &Value) -> Result<Value, Refusal> {
        let folder = params["cwd"].as_str().unwrap_or_default();
        let directory = self.directory(folder).await?;
        let failed = |_| failure("session");
        let from = params["sessionId"].as_str().unwrap_or_default();
        let forked =
            self.server.post(&in_session(from, "/fork"), folder, &json!({})).await.map_err(failed)?;
        let id = forked["id"].as_str().unwrap_or_default().to_owned();
        let route = in_session(&id, &format!("/message{LAST_ONES}"));
        let messages = self.server.get(&route, folder).await.map_err(failed)?;
        let messages = messages.as_array().cloned().unwrap_or_default();
        let parts = messages.iter().filter_map(|message| message["parts"].as_array()).flatten();
        let calls = parts.filter(|part| part["type"] == "tool").filter_map(|part| part["id"].as_str());
        self.state().copied.extend(calls.map(str::to_owned));
        let session = self.restored(folder, &directory, &forked, &messages);
        self.begin(&id, session.clone(), &directory, &params["mcpServers"]).await;
        events::again(self, &messages);
        Ok(json!({"sessionId": id, "configOptions": self.chosen(&directory, &session)}))
    }

    pub(super) fn chosen(&self, directory: &Directory, session: &Session) -> Value {
        let mode = session.mode.as_deref();
        let chosen = Chosen { model: &session.model, variant: session.variant.as_deref(), mode };
        options(self.kind, directory, &chosen)
    }

    async fn close_session(&self, id: &str) -> Value {
        let closed = self.state().sessions.remove(id);
        self.state().servers_of_tools.remove(id);
        if let Some(session) = closed {
            self.abort(id, &session.folder).await;
        }
        json!({})
    }
}

/// A client's server of tools, in the words of the settings.
fn as_settings(server: &Value) -> Value {
    let pairs = |name: &str| {
        let pairs = server[name].as_array().into_iter().flatten();
        let pair = |pair: &Value| Some((pair["name"].as_str()?.to_owned(), pair["value"].clone()));
        Value::Object(pairs.filter_map(pair).collect())
    };
    if server.get("type").is_some() {
        return json!({"type": "remote", "url": server["url"], "headers": pairs("headers")});
    }
    let mut command = vec![server["command"].clone()];
    command.extend(server["args"].as_array().into_iter().flatten().cloned());
    json!({"type": "local", "command": command, "environment": pairs("env")})
}
