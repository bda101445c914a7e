//! Goal: shell lines run only where they may, and never longer than the stand-in. Method: one call of `bash` in folders
//! of several kinds; a stand-in that goes away in the middle of a line.

use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::{ClockKind, Options};
use reqwest::Method;
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

/// A prompt is sent; waits for the first state of its call that is wanted.
async fn call_until(options: Options, wanted: impl Fn(&Value) -> bool) -> (Stage, Value) {
    let mut stage = Stage::open(options).await;
    let session = stage.session().await;
    stage.begin(&session, "go").await;
    let state = |event: &Value| event["properties"]["part"]["state"].clone();
    let event = stage.until(|event| state(event).is_object() && wanted(&state(event))).await;
    let state = state(&event);
    (stage, state)
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
        let (_stage, state) = call_until(options.clone(), is_over).await;
        assert!(state["error"].as_str().unwrap().contains("--allow-shell"), "{state}");
        assert!(!folder.path().join("made.txt").exists());
        options.allow_shell = true;
        let (_stage, state) = call_until(options, is_over).await;
        assert_eq!(state["metadata"]["exit"], 0, "{state}");
        assert_eq!(std::fs::read_to_string(folder.path().join("made.txt")).unwrap(), "made\n");
    }
}

#[tokio::test]
async fn in_logical_time_a_line_runs_too() {
    let mut options = options(ServerKind::Kilo, "echo one; exit 3");
    options.clock = ClockKind::Logical;
    let (_stage, state) = call_until(options, is_over).await;
    assert_eq!((&state["output"], &state["metadata"]["exit"]), (&json!("one\n"), &json!(3)));
}

#[tokio::test]
async fn a_line_does_not_outlive_its_stand_in() {
    let is_begun =
        |state: &Value| state["metadata"]["output"].as_str().is_some_and(|output| !output.is_empty());
    let options = options(ServerKind::Opencode, "echo $$; sleep 600");
    let (stage, state) = call_until(options, is_begun).await;
    let leader: i32 = state["metadata"]["output"].as_str().unwrap().trim().parse().unwrap();
    let leader = Pid::from_raw(leader).unwrap();
    assert!(test_kill_process_group(leader).is_ok());
    drop(stage);
    for _ in 0..1_000_000 {
        if test_kill_process_group(leader).is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("the line lives on");
}

#[tokio::test]
async fn a_line_that_is_aborted_as_soon_as_it_begins_has_had_its_first_words() {
    for server in ServerKind::ALL {
        let options = options(server, "echo begun; sleep 600");
        let (mut stage, state) = call_until(options, |state| state["status"] == "running").await;
        assert_eq!(state["input"]["command"], "echo begun; sleep 600");
        let session = stage.seen.iter().find_map(|event| event["properties"]["part"]["sessionID"].as_str());
        let session = session.unwrap().to_owned();
        stage.post(&format!("/session/{session}/abort"), json!({})).await;
        let over = stage.until(|event| is_over(&event["properties"]["part"]["state"])).await;
        let output = over["properties"]["part"]["state"]["output"].as_str().unwrap_or_default();
        assert!(output.starts_with("begun\n"), "{server}: {over}");
    }
}

/// What waits behind it is answered as well: a prompt, and who wants a summary.
#[tokio::test]
async fn who_waits_behind_a_line_of_a_deleted_session_is_answered() {
    for server in ServerKind::ALL {
        let mut stage = Stage::open(options(server, "echo unused")).await;
        let session = stage.session().await;
        let path = |name: &str| format!("/session/{session}{name}");
        let line = "echo begun; until [ -e go ]; do sleep 0.02; done";
        let line = json!({"agent": "general", "command": line});
        let mut answers = vec![stage.beside(Method::POST, &path("/shell"), &line)];
        stage.until(|event| event["properties"]["part"]["state"]["metadata"]["output"] == "begun\n").await;
        let prompt = json!({"parts": [{"type": "text", "text": "behind it"}]});
        answers.push(stage.beside(Method::POST, &path("/message"), &prompt));
        stage.until(|event| event["properties"]["part"]["text"] == "behind it").await;
        let model = json!({"providerID": "fake", "modelID": "fake"});
        answers.push(stage.beside(Method::POST, &path("/summarize"), &model));
        stage.until(|event| event["properties"]["part"]["type"] == "compaction").await;
        assert_eq!(stage.beside(Method::DELETE, &path(""), &Value::Null).await.unwrap(), 200);
        std::fs::write(Path::new(stage.stand_in.workspace()).join("go"), "").unwrap();
        for answer in answers {
            assert_eq!(answer.await.unwrap(), 500, "{server}: nothing of it is left");
        }
    }
}

const TWO_LINES: &str = r#"
about = "x"
[workspace]
config = { permission = { bash = "allow" } }
[[agent]]
on = { prompt_contains = "go" }
steps = [
  { tool = "bash", input = { command = "echo one", description = "1" } },
  { tool = "bash", input = { command = "echo two", description = "2" } },
]
[user]
steps = [{ prompt = "go" }]
"#;

/// Until the grammar of the shell is there, all that come are told to run before they are looked at.
#[tokio::test]
async fn two_first_lines_of_one_step_begin_alike() {
    for server in ServerKind::ALL {
        let scenario = Scenario::parse(Path::new("s.toml"), TWO_LINES).unwrap();
        let mut stage = Stage::open(Options::scenario(server, scenario)).await;
        let session = stage.session().await;
        stage.begin(&session, "go").await;
        stage.until_kind("session.idle").await;
        let parts = stage.seen.iter().map(|event| &event["properties"]["part"]);
        let running: Vec<(&Value, bool)> = parts
            .filter(|part| part["state"]["status"] == "running")
            .map(|part| (&part["callID"], part["state"].get("metadata").is_some()))
            .collect();
        let firsts =
            |call: &str| running.iter().find(|(id, _)| *id == call).map(|(_, has_output)| *has_output);
        assert_eq!((firsts("call_1"), firsts("call_2")), (Some(false), Some(false)), "{server}");
    }
}

const A_LINE_AND_A_FILE: &str = r#"
about = "x"
[workspace]
config = { permission = { bash = "ask", edit = "ask" } }
[[agent]]
on = { prompt_contains = "go" }
steps = [
  { tool = "bash", input = { command = "echo one", description = "1" } },
  { tool = "write", input = { filePath = "${workspace}/two.txt", content = "2" } },
]
[user]
steps = [{ prompt = "go" }]
"#;

/// The first line of a server's life waits for the grammar of shell lines; meanwhile the other calls ask.
#[tokio::test]
async fn the_first_line_is_asked_about_behind_the_other_calls_of_its_step() {
    for server in ServerKind::ALL {
        let scenario = Scenario::parse(Path::new("s.toml"), A_LINE_AND_A_FILE).unwrap();
        let mut stage = Stage::open(Options::scenario(server, scenario)).await;
        let session = stage.session().await;
        stage.begin(&session, "go").await;
        stage.until(|event| event["properties"]["permission"] == "bash").await;
        let asked = stage.seen.iter().filter(|event| event["type"] == "permission.asked");
        let asked: Vec<&Value> = asked.map(|event| &event["properties"]["permission"]).collect();
        assert_eq!(asked, ["edit", "bash"], "{server}");
    }
}
