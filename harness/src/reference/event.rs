//! The server's JSON → the few facts that matter to a person. Fields that are not needed are not looked at, so a
//! server may add some; a needed field that is missing makes the event unreadable.

use crate::protocol::{ItemKind, Permission, TaskState, ToolState};
use serde_json::Value;

/// Something happened in a session.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    /// A message appeared or changed.
    Message(Message),
    /// A message and its parts are gone.
    MessageRemoved(String),
    /// A part appeared or changed.
    Part(Part),
    /// Text was added to a part.
    Delta { message_id: String, part_id: String, delta: String },
    /// A part is gone.
    PartRemoved(String),
    /// The agent asks leave.
    Asked(Permission),
    /// A permission request was answered by somebody.
    Replied(String),
    /// The agent works, waits or rests.
    Status(TaskState),
    /// The agent rests.
    Idle,
    /// The turn failed.
    Failed(Failure),
}

/// A message, without its parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) assistant: bool,
    /// An assistant message that the server has finished.
    pub(super) completed: bool,
    pub(super) failure: Option<Failure>,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    /// Somebody stopped it: no failure to the person.
    pub(super) aborted: bool,
    pub(super) message: String,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) id: String,
    pub(super) message_id: String,
    pub(super) body: Body,
}

/// What a part shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Text {
        kind: ItemKind,
        text: String,
        ended: bool,
    },
    Tool {
        tool: String,
        state: ToolState,
        output: Option<String>,
    },
    /// Nothing: steps, patches, and progress that Kilo takes away again.
    Hidden,
}

/// One event of the stream, read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Read {
    /// It matters to the session that it names.
    Event(Event),
    /// Known, and without meaning for what is shown.
    Ignored,
    /// A type that this adapter has never heard of.
    Unknown(String),
}

/// Known types that change nothing on the screen.
const IGNORED: &[&str] = &[
    "sync",
    "server.connected",
    "server.heartbeat",
    "server.instance.disposed",
    "global.disposed",
    "plugin.added",
    "catalog.updated",
    "integration.updated",
    "reference.updated",
    "indexing.status",
    "file.edited",
    "file.watcher.updated",
    "session.created",
    "session.updated",
    "session.deleted",
    "session.diff",
    "session.compacted",
    "session.turn.open",
    "session.turn.close",
    "session.drain.interrupted",
    "session.queue.changed",
    "sandbox.status.changed",
    "question.asked",
    "question.replied",
    "question.rejected",
    "todo.updated",
    "command.executed",
];

/// Reads one event; the error says which field is missing.
pub(super) fn read(event: &Value) -> Result<Read, String> {
    let kind = text(event, "type")?;
    let properties = &event["properties"];
    let event = match kind.as_str() {
        "message.updated" => Event::Message(message(&properties["info"])?),
        "message.removed" => Event::MessageRemoved(text(properties, "messageID")?),
        "message.part.updated" => Event::Part(part(&properties["part"])?),
        "message.part.delta" if text(properties, "field")? != "text" => return Ok(Read::Ignored),
        "message.part.delta" => {
            let message_id = text(properties, "messageID")?;
            Event::Delta {
                message_id,
                part_id: text(properties, "partID")?,
                delta: text(properties, "delta")?,
            }
        }
        "message.part.removed" => Event::PartRemoved(text(properties, "partID")?),
        "permission.asked" => Event::Asked(permission(properties)?),
        "permission.replied" => Event::Replied(text(properties, "requestID")?),
        "session.status" => Event::Status(status(&properties["status"])?),
        "session.idle" => Event::Idle,
        "session.error" => Event::Failed(failure(&properties["error"])),
        known if IGNORED.contains(&known) => return Ok(Read::Ignored),
        _ => return Ok(Read::Unknown(kind)),
    };
    Ok(Read::Event(event))
}

/// Reads `info` of a message.
pub(super) fn message(info: &Value) -> Result<Message, String> {
    Ok(Message {
        id: text(info, "id")?,
        assistant: text(info, "role")? == "assistant",
        completed: !info["time"]["completed"].is_null(),
        failure: (!info["error"].is_null()).then(|| failure(&info["error"])),
    })
}

/// Reads a part.
pub(super) fn part(part: &Value) -> Result<Part, String> {
    let body = match text(part, "type")?.as_str() {
        _ if is_progress(part) => Body::Hidden,
        "text" => long_text(part, ItemKind::Text)?,
        "reasoning" => long_text(part, ItemKind::Reasoning)?,
        "tool" => tool(part)?,
        _ => Body::Hidden,
    };
    Ok(Part { id: text(part, "id")?, message_id: text(part, "messageID")?, body })
}

/// Kilo shows progress as a text part of the assistant and takes it away later (the key has a dot in it).
fn is_progress(part: &Value) -> bool {
    part["metadata"]["kilocode.lifecycle"] == "transient"
}

fn long_text(part: &Value, kind: ItemKind) -> Result<Body, String> {
    Ok(Body::Text { kind, text: text(part, "text")?, ended: !part["time"]["end"].is_null() })
}

fn tool(part: &Value) -> Result<Body, String> {
    let state = &part["state"];
    let (progress, output) = match text(state, "status")?.as_str() {
        "pending" => (ToolState::Pending, &Value::Null),
        "running" => (ToolState::Running, &state["metadata"]["output"]),
        "completed" => (ToolState::Done, &state["output"]),
        "error" => (ToolState::Error, &state["error"]),
        other => return Err(format!("tool state `{other}` is not known")),
    };
    Ok(Body::Tool { tool: text(part, "tool")?, state: progress, output: output.as_str().map(str::to_owned) })
}

/// Reads a permission request, as it is asked or as it is listed.
pub(super) fn permission(asked: &Value) -> Result<Permission, String> {
    let patterns = asked["patterns"].as_array().ok_or("field `patterns` is missing")?;
    Ok(Permission {
        permission_id: text(asked, "id")?,
        permission: text(asked, "permission")?,
        patterns: patterns.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// Reads the status of a session.
pub(super) fn status(status: &Value) -> Result<TaskState, String> {
    match text(status, "type")?.as_str() {
        "busy" => Ok(TaskState::Busy),
        "idle" => Ok(TaskState::Idle),
        "retry" => Ok(TaskState::Retry),
        other => Err(format!("status `{other}` is not known")),
    }
}

fn failure(error: &Value) -> Failure {
    let name = error["name"].as_str().unwrap_or("an error without a name");
    Failure {
        aborted: name == "MessageAbortedError",
        message: error["data"]["message"].as_str().unwrap_or(name).to_owned(),
    }
}

fn text(value: &Value, field: &str) -> Result<String, String> {
    value[field].as_str().map(str::to_owned).ok_or_else(|| format!("field `{field}` is missing or no text"))
}
