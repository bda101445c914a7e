//! Servers of tools: started with an environment of their own, greeted, asked; their keys are told to nobody.

use super::{Reference, text};
use crate::adapter::Screen;
use harness::protocol::RpcError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The servers, by name.
#[derive(Default)]
pub(super) struct Servers {
    known: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<Server>>>>,
    /// What is in the environments of all: what nobody is told.
    environments: Mutex<Map<String, Value>>,
}

struct Server {
    _process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Reference {
    pub(super) async fn register(&self, params: &Value, screen: &Screen) -> Result<Value, RpcError> {
        let own = params["env"].as_object().cloned().unwrap_or_default();
        let all = {
            let mut all = self.servers.environments.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(own.clone());
            all.clone()
        };
        let given = match self.mutant {
            Some("server-without-environment") => Map::new(),
            Some("servers-share-environment") => all,
            _ => own,
        };
        let args = params["args"].as_array().into_iter().flatten().map(text);
        let mut command = Command::new(text(&params["command"]));
        command.args(args).env_clear().envs(given.iter().map(|(name, value)| (name, text(value))));
        if self.is("server-key-in-arguments") {
            command.args(own_words(params));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().map_err(|error| RpcError::failed(error.to_string()))?;
        let (Some(input), Some(output), Some(words)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(RpcError::failed("the server has no pipes"));
        };
        let name = text(&params["name"]).to_owned();
        let shown = if self.is("logs-server-settings") { params.to_string() } else { name.clone() };
        screen.show(json!({"kind": "log", "text": format!("starts the server of tools {shown}")}));
        let mut server =
            Server { _process: process, input, output: BufReader::new(output).lines(), asked: 0 };
        if !self.is("server-not-greeted") {
            let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "reference", "version": "1"}});
            server.ask("initialize", &hello).await?;
            server.tell(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        }
        // What it writes on its stderr is for the log; it has begun when it greets, so its first line is there.
        let mut words = BufReader::new(words).lines();
        if let Ok(Some(line)) = words.next_line().await {
            let line = if self.is("logs-server-words") { line } else { self.without_environments(&line) };
            screen.show(json!({"kind": "log", "text": line}));
        }
        tokio::spawn(async move { while let Ok(Some(_)) = words.next_line().await {} });
        self.keep_settings(params)?;
        let mut known = self.servers.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(name, Arc::new(tokio::sync::Mutex::new(server)));
        Ok(json!({}))
    }

    /// A call of a tool, or a resource.
    pub(super) async fn ask_server(&self, params: &Value) -> Result<Value, RpcError> {
        let server = {
            let known = self.servers.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(text(&params["server"])).cloned()
        };
        let server = server.ok_or_else(|| RpcError::failed("there is no such server"))?;
        let mut server = server.lock().await;
        let said = match params["uri"].as_str() {
            Some(uri) => server.ask("resources/read", &json!({"uri": uri})).await,
            None => {
                let arguments =
                    if self.is("drops-arguments") { json!({}) } else { params["arguments"].clone() };
                let called = json!({"name": params["tool"], "arguments": arguments});
                server.ask("tools/call", &called).await
            }
        };
        let (ok, parts) = match said {
            Ok(said) => {
                let parts = if said["contents"].is_array() { &said["contents"] } else { &said["content"] };
                (said["isError"] != true, parts.clone())
            }
            Err(why) => (false, json!([{"text": why.message}])),
        };
        let most = if self.is("tells-first-words") { 1 } else { usize::MAX };
        let words: Vec<&str> =
            parts.as_array().into_iter().flatten().take(most).map(|part| text(&part["text"])).collect();
        let words = words.join("\n");
        let words = if self.is("tells-server-words") { words } else { self.without_environments(&words) };
        Ok(json!({"ok": ok, "text": words}))
    }

    /// Words without what is in the environment of a server.
    fn without_environments(&self, words: &str) -> String {
        let all = self.servers.environments.lock().unwrap_or_else(PoisonError::into_inner);
        let values = all.values().map(text).filter(|value| !value.is_empty());
        values.fold(words.to_owned(), |words, value| words.replace(value, "(a key)"))
    }

    /// What the model is told of servers in the beginning of a task.
    pub(super) fn of_servers(&self) -> String {
        let known = self.servers.known.lock().unwrap_or_else(PoisonError::into_inner);
        let names = known.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        if self.is("settings-to-model") {
            let all = self.servers.environments.lock().unwrap_or_else(PoisonError::into_inner);
            return format!("{names} {}", json!(*all));
        }
        names
    }
}

/// The way of a mutant: what stands in the environment of a server is among its words, too.
fn own_words(params: &Value) -> Vec<String> {
    let own = params["env"].as_object().into_iter().flatten();
    own.map(|(name, value)| format!("--env={name}={}", text(value))).collect()
}

impl Server {
    async fn tell(&mut self, message: &Value) -> Result<(), RpcError> {
        let failed = |error: std::io::Error| RpcError::failed(error.to_string());
        self.input.write_all(format!("{message}\n").as_bytes()).await.map_err(failed)?;
        self.input.flush().await.map_err(failed)
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        self.asked += 1;
        let id = self.asked;
        self.tell(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        while let Ok(Some(line)) = self.output.next_line().await {
            let said: Value = serde_json::from_str(&line).unwrap_or_default();
            if said["id"] == id {
                let error = text(&said["error"]["message"]);
                return if said["error"].is_object() {
                    Err(RpcError::failed(error))
                } else {
                    Ok(said["result"].clone())
                };
            }
        }
        Err(RpcError::failed("the server has left"))
    }
}
