//! Goal: what a model at an address sends in one moment is heard in one, as a real server is still at work with a call
//! when the rest of the answer comes. Method: a model that writes each answer in one go, and the order of the events.

use crate::stage::Stage;
use fixtures::{ServerKind, catalog};
use mock_server::Options;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A model that gives work away when it is asked to, with words before the call; else it has little to say.
async fn model() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(answer(client));
        }
    });
    url
}

async fn answer(mut client: TcpStream) {
    let mut asked = Vec::new();
    let body = loop {
        let mut bytes = [0; 65536];
        let count = client.read(&mut bytes).await.unwrap();
        asked.extend_from_slice(&bytes[..count]);
        let text = String::from_utf8_lossy(&asked);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() >= length.parse().unwrap() {
            break serde_json::from_str::<Value>(body).unwrap();
        }
    };
    let messages = body["messages"].as_array().unwrap();
    let gives_away = messages.last().unwrap()["role"] == "user"
        && body["tools"].is_array()
        && messages.last().unwrap()["content"].to_string().contains("give it away");
    let mut deltas = vec![json!({"content": "Well."})];
    if gives_away {
        let input =
            json!({"description": "Look", "prompt": "look at @README.md", "subagent_type": "general"});
        let function = json!({"name": "task", "arguments": input.to_string()});
        deltas.push(
            json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}),
        );
    }
    let end = if gives_away { "tool_calls" } else { "stop" };
    let mut chunks: Vec<Value> = deltas.into_iter().map(|delta| json!({"delta": delta})).collect();
    chunks.push(json!({"delta": {}, "finish_reason": end}));
    let frame = |choice: Value| format!("data: {}\n\n", json!({"choices": [choice]}));
    let told: String = chunks.into_iter().map(frame).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    client.write_all(format!("{head}{told}data: [DONE]\n\n").as_bytes()).await.unwrap();
}

#[tokio::test]
async fn the_words_before_a_call_end_before_the_work_is_begun_that_it_gives_away() {
    for server in ServerKind::ALL {
        let mut options = Options::scenario(server, catalog::scenario("text/plain").unwrap());
        options.model = Some(model().await);
        let mut stage = Stage::open(options).await;
        let session = stage.session().await;
        stage.prompt(&session, "please give it away").await;
        stage
            .until(|event| event["type"] == "session.idle" && event["properties"]["sessionID"] == *session)
            .await;
        let place = |what: &str, fits: &dyn Fn(&Value) -> bool| {
            stage.seen.iter().position(|event| fits(&event["properties"])).expect(what)
        };
        let words_end = place("the end of the words", &|told| {
            told["part"]["sessionID"] == *session && told["part"]["time"]["end"].is_number()
        });
        let work_begins = place("the prompt of the work", &|told| {
            told["part"]["sessionID"] != *session && told["part"]["type"] == "text"
        });
        assert!(words_end < work_begins, "{server}: {words_end} < {work_begins}");
    }
}
