//! A model at an address, asked as the real servers ask theirs: a stream of chunks in the OpenAI dialect.

use super::ChatRequest;
use super::script::Delta;
use crate::world::ModelFailure;
use fixtures::scenario::{Finish, FinishReason, Usage};
use fixtures::sse;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A model that is asked over HTTP.
#[derive(Debug, Clone)]
pub struct RemoteModel {
    client: reqwest::Client,
    url: String,
}

/// What a model that is asked has to tell.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelNews {
    /// A piece of its answer; the last one is the finish.
    Delta(Delta),
    /// There is no answer, or no more of it.
    Failed(ModelFailure),
}

impl ModelNews {
    /// Does nothing follow it?
    #[must_use]
    pub fn is_the_end(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Delta(Delta::Finish(_)))
    }
}

impl RemoteModel {
    /// The model at `url`, to which `/chat/completions` is added.
    pub fn at(url: &str) -> Result<Self, String> {
        let parsed = reqwest::Url::parse(url).ok().filter(|url| url.scheme() == "http" && url.has_host());
        if parsed.is_none() {
            return Err(format!(
                "{url:?} is no address of a model: it begins with http:// and ends before /chat/completions, such as \
                 http://127.0.0.1:8000/v1"
            ));
        }
        let client = reqwest::Client::builder()
            .no_proxy()
            .retry(reqwest::retry::never())
            .build()
            .map_err(|error| format!("failed to make a client for the model at {url}: {error}"))?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned() })
    }

    /// Asks, and tells the answer as it comes.
    pub async fn answer(&self, request: &ChatRequest, tell: impl Fn(ModelNews)) {
        let mut asked = self
            .client
            .post(format!("{}/chat/completions", self.url))
            .header("authorization", "Bearer stand-in")
            .json(&body(request));
        if let Some(session) = &request.session {
            asked = asked.header("x-session-id", session).header("x-session-affinity", session);
        }
        match asked.send().await {
            Err(_) => tell(ModelNews::Failed(ModelFailure::CutOff)),
            Ok(response) if !response.status().is_success() => {
                tell(ModelNews::Failed(refusal(response).await));
            }
            Ok(response) if is_stream(&response) => stream(response, tell).await,
            Ok(response) => {
                let Ok(whole) = response.json::<Value>().await else {
                    return tell(ModelNews::Failed(ModelFailure::CutOff));
                };
                let mut answer = Reading::default();
                answer.choice(&whole["choices"][0], "message", &tell);
                answer.usage(&whole);
                tell(answer.end());
            }
        }
    }
}

fn body(request: &ChatRequest) -> Value {
    let tool = |name: &String| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object"}}});
    let mut body = json!({
        "model": "fake", "messages": request.messages, "stream": true, "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = json!("auto");
    }
    body
}

fn is_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

async fn refusal(response: reqwest::Response) -> ModelFailure {
    let status = response.status().as_u16();
    let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let retry_after_ms = header.and_then(|seconds| seconds.parse::<u64>().ok()).map(|seconds| seconds * 1000);
    let text = response.text().await.unwrap_or_default();
    let told = serde_json::from_str::<Value>(&text).ok();
    let message = told.as_ref().and_then(|told| told.pointer("/error/message")?.as_str());
    ModelFailure::Refused { status, retry_after_ms, message: message.unwrap_or(&text).to_owned() }
}

async fn stream(mut response: reqwest::Response, tell: impl Fn(ModelNews)) {
    let mut parser = sse::Parser::new();
    let mut answer = Reading::default();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                for frame in parser.feed(&chunk) {
                    if frame.data == "[DONE]" {
                        return tell(answer.end());
                    }
                    let Ok(chunk) = serde_json::from_str::<Value>(&frame.data) else { continue };
                    answer.choice(&chunk["choices"][0], "delta", &tell);
                    answer.usage(&chunk);
                }
            }
            Ok(None) => return tell(answer.end()),
            Err(_) => return tell(ModelNews::Failed(ModelFailure::CutOff)),
        }
    }
}

/// What is known of an answer so far.
#[derive(Default)]
struct Reading {
    /// The calls that have begun.
    calls: BTreeSet<usize>,
    reason: Option<FinishReason>,
    usage: Usage,
}

impl Reading {
    /// A piece of the answer; `key` is where its content stands.
    fn choice(&mut self, choice: &Value, key: &str, tell: &impl Fn(ModelNews)) {
        let content = &choice[key];
        let text = |key: &str| content[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        if let Some(thought) = text("reasoning_content").or_else(|| text("reasoning")) {
            tell(ModelNews::Delta(Delta::Reasoning(thought)));
        }
        if let Some(said) = text("content") {
            tell(ModelNews::Delta(Delta::Text(said)));
        }
        for (place, call) in content["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let index = call["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(place);
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            if self.calls.insert(index) {
                let (id, name) = (word(&call["id"]), word(&call["function"]["name"]));
                tell(ModelNews::Delta(Delta::ToolStart { index, id, name }));
            }
            let arguments = word(&call["function"]["arguments"]);
            if !arguments.is_empty() {
                tell(ModelNews::Delta(Delta::ToolArguments { index, text: arguments }));
            }
        }
        if let Some(word) = choice["finish_reason"].as_str() {
            self.reason = Some(match word {
                "tool_calls" | "function_call" => FinishReason::ToolCalls,
                "length" => FinishReason::Length,
                "content_filter" => FinishReason::ContentFilter,
                _ => FinishReason::Stop,
            });
        }
    }

    fn usage(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) else { return };
        let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        self.usage = Usage {
            input: number("/prompt_tokens"),
            output: number("/completion_tokens"),
            reasoning: number("/completion_tokens_details/reasoning_tokens"),
            cached: number("/prompt_tokens_details/cached_tokens"),
        };
    }

    fn end(self) -> ModelNews {
        match self.reason {
            Some(reason) => ModelNews::Delta(Delta::Finish(Finish { reason, usage: self.usage })),
            None => ModelNews::Failed(ModelFailure::Unfinished),
        }
    }
}
