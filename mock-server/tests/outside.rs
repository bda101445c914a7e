//! Goal: a stand-in never leaves its workspace, whatever a person allows. Method: calls that lead outside, allowed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::scenario::Scenario;
use fixtures::{ServerKind, sse};
use mock_server::{Options, StandIn};
use serde_json::{Value, json};
use std::path::Path;

/// One call, and the person allows what is asked; the last state of the call, and what was asked.
async fn allowed(server: ServerKind, tool: &str, path: &Path) -> (Value, Value) {
    let text = format!(
        r#"
about = "x"
[[agent]]
on = {{ prompt_contains = "go" }}
steps = [{{ tool = "{tool}", input = {{ filePath = "{}", content = "new" }} }}]
[user]
steps = [{{ prompt = "go" }}]
"#,
        path.display()
    );
    let scenario = Scenario::parse(Path::new("s.toml"), &text).unwrap();
    let stand_in = StandIn::start(Options::scenario(server, scenario)).await.unwrap();
    let (client, url) = (reqwest::Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let mut stream = client.get(format!("{url}/event")).send().await.unwrap();
    let session = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
    let session = session.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "go"}]});
    client.post(format!("{url}/session/{session}/prompt_async")).json(&prompt).send().await.unwrap();
    let (mut parser, mut asked, mut state) = (sse::Parser::new(), Value::Null, Value::Null);
    loop {
        let chunk = stream.chunk().await.unwrap().expect("the stream ended too early");
        for frame in parser.feed(&chunk) {
            let event: Value = serde_json::from_str(&frame.data).unwrap();
            match event["type"].as_str().unwrap() {
                "permission.asked" => {
                    asked = event["properties"].clone();
                    let route = format!("{url}/permission/{}/reply", asked["id"].as_str().unwrap());
                    client.post(route).json(&json!({"reply": "once"})).send().await.unwrap();
                }
                "message.part.updated" if event["properties"]["part"]["type"] == "tool" => {
                    state = event["properties"]["part"]["state"].clone();
                }
                "session.idle" => return (state, asked),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn what_is_outside_is_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("private.txt");
    std::fs::write(&path, "private").unwrap();
    for server in ServerKind::ALL {
        for (tool, error) in [("read", "File not found: "), ("write", "standin keeps to its workspace: ")] {
            let (state, asked) = allowed(server, tool, &path).await;
            assert_eq!(asked["permission"], "external_directory", "{server} {tool}");
            assert_eq!(asked["patterns"], json!([format!("{}/*", folder.path().display())]));
            assert_eq!(state["status"], "error", "{server} {tool}");
            assert!(state["error"].as_str().unwrap().starts_with(error), "{state}");
            assert!(!state.to_string().contains("private\""), "{state}");
        }
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "private");
}
