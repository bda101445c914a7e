//! What an adapter says by itself: what the person would see, counters, and log lines.

use super::{
    Asked, Attachment, Diff, Permission, Process, Question, RpcError, ServerReason, ServerState, TodoItem,
    View, strict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A message of the adapter that wants no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// `update`: what the person sees has changed.
    Update(Update),
    /// `telemetry`: a signal of the adapter.
    Telemetry(Signal),
    /// `log`: a line for the person who reads the history.
    Log(LogLine),
}

/// A counter with its value after the change, or something that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signal {
    /// e.g. `kilo.cli.sse.reconnect_count`.
    pub name: String,
    /// The count so far, or what was measured.
    pub value: u64,
    /// Which task, if it concerns one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
}

/// A line for the person who reads the history, and what it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogLine {
    /// How much it matters.
    pub level: LogLevel,
    /// One line, without secrets.
    pub text: String,
    /// Which task, if it concerns one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The server's session of that task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The workspace folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The server's port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LogLevel {
    /// For the author of the adapter.
    Debug,
    /// Worth knowing.
    Info,
    /// Something was odd and was survived.
    Warn,
    /// Something failed.
    Error,
}

/// A change of what the person sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Update {
    /// Text is added to a text part; an empty first delta opens the part.
    AssistantDelta {
        /// Which task.
        task_id: String,
        /// The server's message.
        message_id: String,
        /// The server's part.
        part_id: String,
        /// What is added at the end.
        delta: String,
    },
    /// Text is added to a reasoning part; an empty first delta opens the part.
    ReasoningDelta {
        /// Which task.
        task_id: String,
        /// The server's message.
        message_id: String,
        /// The server's part.
        part_id: String,
        /// What is added at the end.
        delta: String,
    },
    /// A tool call appears or moves on.
    ToolState {
        /// Which task.
        task_id: String,
        /// The server's message.
        message_id: String,
        /// The server's part that stands for the call.
        tool_id: String,
        /// The tool's name.
        tool: String,
        /// How far the call is.
        state: ToolState,
        /// What the tool said, or why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// Of a command: the status with which it ended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<i64>,
        /// Of a command: the number of its process.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        process: Option<Process>,
    },
    /// A part appears that nobody here has words for: a row that says so, and nothing of what is in it.
    UnknownPart {
        /// Which task.
        task_id: String,
        /// The server's message.
        message_id: String,
        /// The server's part.
        part_id: String,
    },
    /// What is attached to a message of the person, all of it.
    Attachments {
        /// Which task.
        task_id: String,
        /// The server's message.
        message_id: String,
        /// In the server's order.
        attachments: Vec<Attachment>,
    },
    /// What the agent has changed, all of it.
    Diff {
        /// Which task.
        task_id: String,
        /// As it is now.
        diff: Diff,
    },
    /// The person is asked for leave.
    PermissionRequest {
        /// Which task.
        task_id: String,
        /// The server's name of the request.
        permission_id: String,
        /// What kind of leave, e.g. `edit`.
        permission: String,
        /// What it is about, e.g. paths.
        patterns: Vec<String>,
    },
    /// The person need not answer any more.
    PermissionResolved {
        /// Which task.
        task_id: String,
        /// The server's name of the request.
        permission_id: String,
    },
    /// The agent asks the person something.
    Question {
        /// Which task.
        task_id: String,
        /// The server's name of the request.
        question_id: String,
        /// What is asked; often one question, sometimes several at once.
        questions: Vec<Asked>,
    },
    /// The person need not answer any more.
    QuestionResolved {
        /// Which task.
        task_id: String,
        /// The server's name of the request.
        question_id: String,
    },
    /// The agent's list of things to do, as it is now.
    Todo {
        /// Which task.
        task_id: String,
        /// In the agent's order.
        todos: Vec<TodoItem>,
    },
    /// The agent works, waits for its provider, or rests.
    Status {
        /// Which task.
        task_id: String,
        /// The state from now on.
        state: TaskState,
    },
    /// The event stream came or went.
    Connection {
        /// The state from now on.
        state: ConnectionState,
    },
    /// The server that the adapter starts came, went, or does not come.
    Server {
        /// The state from now on.
        state: ServerState,
        /// Why it is not there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<ServerReason>,
        /// The same for people: what happened and what to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The answer to the last prompt is over; once for each prompt.
    Terminal {
        /// Which task.
        task_id: String,
        /// How it ended.
        outcome: Outcome,
    },
    /// Nothing failed, and the person had better know.
    Warning {
        /// What it is and what to do.
        message: String,
    },
    /// Something failed, and the person is told.
    Error {
        /// Which task, if it concerns one only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// What happened and what to do.
        message: String,
        /// A Retry action is offered.
        retry: bool,
    },
    /// Replaces the whole view of a task.
    Timeline {
        /// Which task.
        task_id: String,
        /// What the person sees from now on.
        view: View,
    },
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    /// Announced.
    Pending,
    /// At work, or waiting for leave.
    Running,
    /// Ended well.
    Done,
    /// Ended badly.
    Error,
}

