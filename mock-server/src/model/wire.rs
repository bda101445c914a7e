//! Answers in the words of the OpenAI dialect: as a stream of chunks, and in one piece.

use super::script::{Beat, Delta};
use bytes::Bytes;
use fixtures::scenario::{Fail, Finish, Usage};
use serde_json::{Value, json};

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
            Beat::Gate(_) | Beat::BreakOff(_) => {}
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

/// The body of a refusal that the script wants.
pub(super) fn refusal(fail: &Fail) -> Value {
    let kind = match fail.status {
        401 | 403 => "authentication_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {"message": fail.message, "type": kind, "param": null, "code": null}})
}

/// The body for a request that the script has no answer to.
pub(super) fn unscripted(message: &str) -> Value {
    json!({"error": {
        "message": format!("standin's scripted model: {message}"),
        "type": "invalid_request_error",
        "code": "no_turn",
    }})
}
