//! Goal: what agents of Kilo's server suggest and leave running behaves beyond what is recorded: turns that are ended, ports that
//! say that a program is ready. Method: a plain client on loopback, real programs.

use crate::stage::Stage;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::Path;

#[tokio::test]
async fn who_ends_a_turn_ends_what_it_suggests_and_is_not_told_of_that() {
    let scenario = catalog::scenario("tool/suggested").unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let session = stage.session().await;
    stage.begin(&session, "dock the first boat").await;
    stage.until_kind("suggestion.shown").await;
    stage.until(|event| event["properties"]["part"]["state"]["status"] == "running").await;
    assert_eq!(stage.get("/suggestion").await.as_array().unwrap().len(), 1);
    assert_eq!(stage.get("/session/status").await, json!({}), "the session is told to be idle");
    assert_eq!(stage.post(&format!("/session/{session}/abort"), json!({})).await, json!(true));
    stage.until_kind("session.turn.close").await;
    assert_eq!(stage.get("/suggestion").await, json!([]));
    assert!(stage.seen.iter().all(|event| event["type"] != "suggestion.dismissed"));
    let messages = stage.get(&format!("/session/{session}/message")).await;
    let state = &call_in(&messages)["state"];
    assert_eq!([&state["status"], &state["error"]], ["error", "Tool execution aborted"]);
}

#[tokio::test]
async fn an_index_that_no_action_has_fails_the_call_and_the_agent_goes_on() {
    let scenario = catalog::scenario("tool/suggested").unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let session = stage.session().await;
    stage.begin(&session, "dock the first boat").await;
    let shown = stage.until_kind("suggestion.shown").await;
    stage.until(|event| event["properties"]["part"]["state"]["status"] == "running").await;
    let accept = format!("/suggestion/{}/accept", shown["properties"]["id"].as_str().unwrap());
    assert_eq!(stage.post_text(&accept, r#"{"index":5}"#).await, (404, json!({"_tag": "NotFound"})));
    stage.until_kind("session.turn.close").await;
    let messages = stage.get(&format!("/session/{session}/message")).await;
    assert_eq!(call_in(&messages)["state"]["error"], "Invalid action index: 5");
    assert_eq!(messages[2]["parts"][1]["text"], "So be it with the first one.");
}

fn call_in(messages: &Value) -> &Value {
    messages[1]["parts"].as_array().unwrap().iter().find(|part| part["type"] == "tool").unwrap()
}

fn on_port(port: u16) -> Options {
    let text = format!(
        r#"
about = "A program is ready when it listens."

[workspace]
config = {{ permission = {{ bash = "allow" }} }}

[[agent]]
on = {{ prompt_contains = "serve" }}
steps = [
  {{ tool = "background_process", input = {{ action = "start", command = "sleep 60", ready = {{ port = {port} }} }} }},
  {{ finish = "tool_calls" }},
  {{ say = "It runs." }},
]

[user]
steps = [{{ prompt = "serve it" }}, {{ wait_for = "idle" }}]
"#
    );
    Options::scenario(ServerKind::Kilo, Scenario::parse(Path::new("port.toml"), &text).unwrap())
}

#[tokio::test]
async fn a_program_is_ready_when_its_port_is_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut stage = Stage::open(on_port(port)).await;
    let session = stage.session().await;
    stage.begin(&session, "serve it").await;
    let begun = stage.until_kind("background_process.updated").await;
    assert_eq!(begun["properties"]["info"]["status"], "starting");
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let ready = stage.until(|event| event["properties"]["info"]["status"] == "ready").await;
    assert_eq!(ready["properties"]["info"]["ports"], json!([port]));
    stage.until_kind("session.turn.close").await;
    drop(listener);
}

#[tokio::test]
async fn a_port_that_is_taken_before_starts_no_program() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut stage = Stage::open(on_port(port)).await;
    let session = stage.session().await;
    stage.begin(&session, "serve it").await;
    stage.until_kind("session.turn.close").await;
    let messages = stage.get(&format!("/session/{session}/message")).await;
    assert_eq!(call_in(&messages)["state"]["error"], format!("Ready port is already in use: {port}"));
    assert_eq!(stage.get("/background-process").await, json!([]));
}

