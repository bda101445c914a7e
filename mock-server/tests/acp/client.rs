//! A client of an agent in this process.

use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::Options;
use mock_server::acp::agent::Whole;
use mock_server::acp::dialect::{Dialect, Strictness};
use mock_server::acp::ids::Ids;
use mock_server::acp::{Agent, AgentOptions};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf};

const SCENARIO: &str = r#"
about = "The agent lists the files."
[[agent]]
on = { prompt_contains = "" }
steps = [{ tool = "bash", input = { command = "ls -la", description = "Lists files" } }, { say = "I'll list the files..." }]
[user]
steps = [{ prompt = "What files are in this directory?" }, { wait_for = "idle" }]
"#;

/// A client of an agent in this process.
pub(crate) struct Client {
    pub(crate) agent: Arc<Agent>,
    says: DuplexStream,
    hears: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(crate) heard: VecDeque<Value>,
}

impl Client {
    pub(crate) async fn of(dialect: Dialect, change: impl FnOnce(&mut AgentOptions)) -> Self {
        let scenario = Scenario::parse(Path::new("test.toml"), SCENARIO).unwrap();
        let mut options = AgentOptions {
            server: Options::scenario(ServerKind::Opencode, scenario),
            dialect,
            turn_end: None,
            strictness: Strictness::Strict,
            home: None,
            ids: Ids::FromZero,
            started_in: None,
            stderr: Arc::new(|_| {}),
        };
        change(&mut options);
        let agent = Arc::new(Agent::start(options).await.unwrap());
        let (says, words) = tokio::io::duplex(1 << 16);
        let (said, hears) = tokio::io::duplex(1 << 16);
        let speaker = Arc::clone(&agent);
        tokio::spawn(async move { speaker.speak(words, said, Box::new(Whole)).await });
        let hears = BufReader::new(tokio::io::split(hears).0).lines();
        Self { agent, says, hears, heard: VecDeque::new() }
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.says.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let line = self.hears.next_line().await.unwrap().expect("the agent speaks on");
        let message: Value = serde_json::from_str(&line).unwrap();
        self.heard.push_back(message.clone());
        message
    }

    /// Says a request, and hears until it is answered.
    pub(crate) async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        loop {
            let message = self.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub(crate) async fn session(&mut self) -> String {
        let cwd = self.agent.stand_in().workspace().to_owned();
        let made = self.ask(90, "session/new", json!({"cwd": cwd, "mcpServers": []})).await;
        made["result"]["sessionId"].as_str().unwrap().to_owned()
    }
}
