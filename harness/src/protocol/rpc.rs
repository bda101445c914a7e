//! Lines ⇄ JSON-RPC 2.0 messages, with errors that can be sent back as they are.

use super::{Notification, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// The line is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but no JSON-RPC 2.0 message.
pub const INVALID_REQUEST: i64 = -32600;
/// The adapter does not do this; the honesty probe relies on it.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// A parameter is missing, unknown or of the wrong type.
pub const INVALID_PARAMS: i64 = -32602;
/// The request was understood and could not be done.
pub const FAILED: i64 = -32000;

/// Names a request, so that its response finds it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A number, as the harness uses it.
    Number(u64),
    /// A text, as JSON-RPC allows it.
    Text(String),
}

impl Id {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => number.as_u64().map(Self::Number),
            Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Text(text) => json!(text),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_value())
    }
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(deny_unknown_fields)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// One of the codes of this module.
    pub code: i64,
    /// What happened and what to do.
    pub message: String,
}

impl RpcError {
    /// The answer to a method that the adapter does not know.
    #[must_use]
    pub fn unsupported(method: &str) -> Self {
        Self { code: METHOD_NOT_FOUND, message: format!("unsupported: {method}") }
    }

    /// The answer to wrong parameters; the message names the field.
    #[must_use]
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self { code: INVALID_PARAMS, message: message.into() }
    }

    /// The answer to a request that was understood and could not be done.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self { code: FAILED, message: message.into() }
    }
}

/// One message, as it came in.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// Wants an answer under its id.
    Request {
        /// Where the answer belongs.
        id: Id,
        /// What is asked.
        method: String,
        /// `null` when there are none.
        params: Value,
    },
    /// Wants no answer.
    Notification {
        /// What is said.
        method: String,
        /// `null` when there are none.
        params: Value,
    },
    /// Answers a request.
    Response {
        /// `None` answers a line that could not be read.
        id: Option<Id>,
        /// The result, or why there is none.
        outcome: Result<Value, RpcError>,
    },
}

/// A line that is no message; `error` can be sent back under `id`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct BadLine {
    /// The id, if the line had a usable one.
    pub id: Option<Id>,
    /// What is wrong with the line.
    pub error: RpcError,
}

/// Reads one line.
///
/// # Errors
/// The line is no JSON, or JSON but no JSON-RPC 2.0 message.
pub fn parse_line(line: &str) -> Result<Incoming, BadLine> {
    let value: Value = serde_json::from_str(line).map_err(|error| BadLine {
        id: None,
        error: RpcError {
            code: PARSE_ERROR,
            message: format!("parse error: {error}; send one JSON message a line"),
        },
    })?;
    let Value::Object(mut fields) = value else {
        return Err(invalid(None, "a message is an object, one a line; batches are not used"));
    };
    let raw_id = fields.remove("id");
    let id = raw_id.as_ref().and_then(Id::from_value);
    if fields.remove("jsonrpc").as_ref().and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(id, "field `jsonrpc` must be \"2.0\""));
    }
    if id.is_none() && raw_id.as_ref().is_some_and(|raw| !raw.is_null()) {
        return Err(invalid(None, "field `id` must be a number (0 or more) or a text"));
    }
    if fields.contains_key("method") {
        call(fields, raw_id.is_some(), id)
    } else {
        response(fields, raw_id.is_some(), id)
    }
}

fn call(mut fields: Map<String, Value>, has_id: bool, id: Option<Id>) -> Result<Incoming, BadLine> {
    let Some(Value::String(method)) = fields.remove("method") else {
        return Err(invalid(id, "field `method` must be a text"));
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    if let Some(field) = fields.keys().next() {
        return Err(invalid(id, &format!("unknown field `{field}`; a call has jsonrpc, id, method, params")));
    }
    match id {
        Some(id) => Ok(Incoming::Request { id, method, params }),
        None if has_id => Err(invalid(None, "field `id` of a request can't be null")),
        None => Ok(Incoming::Notification { method, params }),
    }
}

fn response(mut fields: Map<String, Value>, has_id: bool, id: Option<Id>) -> Result<Incoming, BadLine> {
    let (result, error) = (fields.remove("result"), fields.remove("error"));
    if let Some(field) = fields.keys().next() {
        return Err(invalid(
            id,
            &format!("unknown field `{field}`; a response has jsonrpc, id, result or error"),
        ));
    }
    let outcome = match (result, error) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) => {
            let error = super::strict(&error)
                .map_err(|message| invalid(id.clone(), &format!("field `error` is malformed: {message}")))?;
            Err(error)
        }
        _ => return Err(invalid(id, "a message has one of `method`, `result` and `error`")),
    };
    if !has_id {
        return Err(invalid(None, "a response has an `id`"));
    }
    Ok(Incoming::Response { id, outcome })
}

fn invalid(id: Option<Id>, message: &str) -> BadLine {
    BadLine { id, error: RpcError { code: INVALID_REQUEST, message: format!("invalid message: {message}") } }
}

/// A request as a line, line feed included.
#[must_use]
pub fn request_line(id: &Id, request: &Request) -> String {
    line(
        &json!({ "jsonrpc": "2.0", "id": id.to_value(), "method": request.method(), "params": request.params() }),
    )
}

/// A result as a line, line feed included.
#[must_use]
pub fn result_line(id: &Id, result: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id.to_value(), "result": result }))
}

/// An error as a line, line feed included; without an id it answers a line that could not be read.
#[must_use]
pub fn error_line(id: Option<&Id>, error: &RpcError) -> String {
    let id = id.map_or(Value::Null, Id::to_value);
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": error.code, "message": error.message } }))
}

/// A notification as a line, line feed included.
#[must_use]
pub fn notification_line(notification: &Notification) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": notification.method(), "params": notification.params() }))
}

/// JSON escapes line feeds, so a value is always one line.
fn line(value: &Value) -> String {
    format!("{value}\n")
}
