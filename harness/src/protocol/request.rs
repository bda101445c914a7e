//! What the harness asks of an adapter, and what the adapter answers.

use super::features::{AutoApprove, Backend, FollowUp, Locale, PermissionAll, PermissionRef};
use super::files::Attachment;
use super::guarding::{CredentialsCheck, PathCheck};
use super::history::{TaskEdit, TaskFork, TaskRevert};
use super::tools::{ToolServerAdd, ToolServerRef};
use super::{Capability, RpcError, ServerSpawn, strict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A request of the harness.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// `initialize`: first; says who speaks which version. Answered by [`Initialized`].
    Initialize(Initialize),
    /// `connect`: use this server from now on; answered by [`Done`] once the event stream is live.
    Connect(Connect),
    /// `server/spawn`: start this server and use it; answered by [`Done`] once its event stream is live.
    ServerSpawn(ServerSpawn),
    /// `workspace/close`: answered by [`Done`] when nothing is left of the server that was started.
    WorkspaceClose,
    /// `settings`: what the person has set, for all tasks from now on. Answered by [`Done`].
    Settings(Settings),
    /// `task/start`: open a session for a new task. Answered by [`TaskStarted`].
    TaskStart(TaskStart),
    /// `task/send`: prompt; answered by [`Done`] when the server has accepted the prompt.
    TaskSend(TaskSend),
    /// `task/abort`: the person stops the agent; answered by [`Done`] when the server took it.
    TaskAbort(TaskRef),
    /// `task/retry`: the person presses Retry beside an error; answered by [`Done`] once it has been begun.
    TaskRetry(TaskRef),
    /// `permission/reply`: the person's answer; answered by [`Done`] when the server took it.
    PermissionReply(PermissionReply),
    /// `permission/hold`: the person stops the rule that would answer; answered by [`Done`].
    PermissionHold(PermissionRef),
    /// `permission/all`: the person's answer to all that a task asks; answered by [`Done`] when the server took each.
    PermissionAll(PermissionAll),
    /// `question/hold`: the person begins to type, which calls off the countdown; answered by [`Done`].
    QuestionHold(QuestionRef),
    /// `question/reply`: the person's answer; answered by [`Done`] when the server took it.
    QuestionReply(QuestionReply),
    /// `question/reject`: the person dismisses a question; answered by [`Done`] when the server took it.
    QuestionReject(QuestionRef),
    /// `task/close`: the person is done with a task for good. Answered by [`Done`].
    TaskClose(TaskRef),
    /// `task/edit`: the person says something else in place of an earlier message; answered by [`Done`] when the server
    /// has accepted the prompt.
    TaskEdit(TaskEdit),
    /// `task/revert`: the person goes back to before a message; answered by [`Done`] when the server has.
    TaskRevert(TaskRevert),
    /// `task/unrevert`: the person takes that back; answered by [`Done`] when the server has.
    TaskUnrevert(TaskRef),
    /// `task/fork`: a new task with what was said before a message. Answered by [`TaskStarted`].
    TaskFork(TaskFork),
    /// `task/aside`: something is asked beside the task. Answered by [`Aside`](super::Aside).
    TaskAside(TaskSend),
    /// `platform/features`: does what is no agent work? Answered by
    /// [`PlatformFeatures`](super::PlatformFeatures).
    PlatformFeatures,
    /// `mcp/list`: which servers of tools are there? Answered by [`ToolServers`](super::ToolServers).
    McpList,
    /// `mcp/add`: the person adds one. Answered by [`ToolServers`](super::ToolServers).
    McpAdd(ToolServerAdd),
    /// `mcp/connect`: the person connects one. Answered by [`Done`].
    McpConnect(ToolServerRef),
    /// `task/snapshot`: answered by the adapter's own [`View`](super::View) of a task.
    TaskSnapshot(TaskRef),
    /// `path/check`: may a tool be let at this path? Answered by [`PathJudged`].
    PathCheck(PathCheck),
    /// `ui/affordances`: what can be done on the screen of a task? Answered by [`Offered`](super::Offered).
    Affordances(TaskRef),
    /// `locale/map`: which of the server's languages is this? Answered by [`Locale`].
    LocaleMap(Locale),
    /// `credentials/check`: can others read this file of keys? Answered by [`CredentialsJudged`].
    CredentialsCheck(CredentialsCheck),
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

/// Parameters of `settings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Settings {
    /// May the agent use tools? If not, it is told so with each prompt, and the person is never asked for leave.
    pub tools: bool,
    /// A rule that answers requests for leave; without it the person is asked about each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_approve: Option<AutoApprove>,
    /// A countdown that answers the agent's questions; without it they wait for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<FollowUp>,
    /// Whose new tasks are.
    #[serde(default, skip_serializing_if = "is_servers")]
    pub backend: Backend,
}

fn is_servers(backend: &Backend) -> bool {
    *backend == Backend::Server
}

impl Default for Settings {
    /// What is so before the person has set anything.
    fn default() -> Self {
        Self { tools: true, auto_approve: None, follow_up: None, backend: Backend::Server }
    }
}

/// Parameters of `task/start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TaskStart {
    /// The harness's name of the task.
    pub task_id: String,
    /// The folder that the task works in, if it is not the one of `connect`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
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
    /// The prompt; empty when the attachments say all.
    pub text: String,
    /// What goes with it, in the person's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
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
    /// Beside a no: what the agent is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Parameters of `question/reply`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionReply {
    /// Which task.
    pub task_id: String,
    /// Which question, as `question` named it.
    pub question_id: String,
    /// For each of its questions the chosen labels, or the person's own words.
    pub answers: Vec<Vec<String>>,
}

