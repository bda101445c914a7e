//! Answers in the words of the OpenAI dialect: as a stream of chunks, and in one piece.

use super::script::{Beat, Delta};
use crate::world::{ModelFailure, Refusal};
use axum::http::StatusCode;
use bytes::Bytes;
use fixtures::scenario::{Fail, Finish, Usage};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// The first chunk of a stream.
pub(super) fn opening() -> Bytes {
    frame(&json!({"role": "assistant", "content": ""}), None)
}

/// The chunk of one delta.
pub(super) fn chunk(delta: &Delta) -> Bytes {
    match delta {
        Delta::Text(text) => frame(&json!({"content": text}), None),
        Delta::Reasoning(text) => frame(&json!({"reasoning_content": text}), None),
        Delta::ToolStart { index, id, name } => frame(
            &json!({"tool_calls": [
                {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]}),
            None,
        ),
        Delta::ToolArguments { index, text } => {
            frame(&json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}), None)
        }
        Delta::Finish(finish) => frame(&json!({}), Some(finish)),
    }
}

/// The end of a stream that ends well.
pub(super) fn done() -> Bytes {
    Bytes::from_static(b"data: [DONE]\n\n")
}

fn frame(delta: &Value, finish: Option<&Finish>) -> Bytes {
    let reason = finish.map(|finish| finish.reason.word());
    let mut chunk = json!({
        "id": "chatcmpl-standin", "object": "chat.completion.chunk", "created": 0, "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    });
    if let Some(finish) = finish {
        chunk["usage"] = usage(finish.usage);
    }
    Bytes::from(fixtures::sse::encode(&chunk.to_string()))
}

fn usage(usage: Usage) -> Value {
    let mut wire = json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    });
    if usage.reasoning > 0 {
        wire["completion_tokens_details"] = json!({"reasoning_tokens": usage.reasoning});
    }
    if usage.cached > 0 {
        wire["prompt_tokens_details"] = json!({"cached_tokens": usage.cached});
    }
    wire
}

/// The whole answer; without a reason for its end when it broke off.
pub(super) fn whole(beats: &[Beat]) -> Value {
    let mut content = String::new();
    let mut reasoning = String::new();
    let mut calls: Vec<Value> = Vec::new();
    let mut end = None;
    for beat in beats {
        match beat {
            Beat::Delta(Delta::Text(text)) => content.push_str(text),
            Beat::Delta(Delta::Reasoning(text)) => reasoning.push_str(text),
            Beat::Delta(Delta::ToolStart { id, name, .. }) => {
                calls
                    .push(json!({"id": id, "type": "function", "function": {"name": name, "arguments": ""}}));
            }
            Beat::Delta(Delta::ToolArguments { index, text }) => {
                let arguments = &mut calls[*index]["function"]["arguments"];
                *arguments = json!(format!("{}{text}", arguments.as_str().unwrap_or_default()));
            }
            Beat::Delta(Delta::Finish(finish)) => end = Some(*finish),
            Beat::Gate(_) | Beat::Raw(_) | Beat::BreakOff(_) => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let reason = end.map(|finish| finish.reason.word());
    let mut answer = json!({
        "id": "chatcmpl-standin", "object": "chat.completion", "created": 0, "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    });
    if let Some(finish) = end {
        answer["usage"] = usage(finish.usage);
    }
    answer
}

/// Content type and body of a refusal that the script wants.
pub(super) fn refusal(fail: &Fail) -> (&'static str, String) {
    if let Some(body) = &fail.body {
        let is_json = serde_json::from_str::<Value>(body).is_ok();
        return (if is_json { "application/json" } else { "text/plain" }, body.clone());
    }
    let kind = match fail.status {
        401 | 403 => "authentication_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let body = json!({"error": {"message": fail.message, "type": kind, "param": null, "code": null}});
    ("application/json", body.to_string())
}

/// The body for a request that the script has no answer to.
pub(super) fn unscripted(message: &str) -> Value {
    json!({"error": {
        "message": format!("standin's scripted model: {message}"),
        "type": "invalid_request_error",
        "code": "no_turn",
    }})
}

/// The words of a status, where it has some.
pub(crate) fn usual_phrase(status: u16) -> Option<&'static str> {
    StatusCode::from_u16(status).ok()?.canonical_reason()
}

/// Where a model says that it is asked which is in this process.
const HERE: &str = "http://127.0.0.1:1/v1/chat/completions";

/// What a server of this kind sends for a status that has no words.
const NO_PHRASE: &str = "<none>";

impl ModelFailure {
    /// The refusal that the script wants, as it would come over HTTP.
    pub(crate) fn refused(fail: &Fail, now_ms: u64) -> Self {
        let (kind, body) = refusal(fail);
        let mut failure = Self::in_process(fail.status, kind, body, now_ms);
        if let Self::Refused(refusal) = &mut failure {
            refusal.headers.extend(fail.retry_after.map(|wait| ("retry-after".to_owned(), wait.to_string())));
            let given = fail.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
            refusal.headers.extend(given);
        }
        failure
    }

    /// The refusal of a request that the script has no answer to.
    pub(crate) fn unscripted(why: &str, now_ms: u64) -> Self {
        Self::in_process(400, "application/json", unscripted(why).to_string(), now_ms)
    }

    /// The connection breaks before anything is sent.
    pub(crate) fn no_answer() -> Self {
        Self::NoAnswer(HERE.to_owned())
    }

    fn in_process(status: u16, kind: &str, body: String, now_ms: u64) -> Self {
        let phrase = usual_phrase(status);
        let date = SystemTime::UNIX_EPOCH + Duration::from_millis(now_ms);
        let headers = [
            ("content-length", body.len().to_string()),
            ("content-type", kind.to_owned()),
            ("date", httpdate::fmt_http_date(date)),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let phrase = phrase.unwrap_or(NO_PHRASE).to_owned();
        Self::Refused(Box::new(Refusal { status, phrase, headers, body, url: HERE.to_owned() }))
    }
}