/// What the agent of a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskState {
    /// It works.
    Busy,
    /// It rests.
    #[default]
    Idle,
    /// It waits before it asks its provider again.
    Retry,
}

/// The event stream, as the person sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConnectionState {
    /// Events arrive.
    Connected,
    /// No stream.
    #[default]
    Disconnected,
    /// A new stream is being opened.
    Reconnecting,
}

/// How the answer to a prompt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// By itself.
    Completed,
    /// Somebody stopped it, or the server died.
    Aborted,
    /// It failed.
    Error,
}

impl Update {
    /// The task that the update concerns, if it concerns one.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        match self {
            Self::AssistantDelta { task_id, .. }
            | Self::ReasoningDelta { task_id, .. }
            | Self::ToolState { task_id, .. }
            | Self::UnknownPart { task_id, .. }
            | Self::Attachments { task_id, .. }
            | Self::Diff { task_id, .. }
            | Self::PermissionRequest { task_id, .. }
            | Self::PermissionResolved { task_id, .. }
            | Self::Question { task_id, .. }
            | Self::QuestionResolved { task_id, .. }
            | Self::Todo { task_id, .. }
            | Self::Status { task_id, .. }
            | Self::Terminal { task_id, .. }
            | Self::Timeline { task_id, .. } => Some(task_id),
            Self::Error { task_id, .. } => task_id.as_deref(),
            Self::Connection { .. } | Self::Server { .. } | Self::Warning { .. } => None,
        }
    }

    /// The message and the part whose row the update concerns, if it concerns one.
    #[must_use]
    pub fn row(&self) -> Option<(&str, &str)> {
        match self {
            Self::AssistantDelta { message_id, part_id, .. }
            | Self::ReasoningDelta { message_id, part_id, .. }
            | Self::UnknownPart { message_id, part_id, .. } => Some((message_id, part_id)),
            Self::ToolState { message_id, tool_id, .. } => Some((message_id, tool_id)),
            _ => None,
        }
    }

    /// A permission request as an update.
    #[must_use]
    pub fn permission_request(task_id: &str, asked: &Permission) -> Self {
        Self::PermissionRequest {
            task_id: task_id.to_owned(),
            permission_id: asked.permission_id.clone(),
            permission: asked.permission.clone(),
            patterns: asked.patterns.clone(),
        }
    }

    /// A question as an update.
    #[must_use]
    pub fn question(task_id: &str, question: &Question) -> Self {
        Self::Question {
            task_id: task_id.to_owned(),
            question_id: question.question_id.clone(),
            questions: question.questions.clone(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateParams {
    update: Update,
}

impl Notification {
    /// Reads a notification.
    ///
    /// # Errors
    /// The method is unknown, or its parameters are wrong; the message names the field.
    pub fn from_call(method: &str, params: &Value) -> Result<Self, RpcError> {
        let read = match method {
            "update" => strict::<UpdateParams>(params).map(|read| Self::Update(read.update)),
            "telemetry" => strict(params).map(Self::Telemetry),
            "log" => strict(params).map(Self::Log),
            _ => return Err(RpcError::unsupported(method)),
        };
        read.map_err(|message| RpcError::invalid_params(format!("{method}: {message}")))
    }

    /// The method's name on the wire.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Update(_) => "update",
            Self::Telemetry(_) => "telemetry",
            Self::Log(_) => "log",
        }
    }

    /// The parameters on the wire.
    #[must_use]
    pub fn params(&self) -> Value {
        match self {
            Self::Update(update) => json!({ "update": update }),
            Self::Telemetry(signal) => serde_json::to_value(signal).unwrap_or_default(),
            Self::Log(line) => serde_json::to_value(line).unwrap_or_default(),
        }
    }
}
