//! What is to stand somewhere is played: state over a restart, copies of a conversation, servers of tools.

use super::steps::{Conversation, Reopen, Resource, Server, Set, Stands, Tool};
use super::{Stage, ground};
use crate::scene::{Troubled, our_fault};
use serde_json::{Value, json};
use std::fs;

/// The server of tools.
const TOOLS: &str = include_str!("tools.sh");
/// Where it lives, below the case's folder.
const SERVERS: &str = "servers";
/// What is in its environment, and nowhere else.
pub(crate) const CANARY: &str = "canary-7f1c9e0ab4d2-of-a-server";

impl Stage<'_> {
    pub(super) async fn reopen(&mut self, Reopen(configured): &Reopen) -> Result<(), Troubled> {
        self.scene.person("starts the program again, with other folders");
        self.configured = configured.clone();
        self.scene.restart().await?;
        self.configure().await
    }

    pub(super) async fn set(&mut self, set: &Set) -> Result<(), Troubled> {
        let asked = json!({"scope": set.scope, "name": set.name, "value": set.value});
        self.ask("state/set", asked, json!({})).await
    }

    pub(super) async fn stands(&mut self, stands: &Stands) -> Result<(), Troubled> {
        self.ask("state/dump", json!({}), json!({"has": stands.has, "lacks": stands.lacks})).await?;
        if !self.servers.is_empty() {
            let found = ground::files_with(self.scene, CANARY, SERVERS);
            self.scene.witness("server-key-in", &json!(found));
        }
        Ok(())
    }

    pub(super) async fn conversation(&mut self, kept: &Conversation) -> Result<(), Troubled> {
        let asked = json!({"every": kept.every, "most": kept.most});
        self.ask("memory/begin", asked, json!({})).await
    }

    pub(super) async fn messages(&mut self, count: u32) -> Result<(), Troubled> {
        for _ in 0..count {
            let nth = self.asked.get("memory/add").copied().unwrap_or_default() + 1;
            self.ask("memory/add", json!({"text": format!("message {nth}")}), json!({})).await?;
        }
        Ok(())
    }

    pub(super) async fn copies(&mut self, copies: &[u64]) -> Result<(), Troubled> {
        self.ask("memory/copies", json!({}), json!({"copies": copies})).await
    }

    pub(super) async fn server(&mut self, server: &Server) -> Result<(), Troubled> {
        let folder = self.scene.folder().join(SERVERS);
        let script = folder.join("tools.sh");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&script, TOOLS))
            .map_err(|error| our_fault(format!("failed to write a server of tools: {error}")))?;
        self.scene.keep_secret("server's key", CANARY);
        self.servers.push((server.name.clone(), server.variable.clone()));
        let asked = json!({
            "name": server.name,
            "command": "/bin/sh",
            "args": [script, server.name],
            "env": {&server.variable: CANARY},
        });
        self.ask("mcp/register", asked, json!({})).await
    }

    pub(super) async fn tool(&mut self, tool: &Tool) -> Result<(), Troubled> {
        let arguments = if tool.arguments.is_null() { json!({}) } else { tool.arguments.clone() };
        let asked = json!({"server": tool.server, "tool": tool.tool, "arguments": arguments});
        self.ask("mcp/call", asked, json!({"says": tool.says})).await?;
        self.look_at(&tool.server);
        Ok(())
    }

    pub(super) async fn resource(&mut self, resource: &Resource) -> Result<(), Troubled> {
        let asked = json!({"server": resource.server, "uri": resource.uri});
        self.ask("mcp/read", asked, json!({"says": resource.says})).await?;
        self.look_at(&resource.server);
        Ok(())
    }

    /// What a server was asked, and whose key it has. It has just answered, or left: it has written down all by then.
    fn look_at(&self, name: &str) {
        let folder = self.scene.folder().join(SERVERS);
        let environment = fs::read_to_string(folder.join(format!("{name}.env"))).unwrap_or_default();
        let has =
            |variable: &str| environment.lines().any(|line| line.contains(variable) && line.contains(CANARY));
        let variables = |own: bool| {
            self.servers
                .iter()
                .filter(move |(server, _)| (server == name) == own)
                .map(|(_, variable)| variable)
        };
        let others: Vec<&String> = variables(false).filter(|other| has(other)).collect();
        let asked = fs::read_to_string(folder.join(format!("{name}.asked"))).unwrap_or_default();
        let asked: Vec<Value> = asked.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let has_own = variables(true).all(|variable| has(variable));
        let words = fs::read_to_string(folder.join(format!("{name}.words"))).unwrap_or_default();
        let is_told = words.contains(CANARY);
        let seen = json!({
            "server": name, "has_own": has_own, "others": others, "asked": asked, "key_among_its_words": is_told,
        });
        self.scene.witness("server", &seen);
    }
}