const SLOW: &str = r#"
about = "A program takes its time; the turn that waits for it is ended, and another one asks."

[workspace]
config = { permission = { bash = "allow" } }

[[agent]]
on = { prompt_contains = "serve" }
steps = [
  { tool = "background_process", input = { action = "start", command = "until [ -e go ]; do sleep 0.05; done; echo ready; sleep 60", ready = { pattern = "ready" } } },
  { finish = "tool_calls" },
  { say = "It runs." },
]

[[agent]]
on = { prompt_contains = "ask" }
steps = [
  { tool = "question", input = { questions = [{ question = "Which?", header = "It", options = [{ label = "One", description = "The one" }] }] } },
  { finish = "tool_calls" },
  { say = "So be it." },
]

[user]
steps = [{ prompt = "serve it" }, { prompt = "ask me" }, { wait_for = "idle" }]
"#;

#[tokio::test]
async fn a_program_that_is_ready_late_ends_no_other_call() {
    let scenario = Scenario::parse(Path::new("slow.toml"), SLOW).unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let session = stage.session().await;
    stage.begin(&session, "serve it").await;
    stage.until_kind("background_process.updated").await;
    stage.post(&format!("/session/{session}/abort"), json!({})).await;
    stage.until_kind("session.turn.close").await;
    stage.begin(&session, "ask me").await;
    stage.until_kind("question.asked").await;
    let place = stage.get("/path").await;
    std::fs::write(Path::new(place["directory"].as_str().unwrap()).join("go"), "").unwrap();
    stage.until(|event| event["properties"]["info"]["status"] == "ready").await;
    let messages = stage.get(&format!("/session/{session}/message")).await;
    let asked = messages.as_array().unwrap().last().unwrap()["parts"].as_array().unwrap();
    let asked = asked.iter().find(|part| part["type"] == "tool").unwrap();
    assert_eq!([&asked["tool"], &asked["state"]["status"]], ["question", "running"]);
}

#[tokio::test]
async fn a_suggestion_whose_turn_is_over_is_accepted_by_nobody() {
    let scenario = catalog::scenario("tool/suggested").unwrap();
    let mut stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let sessions = [stage.session().await, stage.session().await];
    for session in &sessions {
        stage.begin(session, "dock the first boat").await;
        let is_running = |event: &Value| {
            let part = &event["properties"]["part"];
            part["sessionID"] == **session && part["state"]["status"] == "running"
        };
        stage.until(is_running).await;
    }
    // The server takes back the older one: both calls have one id.
    stage.post(&format!("/session/{}/abort", sessions[1]), json!({})).await;
    stage.until_kind("session.turn.close").await;
    let left = stage.get("/suggestion").await;
    assert_eq!(left[0]["sessionID"], sessions[1].as_str(), "{left}");
    let accept = format!("/suggestion/{}/accept", left[0]["id"].as_str().unwrap());
    assert_eq!(stage.post(&accept, json!({"index": 0})).await, json!(true));
    stage.until_kind("suggestion.accepted").await;
    stage.seen.clear();
    stage.post("/session", json!({})).await;
    stage.until_kind("session.created").await;
    assert!(stage.seen.iter().all(|event| event["type"] != "session.status"), "{:?}", stage.seen);
}

#[tokio::test]
async fn where_time_is_only_counted_a_program_holds_nobody_up() {
    let scenario = catalog::scenario("tool/left-running").unwrap();
    let mut options = Options::scenario(ServerKind::Kilo, scenario);
    options.clock = ClockKind::Logical;
    let stage = Stage::open(options).await;
    let session = stage.session().await;
    stage.prompt(&session, "serve it").await;
    let programs = stage.get("/background-process").await;
    assert_eq!([&programs[0]["status"], &programs[0]["output"]], ["ready", "starting\nnow ready\n"]);
}
