//! Servers of tools: the server has one stack of them, and is asked for it and told of new ones.

use super::call::Call;
use super::commands::encoded;
use super::core::Core;
use crate::protocol::{Id, RpcError, ToolServerAdd, ToolServers};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Core {
    /// The folder of `connect`; without a server that is told.
    pub(super) fn main_folder(&mut self, id: &Id) -> Option<String> {
        let folder = self.server.as_ref().map(|server| server.directory.clone());
        if folder.is_none() {
            self.fail(id.clone(), RpcError::failed("not connected: send `connect` first"));
        }
        folder
    }

    pub(super) fn mcp_list(&mut self, id: Id) {
        let Some(folder) = self.main_folder(&id) else { return };
        if !self.strategies.history.asks_server_for_tools() {
            let servers = self.own_tools.clone();
            return self.answer(id, ToolServers { servers });
        }
        let request = self.http(&folder, "GET", "/mcp", None);
        self.calls.insert(request, Call::Tools { id });
    }

    pub(super) fn mcp_add(&mut self, id: Id, add: ToolServerAdd) {
        let Some(folder) = self.main_folder(&id) else { return };
        if !self.strategies.history.asks_server_for_tools() {
            self.own_tools.insert(add.name, "connected".to_owned());
            let servers = self.own_tools.clone();
            return self.answer(id, ToolServers { servers });
        }
        let body = json!({ "name": add.name, "config": add.config });
        let request = self.http(&folder, "POST", "/mcp", Some(body));
        self.calls.insert(request, Call::Tools { id });
    }

    pub(super) fn mcp_connect(&mut self, id: Id, name: &str) {
        let Some(folder) = self.main_folder(&id) else { return };
        let request = self.http(&folder, "POST", &format!("/mcp/{}/connect", encoded(name)), None);
        self.calls.insert(request, Call::Plain { id, what: "the server of tools could not be connected" });
    }

    /// The server has said which servers of tools there are.
    pub(super) fn tools_told(&mut self, id: Id, body: Result<String, String>) {
        let read = body.and_then(|body| {
            let told: BTreeMap<String, Value> =
                serde_json::from_str(&body).map_err(|error| format!("bad JSON: {error}"))?;
            let told_as = |said| self.strategies.history.tool_server_state(said);
            let state = |told: &Value| told_as(told["status"].as_str().unwrap_or("unknown").to_owned());
            Ok(told.iter().map(|(name, told)| (name.clone(), state(told))).collect())
        });
        match read {
            Ok(servers) => self.answer(id, ToolServers { servers }),
            Err(_) if !self.strategies.history.tells_untaken_tools() => {
                self.answer(id, ToolServers { servers: BTreeMap::new() });
            }
            Err(why) => self.fail(id, RpcError::failed(format!("the servers of tools are not known: {why}"))),
        }
    }
}
