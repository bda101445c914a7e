//! The scripted model over HTTP, in the OpenAI dialect, for the real servers.

use super::chat::ChatRequest;
use super::script::{Answer, Delta, FinishReason, Script, Usage};
use crate::clock::{Clock, ClockKind};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fixtures::recording::ModelPurpose;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Told of every call and its answer; a recorder writes it down.
pub type OnCall = Arc<dyn Fn(&ChatRequest, &Answer) + Send + Sync>;

/// A scripted model that listens on a loopback port until it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    task: tokio::task::JoinHandle<()>,
}

/// How the model behaves as a server.
pub struct ModelOptions {
    /// The port; 0 takes any free one.
    pub port: u16,
    /// How long the model thinks before each answer. What a server does meanwhile comes first then, and what it
    /// does at no fixed place shows.
    pub pause: Duration,
    /// Told of every call.
    pub on_call: OnCall,
}

struct Shared {
    script: Script,
    pause: Duration,
    clock: Clock,
    on_call: OnCall,
}

impl ModelServer {
    /// Starts listening.
    pub async fn start(script: Script, options: ModelOptions) -> std::io::Result<Self> {
        let ModelOptions { port, pause, on_call } = options;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = listener.local_addr()?;
        let app = Router::new()
            .route("/v1/models", get(models))
            .route("/v1/chat/completions", post(completions))
            .with_state(Arc::new(Shared { script, pause, clock: Clock::new(ClockKind::Real), on_call }));
        let task = tokio::spawn(async move {
            // Serving ends with the task; an accept error has nobody to be told to.
            let _ = axum::serve(listener, app).await;
        });
        Ok(Self { address, task })
    }

    /// The address, without `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn models() -> Json<Value> {
    Json(
        json!({"object": "list", "data": [{"id": "fake", "object": "model", "created": 0, "owned_by": "standin"}]}),
    )
}

async fn completions(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let request = serde_json::from_slice::<Value>(&body)
        .map_err(|error| format!("the request is not JSON: {error}"))
        .and_then(|body| ChatRequest::parse(&body));
    let request = match request {
        Ok(request) => request,
        Err(message) => return refuse(&message),
    };
    let answer = shared.script.answer(&request);
    (shared.on_call)(&request, &answer);
    if !shared.pause.is_zero() {
        shared.clock.wait(shared.pause).await;
    }
    match answer.deltas {
        Err(message) => refuse(&message),
        Ok(deltas) if request.stream => stream(&deltas),
        Ok(deltas) => Json(whole(&deltas, request.purpose())).into_response(),
    }
}

/// A call that the script does not know is an error that no server retries, in words that end up on the screen.
fn refuse(message: &str) -> Response {
    let body = json!({"error": {"message": format!("standin's scripted model: {message}"), "type": "invalid_request_error", "code": "no_turn"}});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn stream(deltas: &[Delta]) -> Response {
    let mut chunks = vec![frame(&json!({"role": "assistant", "content": ""}), None)];
    chunks.extend(deltas.iter().map(|delta| match delta {
        Delta::Finish { reason, usage } => frame(&json!({}), Some((*reason, *usage))),
        other => frame(&wire(other), None),
    }));
    chunks.push(Bytes::from_static(b"data: [DONE]\n\n"));
    let body =
        Body::from_stream(tokio_stream::iter(chunks.into_iter().map(Ok::<_, std::convert::Infallible>)));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn frame(delta: &Value, finish: Option<(FinishReason, Usage)>) -> Bytes {
    let reason = finish.map(|(reason, _)| reason_word(reason));
    let mut chunk = json!({
        "id": "chatcmpl-standin", "object": "chat.completion.chunk", "created": 0, "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    });
    if let Some((_, usage)) = finish {
        chunk["usage"] = usage_wire(usage);
    }
    Bytes::from(fixtures::sse::encode(&chunk.to_string()))
}

fn wire(delta: &Delta) -> Value {
    match delta {
        Delta::Text(text) => json!({"content": text}),
        Delta::Reasoning(text) => json!({"reasoning_content": text}),
        Delta::ToolStart { index, id, name } => json!({"tool_calls": [
            {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]}),
        Delta::ToolArguments { index, text } => {
            json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]})
        }
        Delta::Finish { .. } => json!({}),
    }
}

fn reason_word(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::ToolCalls => "tool_calls",
    }
}

fn usage_wire(usage: Usage) -> Value {
    json!({"prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.input + usage.output})
}

/// The same answer in one piece.
fn whole(deltas: &[Delta], purpose: ModelPurpose) -> Value {
    let mut content = String::new();
    let mut reasoning = String::new();
    let mut calls: Vec<Value> = Vec::new();
    let mut end = (FinishReason::Stop, super::script::USAGE);
    for delta in deltas {
        match delta {
            Delta::Text(text) => content.push_str(text),
            Delta::Reasoning(text) => reasoning.push_str(text),
            Delta::ToolStart { id, name, .. } => {
                calls
                    .push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": ""}}));
            }
            Delta::ToolArguments { index, text } => {
                let arguments = &mut calls[*index]["function"]["arguments"];
                *arguments = json!(format!("{}{text}", arguments.as_str().unwrap_or_default()));
            }
            Delta::Finish { reason, usage } => end = (*reason, *usage),
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() && purpose == ModelPurpose::Turn {
        message["tool_calls"] = json!(calls);
    }
    json!({
        "id": "chatcmpl-standin", "object": "chat.completion", "created": 0, "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": reason_word(end.0)}],
        "usage": usage_wire(end.1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[tokio::test]
    async fn a_server_gets_the_turn_as_a_stream_and_in_one_piece() {
        let scenario = fixtures::catalog::scenario("permission/write-allowed-once").unwrap();
        let calls = Arc::new(Mutex::new(Vec::new()));
        let seen = calls.clone();
        let model = ModelServer::start(
            Script::new(scenario, "/w"),
            ModelOptions {
                port: 0,
                pause: Duration::ZERO,
                on_call: Arc::new(move |_: &ChatRequest, answer: &Answer| {
                    seen.lock().unwrap().push(answer.answered.clone());
                }),
            },
        )
        .await
        .unwrap();
        let url = format!("{}/v1/chat/completions", model.url());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let ask = |stream: bool, prompt: &str| {
            client
                .post(&url)
                .json(&json!({"messages": [{"role": "user", "content": prompt}], "stream": stream}))
                .send()
        };
        let text = ask(true, "write").await.unwrap().text().await.unwrap();
        assert!(text.ends_with("data: [DONE]\n\n"));
        let frames = fixtures::sse::parse(text.as_bytes());
        let whole: Value = ask(false, "write").await.unwrap().json().await.unwrap();
        let said: String = frames
            .iter()
            .filter_map(|frame| serde_json::from_str::<Value>(&frame.data).ok())
            .filter_map(|chunk| chunk.pointer("/choices/0/delta/content")?.as_str().map(str::to_owned))
            .collect();
        assert_eq!(said, "I will write the file.");
        assert_eq!(whole["choices"][0]["message"]["content"], said);
        assert_eq!(
            whole["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"],
            r#"{"filePath":"/w/out.txt","content":"hello\n"}"#
        );
        let refused = ask(true, "sing").await.unwrap();
        assert_eq!(refused.status(), 400);
        assert!(refused.text().await.unwrap().contains("no turn answers the prompt \\\"sing\\\""));
        let calls = calls.lock().unwrap();
        assert_eq!(calls.len(), 3);
        assert!(calls[2].starts_with("nothing: no turn"));
    }
}
