//! Goal: with a model at an address, who is quick is told once, and what goes wrong on the way is told in the real servers'
//! words. Method: a model of a few lines on a real socket.

use crate::stage::Stage;
use fixtures::{ServerKind, catalog};
use mock_server::Options;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A model that answers each request with what this says of its body.
async fn model(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut heard = Vec::new();
            while !heard.ends_with(b"}") && stream.read_buf(&mut heard).await.is_ok_and(|count| count > 0) {}
            let answer = answer(&String::from_utf8_lossy(&heard));
            stream.write_all(answer.as_bytes()).await.ok();
        }
    });
    url
}

fn streamed(delta: serde_json::Value, reason: &str) -> String {
    let piece = |delta, reason: Option<&str>| {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}).to_string()
    };
    let (said, end) = (piece(delta, None), piece(json!({}), Some(reason)));
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
         data: {said}\n\ndata: {end}\n\ndata: [DONE]\n\n"
    )
}

async fn stage(server: ServerKind, url: String) -> Stage {
    let scenario = catalog::scenario("question/rejected").unwrap();
    Stage::open(Options { model: Some(url), ..Options::scenario(server, scenario) }).await
}

#[tokio::test]
async fn a_question_that_is_answered_at_once_is_not_dismissed_behind_that() {
    let url = model(|heard| {
        if heard.contains("\"role\":\"tool\"") || !heard.contains("\"tools\"") {
            return streamed(json!({"content": "Good."}), "stop");
        }
        let questions = json!({"questions": [{"question": "Which?", "header": "Which", "options": [
            {"label": "One", "description": "one"}]}]});
        let call = json!({"name": "question", "arguments": questions.to_string()});
        let calls = json!([{"index": 0, "id": "call_1", "type": "function", "function": call}]);
        streamed(json!({"tool_calls": calls}), "tool_calls")
    })
    .await;
    for server in ServerKind::ALL {
        let mut stage = stage(server, url.clone()).await;
        let session = stage.session().await;
        stage.begin(&session, "ask me").await;
        let asked = stage.until_kind("question.asked").await;
        let reply = format!("/question/{}/reply", asked["properties"]["id"].as_str().unwrap());
        assert_eq!(stage.post_text(&reply, r#"{"answers":[["One"]]}"#).await.0, 200);
        stage.until_kind("session.idle").await;
        let ends = stage.seen.iter().filter(|event| {
            let state = &event["properties"]["part"]["state"];
            event["properties"]["part"]["tool"] == "question" && state["status"] == "completed"
        });
        let titles: Vec<_> =
            ends.map(|event| event["properties"]["part"]["state"]["title"].clone()).collect();
        assert_eq!(titles, ["Asked 1 question"], "{server}");
    }
}

#[tokio::test]
async fn a_model_that_nobody_reaches_is_told_of_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let mut stage = stage(ServerKind::Opencode, url).await;
    let session = stage.session().await;
    stage.begin(&session, "hello").await;
    let told = stage.until(|event| event["properties"]["status"]["type"] == "retry").await;
    let wanted = "Cannot connect to API: Unable to connect. Is the computer able to access the url?";
    assert_eq!(told["properties"]["status"]["message"], wanted);
}

#[tokio::test]
async fn calls_are_numbered_as_a_model_likes() {
    let url = model(|heard| {
        if heard.contains("\"role\":\"tool\"") || !heard.contains("\"tools\"") {
            return streamed(json!({"content": "Good."}), "stop");
        }
        let call = |index: u64, id: &str, pattern: &str| {
            let function = json!({"name": "glob", "arguments": json!({"pattern": pattern}).to_string()});
            json!({"index": index, "id": id, "type": "function", "function": function})
        };
        streamed(json!({"tool_calls": [call(7, "call_a", "*.a"), call(2, "call_b", "*.b")]}), "tool_calls")
    })
    .await;
    for server in ServerKind::ALL {
        let mut stage = stage(server, url.clone()).await;
        let session = stage.session().await;
        stage.begin(&session, "look").await;
        stage.until_kind("session.idle").await;
        let over = stage.seen.iter().map(|event| &event["properties"]["part"]);
        let over = over.filter(|part| part["state"]["status"] == "completed");
        let mut done: Vec<_> =
            over.map(|part| format!("{} {}", part["callID"], part["state"]["input"]["pattern"])).collect();
        done.sort();
        assert_eq!(done, [r#""call_a" "*.a""#, r#""call_b" "*.b""#], "{server}");
    }
}

#[tokio::test]
async fn who_sums_up_calls_nothing() {
    for server in ServerKind::ALL {
        let is_summed_up = Arc::new(AtomicBool::new(false));
        let calls = Arc::clone(&is_summed_up);
        let url = model(move |_| {
            if !calls.load(Ordering::SeqCst) {
                return streamed(json!({"content": "Good."}), "stop");
            }
            let call = json!({"name": "bash", "arguments": json!({"command": "echo no"}).to_string()});
            let calls = json!([{"index": 0, "id": "call_1", "type": "function", "function": call}]);
            streamed(json!({"content": "First: ", "tool_calls": calls}), "tool_calls")
        })
        .await;
        let mut stage = stage(server, url).await;
        let session = stage.session().await;
        stage.begin(&session, "hello").await;
        stage.until_kind("session.idle").await;
        is_summed_up.store(true, Ordering::SeqCst);
        let wish = json!({"providerID": "fake", "modelID": "fake"});
        stage.post(&format!("/session/{session}/summarize"), wish).await;
        let told = stage.until_kind("session.error").await;
        let words = told["properties"]["error"]["data"]["message"].as_str().unwrap();
        assert_eq!(words, "Tool call not allowed while generating summary: bash", "{server}");
    }
}
