//! Goal: what Kilo's agents leave on their board behaves beyond what is recorded: who may take it off, what outlives the server,
//! what is hinted at once. Method: a plain client on loopback.

use crate::stage::Stage;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use mock_server::Options;
use serde_json::{Value, json};
use std::path::Path;

#[tokio::test]
async fn a_board_is_taken_off_by_its_owner_alone_who_knows_what_stands_there() {
    let scenario = catalog::scenario("tool/board").unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let session = stage.session().await;
    stage.begin(&session, "work together").await;
    stage.until(|event| event["type"] == "session.idle" && event["properties"]["sessionID"] == session).await;
    let child =
        stage.get(&format!("/session/{session}/children")).await[0]["id"].as_str().unwrap().to_owned();
    let of_child = format!("/kilocode/session/{child}/board");
    let of_main = format!("/kilocode/session/{session}/board");
    let seen = stage.get(&of_main).await;
    assert_eq!(seen["revision"], 2);
    assert_eq!(stage.get(&of_child).await, seen, "the family has one board");
    let reset = |of: &str| format!("{of}/reset");
    let (status, refused) = stage.post_text(&reset(&of_child), r#"{"revision":2}"#).await;
    assert_eq!((status, &refused["message"]), (400, &json!("Only the owning session can reset this board")));
    let (status, refused) = stage.post_text(&reset(&of_main), r#"{"revision":1}"#).await;
    assert_eq!(status, 409, "{refused}");
    let (status, cleared) = stage.post_text(&reset(&of_main), r#"{"revision":2}"#).await;
    assert_eq!((status, &cleared["messages"], &cleared["revision"]), (200, &json!([]), &json!(2)));
}

const TWICE: &str = r#"
about = "A child writes twice; its parent calls twice after that."

[workspace]
config = { permission = { bash = "allow" } }

[[agent]]
on = { prompt_contains = "parent" }
steps = [
  { tool = "task", input = { description = "Write", prompt = "Be the child.", subagent_type = "general" } },
  { finish = "tool_calls" },
  { tool = "bash", input = { command = "echo one", description = "One" } },
  { finish = "tool_calls" },
  { say = "Done." },
]

[[agent]]
on = { prompt_contains = "child" }
steps = [
  { tool = "board_post", input = { to = "main", type = "INFO", body = "first" } },
  { finish = "tool_calls" },
  { tool = "board_post", input = { to = "ALL", type = "INFO", body = "second" } },
  { finish = "tool_calls" },
  { say = "Written." },
]

[user]
steps = [{ prompt = "be the parent" }, { wait_for = "idle" }]
"#;

#[tokio::test]
async fn what_is_new_is_hinted_at_once_and_never_to_who_wrote_it() {
    let scenario = Scenario::parse(Path::new("twice.toml"), TWICE).unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let session = stage.session().await;
    stage.begin(&session, "be the parent").await;
    stage.until(|event| event["type"] == "session.idle" && event["properties"]["sessionID"] == session).await;
    let hints = |messages: &Value| -> Vec<Value> {
        let parts =
            messages.as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
        let calls = parts.filter(|part| part["type"] == "tool");
        calls.map(|part| part["state"]["metadata"]["shared_agent_board_notice"].clone()).collect()
    };
    let messages = stage.get(&format!("/session/{session}/message")).await;
    assert_eq!(
        hints(&messages),
        [json!(2), Value::Null],
        "the task's end tells it, what comes then does not"
    );
    let child =
        stage.get(&format!("/session/{session}/children")).await[0]["id"].as_str().unwrap().to_owned();
    let messages = stage.get(&format!("/session/{child}/message")).await;
    assert_eq!(hints(&messages), [Value::Null, Value::Null]);
}

#[tokio::test]
async fn a_board_outlives_its_server() {
    let home = tempfile::tempdir().unwrap();
    let workspace = home.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let options = || {
        let mut options = Options::scenario(ServerKind::Kilo, catalog::scenario("tool/board").unwrap());
        options.home = Some(home.path().canonicalize().unwrap().join("home"));
        options.workspace = Some(workspace.clone());
        options
    };
    let mut stage = Stage::open(options()).await;
    let session = stage.session().await;
    stage.begin(&session, "work together").await;
    stage.until(|event| event["type"] == "session.idle" && event["properties"]["sessionID"] == session).await;
    let board = format!("/kilocode/session/{session}/board");
    let seen = stage.get(&board).await;
    assert_eq!(seen["revision"], 2);
    drop(stage);
    let stage = Stage::open(options()).await;
    assert_eq!(stage.get(&board).await, seen);
}

#[tokio::test]
async fn where_the_settings_want_no_boards_nobody_has_one() {
    let text = TWICE.replace("config = {", "config = { shared_agent_board = false,");
    let scenario = Scenario::parse(Path::new("none.toml"), &text).unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let agents = stage.get("/agent").await.to_string();
    assert!(agents.contains("todowrite") && !agents.contains("board_read") && !agents.contains("board_post"));
    let session = stage.session().await;
    stage.begin(&session, "be the parent").await;
    stage.until(|event| event["type"] == "session.idle" && event["properties"]["sessionID"] == session).await;
    assert_eq!(stage.get(&format!("/kilocode/session/{session}/board")).await["revision"], 0);
    let child =
        stage.get(&format!("/session/{session}/children")).await[0]["id"].as_str().unwrap().to_owned();
    let messages = stage.get(&format!("/session/{child}/message")).await.to_string();
    assert!(messages.contains("unavailable tool 'board_post'"), "{messages}");
}
