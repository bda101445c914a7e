//! A model at an address, asked as the real servers ask theirs: a stream of chunks in the OpenAI dialect.

use super::ChatRequest;
use super::script::Delta;
use crate::clock;
use crate::world::{ModelFailure, Refusal};
use bytes::Bytes;
use fixtures::scenario::{Finish, FinishReason, Usage};
use fixtures::sse;
use hyper::ext::ReasonPhrase;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;
use std::time::Duration;

/// What is sent within this time was sent at once.
const ONE_MOMENT: Duration = Duration::from_millis(5);

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

    /// Asks, and tells the answer as it comes; what comes in one moment is told in one go.
    pub async fn answer(&self, request: &ChatRequest, tell: impl Fn(Vec<ModelNews>)) {
        let failed = |failure: ModelFailure| tell(vec![ModelNews::Failed(failure)]);
        let url = format!("{}/chat/completions", self.url);
        let mut asked =
            self.client.post(&url).header("authorization", "Bearer stand-in").json(&request.body());
        if let Some(session) = &request.session {
            asked = asked.header("x-session-id", session).header("x-session-affinity", session);
        }
        match asked.send().await {
            Err(error) if error.is_connect() => failed(ModelFailure::Unreachable(url)),
            Err(_) => failed(ModelFailure::NoAnswer(url)),
            Ok(response) if !response.status().is_success() => failed(refusal(&url, response).await),
            Ok(response) if is_stream(&response) => stream(response, tell).await,
            Ok(response) => {
                let Ok(whole) = response.json::<Value>().await else {
                    return failed(ModelFailure::CutOff);
                };
                let (mut answer, mut news) = (Reading::default(), Vec::new());
                if let Err(lack) = answer.choice(&whole["choices"][0], "message", &mut |said| news.push(said))
                {
                    news.push(ModelNews::Failed(ModelFailure::Nameless(lack)));
                    return tell(news);
                }
                answer.usage(&whole);
                news.push(answer.end());
                tell(news);
            }
        }
    }
}

fn is_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

async fn refusal(url: &str, response: reqwest::Response) -> ModelFailure {
    let status = response.status();
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers = response.headers().iter().map(header).collect();
    let own = response.extensions().get::<ReasonPhrase>();
    let own = own.map(|phrase| String::from_utf8_lossy(phrase.as_bytes()).into_owned());
    let phrase = own.unwrap_or_else(|| status.canonical_reason().unwrap_or_default().to_owned());
    let body = response.text().await.unwrap_or_default();
    ModelFailure::Refused(Box::new(Refusal {
        status: status.as_u16(),
        phrase,
        headers,
        body,
        url: url.to_owned(),
    }))
}

/// Tells what is streamed. A real server is still at work with a call when the rest of the answer comes that was sent
/// in the same moment; so what comes within a moment is one piece of news.
async fn stream(mut response: reqwest::Response, tell: impl Fn(Vec<ModelNews>)) {
    let mut reading = Reading::default();
    tell(vec![ModelNews::Delta(Delta::BEGIN)]);
    let mut news = Vec::new();
    loop {
        let chunk = response.chunk().await;
        reading.hear(chunk, &mut news);
        if news.is_empty() {
            continue;
        }
        let all_of_it = async {
            while !news.iter().any(ModelNews::is_the_end) {
                let chunk = response.chunk().await;
                reading.hear(chunk, &mut news);
            }
        };
        clock::within(ONE_MOMENT, all_of_it).await;
        if let Some(end) = news.iter().position(ModelNews::is_the_end) {
            news.truncate(end + 1);
            return tell(news);
        }
        tell(std::mem::take(&mut news));
    }
}

/// What is known of an answer so far.
#[derive(Debug)]
pub(crate) struct Reading {
    parser: sse::Parser,
    /// The numbers of the calls that have begun, in order.
    calls: Vec<usize>,
    reason: Option<FinishReason>,
    usage: Usage,
}

impl Default for Reading {
    fn default() -> Self {
        Self { parser: sse::Parser::new(), calls: Vec::new(), reason: None, usage: Usage::UNTOLD }
    }
}