/// Parameters of `question/reject`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QuestionRef {
    /// Which task.
    pub task_id: String,
    /// Which question, as `question` named it.
    pub question_id: String,
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
    /// The server's name of the session that carries the task; none when it is the old backend's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
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
            "server/spawn" => strict(params).map(Self::ServerSpawn),
            "workspace/close" => strict::<Done>(params).map(|_| Self::WorkspaceClose),
            "settings" => strict(params).map(Self::Settings),
            "task/start" => strict(params).map(Self::TaskStart),
            "task/send" => strict(params).map(Self::TaskSend),
            "task/abort" => strict(params).map(Self::TaskAbort),
            "task/retry" => strict(params).map(Self::TaskRetry),
            "permission/reply" => strict(params).map(Self::PermissionReply),
            "permission/all" => strict(params).map(Self::PermissionAll),
            "question/hold" => strict(params).map(Self::QuestionHold),
            "task/edit" => strict(params).map(Self::TaskEdit),
            "task/revert" => strict(params).map(Self::TaskRevert),
            "task/unrevert" => strict(params).map(Self::TaskUnrevert),
            "task/fork" => strict(params).map(Self::TaskFork),
            "task/aside" => strict(params).map(Self::TaskAside),
            "platform/features" => strict::<Done>(params).map(|_| Self::PlatformFeatures),
            "mcp/list" => strict::<Done>(params).map(|_| Self::McpList),
            "mcp/add" => strict(params).map(Self::McpAdd),
            "mcp/connect" => strict(params).map(Self::McpConnect),
            "task/close" => strict(params).map(Self::TaskClose),
            "permission/hold" => strict(params).map(Self::PermissionHold),
            "question/reply" => strict(params).map(Self::QuestionReply),
            "question/reject" => strict(params).map(Self::QuestionReject),
            "task/snapshot" => strict(params).map(Self::TaskSnapshot),
            "path/check" => strict(params).map(Self::PathCheck),
            "ui/affordances" => strict(params).map(Self::Affordances),
            "locale/map" => strict(params).map(Self::LocaleMap),
            "credentials/check" => strict(params).map(Self::CredentialsCheck),
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
            Self::ServerSpawn(_) => "server/spawn",
            Self::WorkspaceClose => "workspace/close",
            Self::Settings(_) => "settings",
            Self::TaskStart(_) => "task/start",
            Self::TaskSend(_) => "task/send",
            Self::TaskAbort(_) => "task/abort",
            Self::TaskRetry(_) => "task/retry",
            Self::PermissionReply(_) => "permission/reply",
            Self::PermissionHold(_) => "permission/hold",
            Self::PermissionAll(_) => "permission/all",
            Self::QuestionHold(_) => "question/hold",
            Self::TaskClose(_) => "task/close",
            Self::TaskEdit(_) => "task/edit",
            Self::TaskRevert(_) => "task/revert",
            Self::TaskUnrevert(_) => "task/unrevert",
            Self::TaskFork(_) => "task/fork",
            Self::TaskAside(_) => "task/aside",
            Self::PlatformFeatures => "platform/features",
            Self::McpList => "mcp/list",
            Self::McpAdd(_) => "mcp/add",
            Self::McpConnect(_) => "mcp/connect",
            Self::QuestionReply(_) => "question/reply",
            Self::QuestionReject(_) => "question/reject",
            Self::TaskSnapshot(_) => "task/snapshot",
            Self::PathCheck(_) => "path/check",
            Self::Affordances(_) => "ui/affordances",
            Self::LocaleMap(_) => "locale/map",
            Self::CredentialsCheck(_) => "credentials/check",
            Self::Fence => "fence",
            Self::Shutdown => "shutdown",
        }
    }

    /// The parameters on the wire.
    #[must_use]
    pub fn params(&self) -> Value {
        match self {
            Self::Initialize(params) => written(params),
            Self::Connect(params) => written(params),
            Self::ServerSpawn(params) => written(params),
            Self::Settings(params) => written(params),
            Self::TaskStart(params) => written(params),
            Self::TaskSend(params) | Self::TaskAside(params) => written(params),
            Self::TaskEdit(params) => written(params),
            Self::TaskRevert(params) => written(params),
            Self::TaskFork(params) => written(params),
            Self::McpAdd(params) => written(params),
            Self::McpConnect(params) => written(params),
            Self::PermissionReply(params) => written(params),
            Self::PermissionHold(params) => written(params),
            Self::PermissionAll(params) => written(params),
            Self::QuestionHold(params) => written(params),
            Self::LocaleMap(params) => written(params),
            Self::QuestionReply(params) => written(params),
            Self::QuestionReject(params) => written(params),
            Self::TaskAbort(task)
            | Self::TaskRetry(task)
            | Self::TaskSnapshot(task)
            | Self::TaskClose(task)
            | Self::TaskUnrevert(task)
            | Self::Affordances(task) => written(task),
            Self::PathCheck(params) => written(params),
            Self::CredentialsCheck(params) => written(params),
            Self::Fence | Self::Shutdown | Self::WorkspaceClose | Self::McpList | Self::PlatformFeatures => {
                json!({})
            }
        }
    }
}

/// Parameters have names for fields and nothing else that JSON can't hold.
fn written(params: &impl Serialize) -> Value {
    serde_json::to_value(params).unwrap_or_default()
}
