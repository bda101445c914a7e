//! Goal: servers of tools at an address are used as the real servers use them: each line posted, answers in JSON or on a
//! stream, refusals told; one of the older kind by its stream. Method: such servers on loopback, a stand-in that is told
//! of them, a plain client. Recordings hold none: a scenario starts no server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::{ClockKind, Options, StandIn};
use reqwest::Client;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;

/// What a server of tools has heard: each line with the headers that the protocol knows.
type Heard = Arc<Mutex<Vec<(Value, Vec<String>)>>>;

fn answer(said: &Value) -> Value {
    let result = match said["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": said["params"]["protocolVersion"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "far", "version": "1"},
        }),
        "tools/list" => {
            let tools: Vec<Value> = ["plain", "stream", "broken", "silent"]
                .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
                .into();
            json!({"tools": tools})
        }
        _ => json!({"content": [{"type": "text", "text": format!("did {}", said["params"]["arguments"])}]}),
    };
    json!({"jsonrpc": "2.0", "id": said["id"], "result": result})
}

async fn by_post(State(heard): State<Heard>, headers: HeaderMap, Json(said): Json<Value>) -> Response {
    let known = ["x-key", "mcp-session-id", "mcp-protocol-version"]
        .map(|name| headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default());
    heard.lock().unwrap().push((said.clone(), known.into()));
    if said["id"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    match said["params"]["name"].as_str() {
        Some("silent") => std::future::pending().await,
        Some("broken") => (StatusCode::INTERNAL_SERVER_ERROR, "boom").into_response(),
        Some("stream") => {
            let text = format!(
                "event: message\ndata: {}\n\nevent: message\ndata: {}\n\n",
                json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
                answer(&said)
            );
            ([("content-type", "text/event-stream")], text).into_response()
        }
        _ => ([("mcp-session-id", "S1")], Json(answer(&said))).into_response(),
    }
}

/// A server of the older kind: its answers go by the one stream.
fn by_stream() -> Router {
    let (tell, told) = mpsc::unbounded_channel::<String>();
    tell.send("event: endpoint\ndata: /said?of=1\n\n".to_owned()).unwrap();
    let told = Arc::new(Mutex::new(Some(told)));
    let listen = move || async move {
        let told = told.lock().unwrap().take().unwrap();
        let pieces =
            tokio_stream::StreamExt::map(UnboundedReceiverStream::new(told), Ok::<_, std::io::Error>);
        ([("content-type", "text/event-stream")], Body::from_stream(pieces))
    };
    let hear = move |Json(said): Json<Value>| async move {
        if !said["id"].is_null() {
            tell.send(format!("event: message\ndata: {}\n\n", answer(&said))).unwrap();
        }
        StatusCode::ACCEPTED
    };
    Router::new().route("/sse", get(listen)).route("/said", post(hear))
}

async fn serve(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

const SCENARIO: &str = r#"
about = "The agent calls tools of servers at an address."
[workspace.config.mcp]
far = { type = "remote", url = "FAR/mcp", headers = { "x-key" = "k" } }
old = { type = "remote", url = "OLD/sse" }
gone = { type = "remote", url = "FAR/gone" }
moved = { type = "remote", url = "FAR/moved" }
abroad = { type = "remote", url = "http://standin.invalid/mcp" }
[workspace.config]
permission = { "*" = "allow" }
[[agent]]
on = { prompt_contains = "wait" }
steps = [{ tool = "far_plain", input = {} }, { tool = "far_silent", input = {} }, { say = "Never." }]
[[agent]]
on = { prompt_contains = "" }
steps = [
  { tool = "far_plain", input = { n = 1 } },
  { say = "One." },
  { tool = "far_stream", input = { n = 2 } },
  { tool = "far_broken", input = {} },
  { tool = "old_plain", input = { n = 3 } },
  { say = "Done." },
]
[user]
steps = [{ prompt = "call" }, { wait_for = "idle" }, { prompt = "wait" }, { wait_for = "idle" }]
"#;

async fn called(server: ServerKind) {
    let heard = Heard::default();
    let moved = any(async || Redirect::temporary("http://standin.invalid/mcp"));
    let router = Router::new().route("/mcp", post(by_post)).route("/moved", moved);
    let far = serve(router.with_state(Arc::clone(&heard))).await;
    let old = serve(by_stream()).await;
    let text = SCENARIO.replace("FAR", &far).replace("OLD", &old);
    let scenario = Scenario::parse(Path::new("far.toml"), &text).unwrap();
    let stand_in = StandIn::start(Options::scenario(server, scenario)).await.unwrap();
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let get = async |path: &str| -> Value {
        client.get(format!("{url}{path}")).send().await.unwrap().json().await.unwrap()
    };
    let post = async |path: &str, body: Value| -> Value {
        client.post(format!("{url}{path}")).json(&body).send().await.unwrap().json().await.unwrap()
    };
    let servers = get("/mcp").await;
    assert_eq!(servers["far"]["status"], "connected", "{server}: {servers}");
    assert_eq!(servers["old"]["status"], "connected", "{server}: {servers}");
    assert_eq!(servers["gone"]["error"], "SSE error: Non-200 status code (404)", "{server}: {servers}");
    assert_eq!(servers["moved"]["error"], "SSE error: Non-200 status code (307)", "{server}: {servers}");
    assert!(servers["abroad"]["error"].as_str().unwrap().contains("Unable to connect"), "{servers}");
    let session = post("/session", json!({})).await["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "call"}]});
    post(&format!("/session/{session}/message"), prompt).await;
    let messages = get(&format!("/session/{session}/message")).await;
    let parts = messages.as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
    let states: Vec<Value> = parts
        .filter(|part| part["type"] == "tool")
        .map(|part| {
            [&part["state"]["output"], &part["state"]["error"]]
                .iter()
                .find(|told| told.is_string())
                .map(|told| (*told).clone())
                .unwrap()
        })
        .collect();
    let refused = "Streamable HTTP error: Error POSTing to endpoint: boom";
    assert_eq!(states, ["did {\"n\":1}", "did {\"n\":2}", refused, "did {\"n\":3}"], "{server}");
    let heard = heard.lock().unwrap();
    assert_eq!(
        heard[0].1,
        ["k", "", ""],
        "{server}: who is asked first is told nothing of what it has not said"
    );
    for (line, headers) in &heard[1..] {
        assert_eq!(headers[..], ["k", "S1", "2025-11-25"], "{server}: {line}");
    }
    let first = heard.iter().find(|(line, _)| line["method"] == "tools/call").unwrap();
    assert_eq!(first.0["params"]["_meta"]["progressToken"], first.0["id"], "{server}");
    let taken_back = heard.iter().filter(|(line, _)| line["method"] == "notifications/cancelled");
    let taken_back: Vec<&Value> = taken_back.map(|(line, _)| &line["params"]["requestId"]).collect();
    assert_eq!(taken_back[0], &first.0["id"], "{server}: what was asked in a step is taken back behind it");
}

#[tokio::test]
async fn servers_of_tools_are_asked_at_their_address() {
    for server in ServerKind::ALL {
        called(server).await;
    }
}

/// A stand-in that is told of a server of tools at this address, on this clock.
async fn told_of(far: &str, clock: ClockKind) -> StandIn {
    let text = SCENARIO.replace("FAR", far).replace("OLD", far);
    let scenario = Scenario::parse(Path::new("far.toml"), &text).unwrap();
    StandIn::start(Options { clock, ..Options::scenario(ServerKind::Kilo, scenario) }).await.unwrap()
}

#[tokio::test]
async fn what_was_asked_in_a_step_is_taken_back_when_the_person_ends_it() {
    let heard = Heard::default();
    let far = serve(Router::new().route("/mcp", post(by_post)).with_state(Arc::clone(&heard))).await;
    let stand_in = told_of(&far, ClockKind::Real).await;
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let post =
        async |path: &str, body: Value| client.post(format!("{url}{path}")).json(&body).send().await.unwrap();
    let session = post("/session", json!({})).await.json::<Value>().await.unwrap();
    let session = session["id"].as_str().unwrap().to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "wait"}]});
    post(&format!("/session/{session}/prompt_async"), prompt).await;
    let lines = |method: &str| -> Vec<Value> {
        let heard = heard.lock().unwrap();
        heard.iter().map(|(line, _)| line.clone()).filter(|line| line["method"] == method).collect()
    };
    while lines("tools/call").len() < 2 {
        tokio::task::yield_now().await;
    }
    post(&format!("/session/{session}/abort"), json!({})).await;
    while lines("notifications/cancelled").len() < 2 {
        tokio::task::yield_now().await;
    }
    let asked: Vec<Value> = lines("tools/call").iter().map(|line| line["id"].clone()).collect();
    let taken_back = lines("notifications/cancelled");
    let ids: Vec<Value> = taken_back.iter().map(|line| line["params"]["requestId"].clone()).collect();
    assert_eq!(ids, asked);
    assert_eq!(taken_back[0]["params"]["reason"], "AbortError: The operation was aborted.");
}

#[tokio::test]
async fn in_logical_time_nobody_is_there() {
    let far = serve(Router::new().route("/mcp", post(by_post)).with_state(Heard::default())).await;
    let stand_in = told_of(&far, ClockKind::Logical).await;
    let client = Client::builder().no_proxy().build().unwrap();
    let servers = client.get(format!("{}/mcp", stand_in.url())).send().await.unwrap();
    let servers: Value = servers.json().await.unwrap();
    assert!(servers["far"]["error"].as_str().unwrap().contains("Unable to connect"), "{servers}");
}
