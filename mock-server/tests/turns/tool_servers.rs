//! Goal: servers of tools run only where shell lines may, in logical time too, and never longer than the stand-in.
//! Method: the recorded scenarios with servers of tools, in folders and on clocks that no recording shows.

use crate::stage::Stage;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options};
use rustix::process::{Pid, test_kill_process_group};
use serde_json::Value;

fn options(server: ServerKind) -> Options {
    Options::scenario(server, catalog::scenario("mcp/odd-answers").unwrap())
}

/// A prompt is sent; waits for the end of its first call.
async fn first_call(stage: &mut Stage, prompt: &str) -> Value {
    let session = stage.session().await;
    stage.begin(&session, prompt).await;
    let state = |event: &Value| event["properties"]["part"]["state"].clone();
    let is_over = |state: &Value| state["status"] == "completed" || state["status"] == "error";
    let is_here = |event: &Value| event["properties"]["sessionID"] == session.as_str();
    let event = stage.until(|event| is_here(event) && is_over(&state(event))).await;
    state(&event)
}

#[tokio::test]
async fn in_logical_time_servers_are_heard_and_their_silence_ends_too() {
    for server in ServerKind::ALL {
        let mut options = options(server);
        options.clock = ClockKind::Logical;
        let mut stage = Stage::open(options).await;
        let shown = first_call(&mut stage, "show me").await;
        assert!(shown["output"].as_str().unwrap().starts_with("Look:"), "{shown}");
        let late = first_call(&mut stage, "hang on").await;
        assert_eq!(late["error"], "MCP error -32001: Request timed out");
    }
}

#[tokio::test]
async fn in_a_folder_of_somebody_else_no_server_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(ServerKind::Kilo);
    options.workspace = Some(folder.path().to_path_buf());
    let mut stage = Stage::open(options).await;
    let state = first_call(&mut stage, "show me").await;
    assert!(state["error"].as_str().unwrap().contains("unavailable tool 'little_shows'"), "{state}");
}

#[tokio::test]
async fn no_server_outlives_its_stand_in() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("leader");
    let mut options = options(ServerKind::Opencode);
    options.workspace = Some(folder.path().to_path_buf());
    options.allow_shell = true;
    let serving = catalog::scenario("mcp/odd-answers").unwrap().workspace.files["tools.sh"].clone();
    let script = format!("echo $$ > '{}'\n{serving}", note.display());
    std::fs::write(folder.path().join("tools.sh"), script).unwrap();
    let mut stage = Stage::open(options).await;
    first_call(&mut stage, "show me").await;
    let leader = std::fs::read_to_string(&note).unwrap().trim().parse().unwrap();
    let leader = Pid::from_raw(leader).unwrap();
    assert!(test_kill_process_group(leader).is_ok());
    drop(stage);
    for _ in 0..1_000_000 {
        if test_kill_process_group(leader).is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the server lives on");
}
