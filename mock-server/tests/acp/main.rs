//! Goal: an agent in the words of a public design says exactly what the design shows, and takes what it shows. Method:
//! every exchange of the design stands in a data file; the client's are said, the agent's must come in their order.
//! And what the dialects promise beside that.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod client;
mod kiro;

use client::Client;
use fixtures::ServerKind;
use fixtures::fault_plan::FaultPlan;
use fixtures::recording::Line;
use fixtures::scenario::Scenario;
use mock_server::Options;
use mock_server::acp::dialect::{Dialect, Strictness, TurnEnd};
use serde_json::{Value, json};
use std::path::Path;

const SEED: &str = include_str!("kiro-seed.jsonl");

#[tokio::test]
async fn every_exchange_of_the_design_is_said_to_the_letter() {
    let mut client = Client::of(Dialect::KiroSeed, |_| {}).await;
    let lines = SEED.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut count = 0;
    for line in lines {
        count += 1;
        let message = line["message"].clone();
        if line["from"] == "client" {
            client.say(&message).await;
            continue;
        }
        // What the design does not show may stand in between; what it shows must come. Into how many chunks a text is
        // cut it does not say.
        let mut text = String::new();
        loop {
            let mut heard = client.hear().await;
            if heard["params"]["update"]["type"] == "AgentMessageChunk" {
                text += heard["params"]["update"]["content"].as_str().unwrap();
                heard["params"]["update"]["content"] = json!(text);
            }
            if heard == message {
                break;
            }
            let is_answer = message.get("id").is_some() && heard["id"] == message["id"];
            assert!(!is_answer, "{}: {message} was expected, and {heard} came", line["title"]);
        }
    }
    assert_eq!(count, 21);
}

#[tokio::test]
async fn strict_agents_refuse_the_words_of_the_design_and_lenient_ones_take_them() {
    let prompt = |session: &str| json!({"sessionId": session, "content": [{"type": "text", "text": "list"}]});
    let mut strict = Client::of(Dialect::AcpV1, |_| {}).await;
    let session = strict.session().await;
    assert_eq!(strict.ask(1, "session/prompt", prompt(&session)).await["error"]["code"], -32602);
    let mut lenient = Client::of(Dialect::AcpV1, |options| options.strictness = Strictness::Lenient).await;
    let session = lenient.session().await;
    let answer = lenient.ask(1, "session/prompt", prompt(&session)).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[tokio::test]
async fn the_design_has_an_example_of_its_own_to_perform() {
    let own = Dialect::KiroSeed.scenario().unwrap().unwrap();
    assert!(own.agent.iter().any(|turn| format!("{turn:?}").contains("What files are in this directory?")));
    assert!(Dialect::AcpV1.scenario().unwrap().is_none());
}

const WRITES: &str = r#"
about = "The agent writes a file, if it may."
[workspace]
config = { permission = { edit = "ask" } }
[[agent]]
on = { prompt_contains = "" }
steps = [{ say = "I will." }, { tool = "write", input = { filePath = "${workspace}/out.txt", content = "x" } }, { say = "Done." }]
[user]
steps = [{ prompt = "write" }, { answer_permission = "once" }, { wait_for = "idle" }]
"#;

#[tokio::test]
async fn who_edits_is_asked_before_kilos_agent_has_told_of_it_and_after_opencodes_has() {
    for (server, first) in [(ServerKind::Kilo, "question"), (ServerKind::Opencode, "words")] {
        let scenario = Scenario::parse(Path::new("writes.toml"), WRITES).unwrap();
        let mut client =
            Client::of(Dialect::AcpV1, |options| options.server = Options::scenario(server, scenario)).await;
        let session = client.session().await;
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "write"}]});
        client.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt})).await;
        let mut told = Vec::new();
        loop {
            let message = client.hear().await;
            if message["method"] == "session/request_permission" {
                told.push("question");
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": "once"}});
                client.say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": outcome})).await;
            }
            match message["params"]["update"]["sessionUpdate"].as_str() {
                Some("agent_message_chunk") => told.push("words"),
                Some("tool_call") => told.push("call"),
                _ => {}
            }
            if message["id"] == 1 && message.get("method").is_none() {
                assert_eq!(message["result"]["stopReason"], "end_turn");
                break;
            }
        }
        assert_eq!(told.first(), Some(&first), "{server}: {told:?}");
        assert!(told.contains(&"question") && told.contains(&"call"), "{server}: {told:?}");
    }
}

