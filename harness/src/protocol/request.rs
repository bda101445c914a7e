//! What the harness asks of an adapter, and what the adapter answers.

use super::{RpcError, strict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A request of the harness.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// `initialize`: first; says who speaks which version. Answered by [`Initialized`].
    Initialize(Initialize),
    /// `connect`: use this server from now on; answered by [`Done`] once the event stream is live.
    Connect(Connect),
    /// `task/start`: open a session for a new task. Answered by [`TaskStarted`].
    TaskStart(TaskRef),
    /// `task/send`: prompt; answered by [`Done`] when the server has accepted the prompt.
    TaskSend(TaskSend),
    /// `permission/reply`: the person's answer; answered by [`Done`] when the server took it.
    PermissionReply(PermissionReply),
    /// `task/snapshot`: answered by the adapter's own [`View`](super::View) of a task.
    TaskSnapshot(TaskRef),
    /// `fence`: answered by [`Done`] after everything read from the sockets so far was processed and its updates written.
    Fence,
    /// `shutdown`: answered by [`Done`], then the adapter ends.
    Shutdown,
}

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Initialize {
    /// The version of the protocol that the harness speaks.
    pub protocol: u32,
    /// What every wait of an adapter with `scaled-time` is multiplied by; 1.0 is real time, 0.1 ten times faster.
    pub time_scale: f64,
}

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Initialized {
    /// The version of the protocol that the adapter speaks.
    pub protocol: u32,
    /// The adapter's name.
    pub name: String,
    /// The adapter's version.
    pub version: String,
    /// What it can do; a declared capability makes its cases mandatory.
    pub capabilities: Vec<Capability>,
}

/// A part of the protocol that an adapter may offer. An enum, so that a misspelt one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// `task/start`, `task/send` and what is shown of a turn.
    Chat,
    /// Reasoning is shown.
    Reasoning,
    /// Tool calls are shown.
    Tools,
    /// Permission requests are shown and can be answered.
    Permissions,
    /// A lost stream is opened again.
    Reconnect,
    /// `task/snapshot`.
    Snapshot,
    /// Waits obey `timeScale`.
    ScaledTime,
}

/// Parameters of `connect`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connect {
    /// Root of the server, e.g. `http://127.0.0.1:4096`.
    pub url: String,
    /// User of Basic auth.
    pub username: String,
    /// Password of Basic auth.
    pub password: String,
    /// The workspace folder that the server shall work in.
    pub directory: String,
}

/// Without the password: debug output ends up in logs.
impl std::fmt::Debug for Connect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connect")
            .field("url", &self.url)
            .field("username", &self.username)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// Parameters that only name a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskRef {
    /// The harness's name of the task.
    pub task_id: String,
}

/// Parameters of `task/send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskSend {
    /// Which task.
    pub task_id: String,
    /// The prompt.
    pub text: String,
}

/// Parameters of `permission/reply`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionReply {
    /// Which task.
    pub task_id: String,
    /// Which request, as `permissionRequest` named it.
    pub permission_id: String,
    /// The person's answer.
    pub reply: Reply,
}

/// An answer to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reply {
    /// Yes, this time.
    Once,
    /// Yes, and do not ask again for the like.
    Always,
    /// No.
    Reject,
}

/// Result of `task/start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskStarted {
    /// The server's name of the session that carries the task.
    pub session_id: String,
}

/// The result of a request that has nothing to tell: `{}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {}

impl Request {
    /// Reads a call.
    ///
    /// # Errors
    /// `unsupported` for an unknown method, `invalid params` with the field's name otherwise.
    pub fn from_call(method: &str, params: &Value) -> Result<Self, RpcError> {
        // A call without parameters may leave them out; it means `{}`.
        let empty = json!({});
        let params = if params.is_null() { &empty } else { params };
        let read = match method {
            "initialize" => strict(params).map(Self::Initialize),
            "connect" => strict(params).map(Self::Connect),
            "task/start" => strict(params).map(Self::TaskStart),
            "task/send" => strict(params).map(Self::TaskSend),
            "permission/reply" => strict(params).map(Self::PermissionReply),
            "task/snapshot" => strict(params).map(Self::TaskSnapshot),
            "fence" => strict::<Done>(params).map(|_| Self::Fence),
            "shutdown" => strict::<Done>(params).map(|_| Self::Shutdown),
            _ => return Err(RpcError::unsupported(method)),
        };
        read.map_err(|message| RpcError::invalid_params(format!("{method}: {message}")))
    }

    /// The method's name on the wire.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Connect(_) => "connect",
            Self::TaskStart(_) => "task/start",
            Self::TaskSend(_) => "task/send",
            Self::PermissionReply(_) => "permission/reply",
            Self::TaskSnapshot(_) => "task/snapshot",
            Self::Fence => "fence",
            Self::Shutdown => "shutdown",
        }
    }

    /// The parameters on the wire.
    #[must_use]
    pub fn params(&self) -> Value {
        match self {
            Self::Initialize(Initialize { protocol, time_scale }) => {
                json!({ "protocol": protocol, "timeScale": time_scale })
            }
            Self::Connect(Connect { url, username, password, directory }) => {
                json!({ "url": url, "username": username, "password": password, "directory": directory })
            }
            Self::TaskStart(TaskRef { task_id }) | Self::TaskSnapshot(TaskRef { task_id }) => {
                json!({ "taskId": task_id })
            }
            Self::TaskSend(TaskSend { task_id, text }) => json!({ "taskId": task_id, "text": text }),
            Self::PermissionReply(PermissionReply { task_id, permission_id, reply }) => {
                json!({ "taskId": task_id, "permissionId": permission_id, "reply": reply })
            }
            Self::Fence | Self::Shutdown => json!({}),
        }
    }
}
