//! Goal: Kiro's agent keeps what belongs to a session with the session, and nothing for one that there is not.

use crate::WRITES;
use crate::client::Client;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::Options;
use mock_server::acp::dialect::Dialect;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[tokio::test]
async fn kiros_agent_tells_of_its_sessions_takes_commands_as_objects_and_keeps_files() {
    let home = tempfile::tempdir().unwrap();
    let kept = home.path().to_owned();
    let mut client = Client::of(Dialect::Kiro, |options| options.home = Some(kept.clone())).await;
    let session = client.session().await;
    let options = client
        .ask(
            1,
            "_kiro.dev/commands/options",
            json!({"sessionId": session, "command": "agent", "partial": ""}),
        )
        .await;
    assert_eq!(options["result"]["hasMore"], false);
    let methods: Vec<&str> = client.heard.iter().filter_map(|message| message["method"].as_str()).collect();
    assert!(
        methods.contains(&"_kiro.dev/commands/available") && methods.contains(&"_kiro.dev/metadata"),
        "{methods:?}"
    );
    let swap = json!({"sessionId": session, "command": {"command": "agent", "args": {"name": "mine"}}});
    let swapped = client.ask(2, "_kiro.dev/commands/execute", swap).await;
    assert_eq!(swapped["result"], json!({"success": true, "message": "Switched to agent: mine"}));
    // A text is never answered; what is asked behind it is.
    client.say(&json!({"jsonrpc": "2.0", "id": 3, "method": "_kiro.dev/commands/execute", "params": {"sessionId": session, "command": "/agent"}})).await;
    let before = client.heard.len();
    client.ask(4, "session/list", json!({})).await;
    assert!(client.heard.iter().skip(before).all(|message| message["id"] != 3));
    let file = |end: &str| -> PathBuf { kept.join(format!(".kiro/sessions/cli/{session}.{end}")) };
    let lock: Value = serde_json::from_str(&std::fs::read_to_string(file("lock")).unwrap()).unwrap();
    assert_eq!(lock["pid"], std::process::id());
    assert!(file("json").exists() && file("jsonl").exists());
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[tokio::test]
async fn a_session_that_cannot_be_loaded_leaves_no_file_and_no_word() {
    let outer = tempfile::tempdir().unwrap();
    let home = outer.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let mut client = Client::of(Dialect::Kiro, |options| options.home = Some(home.clone())).await;
    let cwd = client.agent.stand_in().workspace().to_owned();
    client.session().await;
    client.ask(1, "session/list", json!({})).await;
    let (before, heard) = (files(outer.path()), client.heard.len());
    let load = |id: &str| json!({"sessionId": id, "cwd": cwd, "mcpServers": []});
    for (at, id) in ["ses_none", "../../../../out", "ses_../../../../../out", "ses_a/b", "..", "ses_a?b"]
        .into_iter()
        .enumerate()
    {
        let answer = client.ask(10 + at as u64, "session/load", load(id)).await;
        assert!(answer["error"]["code"].is_number(), "{id}: {answer}");
    }
    client.ask(30, "session/list", json!({})).await;
    let told: Vec<&Value> =
        client.heard.iter().skip(heard).filter(|told| told["method"].is_string()).collect();
    assert_eq!((files(outer.path()), told), (before, Vec::new()));
}

#[tokio::test]
async fn whoever_the_agent_is_called_a_prompt_is_answered() {
    let mut client = Client::of(Dialect::Kiro, |_| {}).await;
    let session = client.session().await;
    let swap = json!({"sessionId": session, "command": {"command": "agent", "args": {"name": "mine"}}});
    client.ask(1, "_kiro.dev/commands/execute", swap).await;
    for (id, text) in [(2, "list"), (3, "list again")] {
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        assert_eq!(client.ask(id, "session/prompt", prompt).await["result"]["stopReason"], "end_turn");
    }
}

#[tokio::test]
async fn the_calls_of_each_session_are_told_with_what_they_were_called_with() {
    let mut client = Client::of(Dialect::KiroSeed, |_| {}).await;
    for id in [1, 2] {
        let session = client.session().await;
        let prompt = json!({"sessionId": session, "content": [{"type": "text", "text": "list"}]});
        client.ask(id, "session/prompt", prompt).await;
        let calls = client.heard.iter().filter(|told| {
            told["params"]["sessionId"] == *session
                && told["params"]["update"]["type"] == "ToolCall"
                && told["params"]["update"].to_string().contains("ls -la")
        });
        assert_eq!(calls.count(), 1, "session {id}");
    }
}

/// Its calls are told before anybody is asked about them, so their ends are told, too.
#[tokio::test]
async fn a_call_that_is_cancelled_while_it_asks_is_told_to_be_over() {
    let scenario = Scenario::parse(Path::new("writes.toml"), WRITES).unwrap();
    let mut client = Client::of(Dialect::Kiro, |options| {
        options.server = Options::scenario(ServerKind::Kilo, scenario);
    })
    .await;
    let session = client.session().await;
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "write"}]});
    client.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt})).await;
    let asked = loop {
        let message = client.hear().await;
        if message["method"] == "session/request_permission" {
            break message["id"].clone();
        }
    };
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    client.say(&cancel).await;
    let answer = json!({"jsonrpc": "2.0", "id": asked, "result": {"outcome": {"outcome": "cancelled"}}});
    client.say(&answer).await;
    while client.hear().await["id"] != 1 {}
    let updates: Vec<&Value> = client.heard.iter().map(|message| &message["params"]["update"]).collect();
    let is_told = |kind: &str| updates.iter().any(|update| update["sessionUpdate"] == kind);
    assert!(is_told("tool_call"), "{updates:?}");
    assert!(updates.iter().any(|update| update["status"] == "failed"), "{updates:?}");
}
