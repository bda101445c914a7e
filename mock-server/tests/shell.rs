//! Goal: shell lines run only where they may, and never longer than the stand-in. Method: one call of `bash` in folders
//! of several kinds; a stand-in that goes away in the middle of a line.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::scenario::Scenario;
use fixtures::{ServerKind, sse};
use mock_server::{ClockKind, Options, StandIn};
use rustix::process::{Pid, test_kill_process_group};
use serde_json::{Value, json};
use std::path::Path;

fn options(server: ServerKind, line: &str) -> Options {
    let text = format!(
        r#"
about = "x"
[workspace]
config = {{ permission = {{ bash = "allow" }} }}
[[agent]]
on = {{ prompt_contains = "go" }}
steps = [{{ tool = "bash", input = {{ command = "{line}", description = "x" }} }}]
[user]
steps = [{{ prompt = "go" }}]
"#
    );
    Options::scenario(server, Scenario::parse(Path::new("s.toml"), &text).unwrap())
}

/// Prompts, and returns the first state of the call that is wanted.
async fn call_until(stand_in: &StandIn, wanted: impl Fn(&Value) -> bool) -> Value {
    let (client, url) = (reqwest::Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let mut stream = client.get(format!("{url}/event")).send().await.unwrap();
    let session = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
    let session = session.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "go"}]});
    client.post(format!("{url}/session/{session}/prompt_async")).json(&prompt).send().await.unwrap();
    let mut parser = sse::Parser::new();
    loop {
        let chunk = stream.chunk().await.unwrap().expect("the stream ended too early");
        for frame in parser.feed(&chunk) {
            let event: Value = serde_json::from_str(&frame.data).unwrap();
            let state = &event["properties"]["part"]["state"];
            if state.is_object() && wanted(state) {
                return state.clone();
            }
        }
    }
}

fn is_over(state: &Value) -> bool {
    state["status"] == "completed" || state["status"] == "error"
}

#[tokio::test]
async fn in_a_folder_of_somebody_else_a_line_runs_only_if_it_is_allowed() {
    for server in ServerKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(server, "echo made > made.txt");
        options.workspace = Some(folder.path().to_path_buf());
        let stand_in = StandIn::start(options.clone()).await.unwrap();
        let state = call_until(&stand_in, is_over).await;
        assert!(state["error"].as_str().unwrap().contains("--allow-shell"), "{state}");
        assert!(!folder.path().join("made.txt").exists());
        options.allow_shell = true;
        let stand_in = StandIn::start(options).await.unwrap();
        let state = call_until(&stand_in, is_over).await;
        assert_eq!(state["metadata"]["exit"], 0, "{state}");
        assert_eq!(std::fs::read_to_string(folder.path().join("made.txt")).unwrap(), "made\n");
    }
}

#[tokio::test]
async fn in_logical_time_a_line_runs_too() {
    let mut options = options(ServerKind::Kilo, "echo one; exit 3");
    options.clock = ClockKind::Logical;
    let stand_in = StandIn::start(options).await.unwrap();
    let state = call_until(&stand_in, is_over).await;
    assert_eq!((&state["output"], &state["metadata"]["exit"]), (&json!("one\n"), &json!(3)));
}

#[tokio::test]
async fn a_line_does_not_outlive_its_stand_in() {
    let stand_in = StandIn::start(options(ServerKind::Opencode, "echo $$; sleep 600")).await.unwrap();
    let is_begun =
        |state: &Value| state["metadata"]["output"].as_str().is_some_and(|output| !output.is_empty());
    let state = call_until(&stand_in, is_begun).await;
    let leader: i32 = state["metadata"]["output"].as_str().unwrap().trim().parse().unwrap();
    let leader = Pid::from_raw(leader).unwrap();
    assert!(test_kill_process_group(leader).is_ok());
    drop(stand_in);
    for _ in 0..1_000_000 {
        if test_kill_process_group(leader).is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the line lives on");
}