impl Reading {
    /// More of the stream, or its end.
    fn hear(&mut self, chunk: reqwest::Result<Option<Bytes>>, news: &mut Vec<ModelNews>) {
        match chunk {
            Ok(Some(bytes)) => self.bytes(&bytes, &mut |said| news.push(said)),
            Ok(None) => news.push(self.end()),
            Err(_) => news.push(ModelNews::Failed(ModelFailure::CutOff)),
        }
    }

    /// More of the stream. Nothing behind an error counts.
    pub(crate) fn bytes(&mut self, bytes: &[u8], tell: &mut impl FnMut(ModelNews)) {
        for frame in self.parser.feed(bytes) {
            // The real servers skip this word, and read on until the stream ends.
            if frame.data == "[DONE]" {
                continue;
            }
            match serde_json::from_str::<Value>(&frame.data) {
                Err(_) => return tell(ModelNews::Failed(ModelFailure::Garbled(frame.data))),
                Ok(chunk) if chunk.get("error").is_some_and(|error| !error.is_null()) => {
                    return tell(ModelNews::Failed(ModelFailure::Told(chunk["error"].clone())));
                }
                Ok(chunk) => {
                    if let Err(lack) = self.choice(&chunk["choices"][0], "delta", tell) {
                        return tell(ModelNews::Failed(ModelFailure::Nameless(lack)));
                    }
                    self.usage(&chunk);
                }
            }
        }
    }

    /// A piece of the answer; `key` is where its content stands. A call has an id and a name, or this says what it lacks.
    fn choice(
        &mut self,
        choice: &Value,
        key: &str,
        tell: &mut impl FnMut(ModelNews),
    ) -> Result<(), &'static str> {
        let content = &choice[key];
        let text = |key: &str| content[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        if let Some(thought) = text("reasoning_content").or_else(|| text("reasoning")) {
            tell(ModelNews::Delta(Delta::Reasoning(thought)));
        }
        if let Some(said) = text("content") {
            tell(ModelNews::Delta(Delta::Text(said)));
        }
        for (place, call) in content["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let number =
                call["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(place);
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            // What a call is numbered with says only which pieces are one.
            let known = self.calls.iter().position(|known| *known == number);
            let index = known.unwrap_or(self.calls.len());
            if known.is_none() {
                self.calls.push(number);
                for (lacks, pointer) in [("id", "/id"), ("function.name", "/function/name")] {
                    if call.pointer(pointer).is_none_or(Value::is_null) {
                        return Err(lacks);
                    }
                }
                let (id, name) = (word(&call["id"]), word(&call["function"]["name"]));
                tell(ModelNews::Delta(Delta::ToolStart { index, id, name }));
            }
            let arguments = word(&call["function"]["arguments"]);
            if !arguments.is_empty() {
                tell(ModelNews::Delta(Delta::ToolArguments { index, text: arguments }));
            }
        }
        if let Some(word) = choice["finish_reason"].as_str() {
            self.reason = match word {
                "stop" => Some(FinishReason::Stop),
                "tool_calls" | "function_call" => Some(FinishReason::ToolCalls),
                "length" => Some(FinishReason::Length),
                "content_filter" => Some(FinishReason::ContentFilter),
                _ => None,
            };
        }
        Ok(())
    }

    fn usage(&mut self, chunk: &Value) {
        let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) else { return };
        let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        self.usage = Usage {
            input: number("/prompt_tokens"),
            output: number("/completion_tokens"),
            reasoning: number("/completion_tokens_details/reasoning_tokens"),
            cached: number("/prompt_tokens_details/cached_tokens"),
            is_told: true,
        };
    }

    /// Nothing more comes.
    pub(crate) fn end(&self) -> ModelNews {
        match self.reason {
            Some(reason) => ModelNews::Delta(Delta::Finish(Finish { reason, usage: self.usage })),
            None => ModelNews::Failed(ModelFailure::Unfinished(self.usage)),
        }
    }
}