#[tokio::test]
async fn a_turn_ends_as_is_wished() {
    let is_end = |message: &Value| message["params"]["update"]["sessionUpdate"] == "turn_end";
    for (end, expected) in [
        (TurnEnd::Response, ["answer"].as_slice()),
        (TurnEnd::UpdateThenResponse, &["update", "answer"]),
        (TurnEnd::ResponseThenUpdate, &["answer", "update"]),
        (TurnEnd::UpdateOnly, &["update"]),
        (TurnEnd::Neither, &[]),
    ] {
        let mut client = Client::of(Dialect::AcpV1, |options| options.turn_end = Some(end)).await;
        let session = client.session().await;
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "list"}]});
        client.say(&json!({"jsonrpc": "2.0", "id": 7, "method": "session/prompt", "params": prompt})).await;
        while client.hear().await["params"]["update"]["sessionUpdate"] != "usage_update" {}
        // What follows the end of a turn is the answer to the next request.
        let end_of_turn = client.heard.len();
        client.ask(8, "session/list", json!({})).await;
        let told = client.heard.iter().skip(end_of_turn).filter_map(|message| match message {
            message if is_end(message) => Some("update"),
            message if message["id"] == 7 => Some("answer"),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), expected, "{end:?}");
    }
}

#[tokio::test]
async fn sessions_had_modes_and_models() {
    let mut client = Client::of(Dialect::AcpV1LegacyModels, |_| {}).await;
    let cwd = client.agent.stand_in().workspace().to_owned();
    let made = client.ask(1, "session/new", json!({"cwd": cwd, "mcpServers": []})).await;
    assert_eq!(made["result"]["models"]["currentModelId"], "fake/fake");
    assert_eq!(made["result"]["modes"]["currentModeId"], "build");
    assert!(made["result"]["configOptions"].is_array());
}

#[tokio::test]
async fn a_prompt_behind_a_cancel_is_another_turn() {
    let late =
        "[[fault]]\nwhen = { request = \"POST /session/{sessionID}/abort\" }\ndo = { late_ms = 300 }\n";
    let mut client = Client::of(Dialect::AcpV1, |options| {
        options.server.faults = FaultPlan::parse(Path::new("late.toml"), late).unwrap();
    })
    .await;
    let session = client.session().await;
    client
        .say(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}))
        .await;
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "list"}]});
    let answer = client.ask(1, "session/prompt", prompt).await;
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    // The server has done with the one before it hears of the other.
    let lines = client.agent.stand_in().journal().lines();
    let request = |end: &str| {
        lines.iter().enumerate().find_map(|(at, line)| match line {
            Line::Request(asked) if asked.method == "POST" && asked.path.ends_with(end) => {
                Some((at, asked.exchange))
            }
            _ => None,
        })
    };
    let (_, abort) = request("/abort").unwrap();
    let (prompted, _) = request("/message").or(request("/prompt_async")).unwrap();
    let is_done = |line: &Line| matches!(line, Line::Response(done) if done.exchange == abort);
    let aborted = lines.iter().position(is_done).unwrap();
    assert!(
        aborted < prompted,
        "the abort is answered in line {aborted}, the prompt is sent in line {prompted}"
    );
}

#[tokio::test]
async fn a_message_that_has_an_id_is_told_by_it() {
    let mut client = Client::of(Dialect::AcpV1, |_| {}).await;
    let session = client.session().await;
    let named = |id: Value| json!({"sessionId": session, "messageId": id, "prompt": [{"type": "text", "text": "list"}]});
    let id = "5f0c1e1c-55a5-4b0e-9a7b-0d8b1b6d8a11";
    let (wrong, right) = (named(json!(5)), named(json!(id)));
    assert_eq!(client.ask(1, "session/prompt", wrong).await["error"]["code"], -32602);
    assert_eq!(client.ask(2, "session/prompt", right).await["result"]["userMessageId"], id);
}
