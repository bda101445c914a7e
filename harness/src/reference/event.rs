//! The server's JSON → the few facts that matter to a person. Fields that are not needed are not looked at, so a
//! server may add some; a needed field that is missing makes the event unreadable.

use super::event_types;
use super::history::Reverted;
use crate::protocol::{
    Asked, Attachment, ChangedFile, ItemKind, Permission, Question, TaskState, TodoItem, ToolState,
};
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
    /// Some releases say beside a whole part what is new in it.
    PartWithDelta(Part, String),
    /// A part is gone.
    PartRemoved(String),
    /// The agent asks leave.
    Asked(Permission),
    /// A permission request was answered by somebody.
    Replied(String),
    /// The agent asks something.
    Question(Question),
    /// A question was answered or dismissed by somebody.
    QuestionOver(String),
    /// The list of things to do is now this.
    Todos(Vec<TodoItem>),
    /// The agent has changed these files.
    Changes(Vec<ChangedFile>),
    /// A session is there, perhaps one that the agent of another one has created.
    Session { parent: Option<String>, reverted: Option<Reverted> },
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
    /// The person's message that it answers.
    pub(super) parent: Option<String>,
    /// And no other one will follow it in its turn.
    pub(super) last: bool,
    /// It was cut where it became too long: the server may have words of its own about that.
    pub(super) is_cut: bool,
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
        /// Of a command: it is one, and the status with which it ended.
        command: Option<Exit>,
    },
    /// A file that goes with a message.
    File(Attachment),
    /// Something that nobody here has words for: all of it, which is not shown.
    Unknown(String),
    /// Nothing: steps, patches, and progress that Kilo takes away again.
    Hidden,
}

/// The status of a command, once the server has told it.
pub(super) type Exit = Option<i64>;

/// Kinds of parts that both servers know and that have no row.
const WITHOUT_ROW: [&str; 8] =
    ["agent", "compaction", "patch", "retry", "snapshot", "step-finish", "step-start", "subtask"];

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

/// Reads one event; the error says which field is missing.
pub(super) fn read(event: &Value) -> Result<Read, String> {
    let kind = text(event, "type")?;
    let properties = &event["properties"];
    let event = match kind.as_str() {
        "message.updated" => Event::Message(message(&properties["info"])?),
        "message.removed" => Event::MessageRemoved(text(properties, "messageID")?),
        "message.part.updated" => match properties["delta"].as_str() {
            Some(delta) => Event::PartWithDelta(part(&properties["part"])?, delta.to_owned()),
            None => Event::Part(part(&properties["part"])?),
        },
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
        "question.asked" => Event::Question(question(properties)?),
        "question.replied" | "question.rejected" => Event::QuestionOver(text(properties, "requestID")?),
        "session.diff" => Event::Changes(changes(&properties["diff"])?),
        "todo.updated" => Event::Todos(todos(&properties["todos"])?),
        "session.created" | "session.updated" => {
            let info = &properties["info"];
            Event::Session {
                parent: info["parentID"].as_str().map(str::to_owned),
                reverted: Reverted::of(info),
            }
        }
        "session.status" => Event::Status(status(&properties["status"])?),
        "session.idle" => Event::Idle,
        "session.error" => Event::Failed(failure(&properties["error"])),
        known if event_types::IGNORED.contains(&known) => return Ok(Read::Ignored),
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
        parent: info["parentID"].as_str().map(str::to_owned),
        last: info["finish"] != "tool-calls",
        is_cut: info["finish"] == "length",
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
        "file" => Body::File(Attachment {
            mime: text(part, "mime")?,
            name: part["filename"].as_str().map(str::to_owned),
            url: text(part, "url")?,
        }),
        known if WITHOUT_ROW.contains(&known) => Body::Hidden,
        _ => Body::Unknown(part.to_string()),
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
    let (tool, output) = (text(part, "tool")?, output.as_str().map(str::to_owned));
    let command = (tool == "bash").then(|| state["metadata"]["exit"].as_i64());
    Ok(Body::Tool { tool, state: progress, output, command })
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

/// Reads a question, as it is asked or as it is listed.
pub(super) fn question(asked: &Value) -> Result<Question, String> {
    let one = |one: &Value| {
        let options = one["options"].as_array().into_iter().flatten();
        Ok(Asked {
            question: text(one, "question")?,
            options: options.filter_map(|option| option["label"].as_str()).map(str::to_owned).collect(),
        })
    };
    let questions = asked["questions"].as_array().ok_or("field `questions` is missing")?;
    let questions = questions.iter().map(one).collect::<Result<_, String>>()?;
    Ok(Question { question_id: text(asked, "id")?, questions })
}

/// Reads a list of things to do.
pub(super) fn todos(list: &Value) -> Result<Vec<TodoItem>, String> {
    let item = |item: &Value| Ok(TodoItem { content: text(item, "content")?, status: text(item, "status")? });
    list.as_array().ok_or("the list of things to do is no list")?.iter().map(item).collect()
}

/// Reads what a session has changed.
pub(super) fn changes(list: &Value) -> Result<Vec<ChangedFile>, String> {
    let count = |file: &Value, field: &str| {
        file[field].as_u64().ok_or_else(|| format!("field `{field}` is missing or no number"))
    };
    let file = |file: &Value| {
        Ok(ChangedFile {
            file: text(file, "file")?,
            additions: count(file, "additions")?,
            deletions: count(file, "deletions")?,
            status: file["status"].as_str().map(str::to_owned),
            patch: file["patch"].as_str().map(str::to_owned),
        })
    };
    list.as_array().ok_or("the list of changed files is no list")?.iter().map(file).collect()
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

pub(super) fn text(value: &Value, field: &str) -> Result<String, String> {
    value[field].as_str().map(str::to_owned).ok_or_else(|| format!("field `{field}` is missing or no text"))
}
