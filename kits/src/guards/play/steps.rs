//! The steps of a case as they are written.

mod operations;
mod standing;
mod task;
mod view;

pub(crate) use operations::{Action, AtOnce, Limited, Measured, Service};
pub(crate) use standing::{Conversation, Reopen, Resource, Search, Server, Set, Stands, Tool, Write};
pub(crate) use task::{Hold, Task};
pub(crate) use view::Render;

use fixtures::commands::Choice;
use mock_server::endpoint::Reply;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What happens, in order.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Steps {
    /// One or more.
    pub(crate) step: Vec<Step>,
}

/// Something that is asked of the adapter, and what has to come of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Step {
    /// The adapter is told how things are.
    Configure(Configure),
    /// The program ends and starts again.
    Restart(Empty),
    /// May a tool be let at this path?
    Check(PathStep),
    /// A tool is let at it.
    Act(PathStep),
    /// May it be let at each path of these kinds of the corpus?
    Paths(Vec<String>),
    /// May this line run without a question?
    Decide(Decide),
    /// May each line of these kinds of the corpus?
    Commands(Vec<String>),
    /// The agent runs a line.
    Run(Run),
    /// It runs several at once.
    RunAtOnce(Vec<Run>),
    /// Something is done over HTTP that may fail.
    Operate(Operate),
    /// Each error of these kinds of the corpus happens.
    Errors(Vec<String>),
    /// Which policy has the webview?
    Csp(Empty),
    /// The page shows words of the model.
    Render(Render),
    /// A conversation is sent to a model.
    Context(Context),
    /// Something is done with the person's key.
    Key(KeyStep),
    /// A file changes.
    Change(Change),
    /// Something is added to a batch.
    Add(Add),
    /// Items are added to a batch, all at once.
    Together(Vec<String>),
    /// An answer is asked for that may be kept.
    Kept(Kept),
    /// The person says something to a task.
    Task(Task),
    /// Operations begin together.
    AtOnce(AtOnce),
    /// Something is done that has so long.
    Limited(Limited),
    /// Something is done whose time is taken.
    Measured(Measured),
    /// What reports get from now on.
    Sink(Vec<Planned>),
    /// A service is asked for.
    Service(Service),
    /// A service is no longer needed.
    Dispose(String),
    /// A service does something.
    Action(Action),
    /// The program ends and starts again, configured otherwise.
    Reopen(Reopen),
    /// A value is kept.
    Set(Set),
    /// Which state is there?
    Stands(Stands),
    /// A conversation begins of which copies are kept.
    Conversation(Conversation),
    /// It has so many messages more.
    Messages(u32),
    /// The copies that there have to be, by how many messages are in each.
    Copies(Vec<u64>),
    /// A server of tools is registered.
    Server(Server),
    /// One of its tools is called.
    Tool(Tool),
    /// One of its resources is read.
    Resource(Resource),
    /// A repository of so many files is there, in the folder `repository`.
    Repository(usize),
    /// It is indexed, and has so many files.
    Index(usize),
    /// A file of it changes.
    Write(Write),
    /// Something is looked for in it.
    Search(Search),
    /// Time passes.
    PassMs(f64),
}

/// Nothing more to say: `{}`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Empty {}

/// How things are.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Configure {
    /// The workspaces: folders of the case.
    #[serde(default)]
    pub(crate) roots: Vec<String>,
    /// What the person has allowed.
    #[serde(default)]
    pub(crate) allow: Vec<String>,
    /// There is no list of it at all.
    #[serde(default)]
    pub(crate) missing: bool,
    /// What folds paths throws on every call.
    #[serde(default)]
    pub(crate) path_breaks: bool,
    /// The person wants errors to be reported.
    #[serde(default)]
    pub(crate) telemetry: bool,
    /// So many operations may run at once.
    pub(crate) at_once: Option<usize>,
}

/// A path, and what has to come of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathStep {
    /// The path; `${root}` is the workspace, `${base}` the folder around it.
    pub(crate) path: String,
    /// What is done with it: `read` or `write`.
    pub(crate) op: String,
    /// `allow` or `refuse`.
    pub(crate) wanted: String,
    /// The file that says `written` then, below the case's folder.
    pub(crate) writes: Option<String>,
}

/// A line, and what has to be said of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Decide {
    /// The line.
    pub(crate) line: String,
    /// `allow` or `ask`.
    pub(crate) wanted: String,
}

/// A line that the agent runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The line.
    pub(crate) line: String,
    /// What the person says when the question comes.
    pub(crate) choice: Choice,
    /// Is the person asked?
    pub(crate) asks: bool,
    /// Does it run?
    pub(crate) runs: bool,
    /// The file of the workspace that it makes.
    pub(crate) makes: String,
}

/// Something over HTTP that may fail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Operate {
    /// What each try gets; the last one stays.
    pub(crate) replies: Vec<Planned>,
    /// How many tries there are; without it, as many as the adapter makes by itself.
    pub(crate) attempts: Option<u32>,
    /// When the tries come, in seconds since the first.
    pub(crate) at_s: Vec<f64>,
    /// Does it succeed?
    pub(crate) ok: bool,
}

/// What a try gets.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Planned {
    /// An answer with this status.
    Status(u16),
    /// `hang-up`: none.
    Word(Word),
}

/// What is no status.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Word {
    /// The connection ends without an answer.
    HangUp,
}

impl Planned {
    pub(crate) fn reply(&self) -> Reply {
        match self {
            Self::Status(status) if *status < 300 => Reply::json(*status, &json!({"ok": true})),
            Self::Status(status) => Reply::json(*status, &json!({"error": {"message": "planned"}})),
            Self::Word(Word::HangUp) => Reply::HangUp,
        }
    }
}

impl Operate {
    /// The status that the last try gets, if it gets one.
    pub(crate) fn last_status(&self) -> Option<u16> {
        let last = self.at_s.len().checked_sub(1)?;
        match self.replies.get(last).or(self.replies.last())? {
            Planned::Status(status) => Some(*status),
            Planned::Word(Word::HangUp) => None,
        }
    }
}

/// A conversation, by the tokens of its parts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    /// As many tokens as the model takes.
    pub(crate) limit: u32,
    /// Those of the system prompt.
    pub(crate) system: u32,
    /// Those of the definitions of tools.
    pub(crate) tools: u32,
    /// Those of what is said of the environment.
    pub(crate) environment: u32,
    /// Those of each message, the oldest first.
    pub(crate) messages: Vec<u32>,
    /// Messages that are a call of a tool and its result, counted from 1.
    #[serde(default)]
    pub(crate) pairs: Vec<(usize, usize)>,
    /// So often the model says that it is too long.
    #[serde(default)]
    pub(crate) refused: usize,
    /// Must something be left out?
    pub(crate) compressed: bool,
    /// Must even the last messages be?
    #[serde(default)]
    pub(crate) forced: bool,
}

impl Context {
    /// As the adapter is told it.
    pub(crate) fn told(&self) -> Value {
        let message = |(index, tokens): (usize, &u32)| {
            let number = index + 1;
            let mut message = json!({"id": format!("message-{number}"), "tokens": tokens});
            message["role"] = json!(if number % 2 == 1 { "user" } else { "assistant" });
            for (call, result) in &self.pairs {
                if *call == number {
                    message["calls"] = json!(format!("message-{result}"));
                }
                if *result == number {
                    message["answers"] = json!(format!("message-{call}"));
                }
            }
            message
        };
        let messages: Vec<Value> = self.messages.iter().enumerate().map(message).collect();
        json!({
            "limit": self.limit,
            "system": {"id": "system", "tokens": self.system},
            "tools": {"id": "tools", "tokens": self.tools},
            "environment": {"id": "environment", "tokens": self.environment},
            "messages": messages,
        })
    }
}

/// What is done with the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyStep {
    /// The person gives it.
    Store,
    /// The person gives another one in its place.
    Replace,
    /// It is used, and the provider says it back.
    Use,
    /// The same, and there is none any more.
    UseNone,
    /// It is used, and the provider says that somebody else is to be asked.
    UseRedirected,
    /// All state is shown.
    Dump,
    /// The person logs out.
    Logout,
}

/// A file that changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    /// Which.
    pub(crate) path: String,
    /// How long nothing happens then.
    #[serde(default)]
    pub(crate) pass_ms: f64,
}

/// Something for a batch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Add {
    /// Its name.
    pub(crate) item: String,
    /// The batch that it comes into fails.
    #[serde(default)]
    pub(crate) fails: bool,
    /// So long that batch is worked on.
    #[serde(default)]
    pub(crate) takes_ms: f64,
    /// How long nothing happens then.
    #[serde(default)]
    pub(crate) pass_ms: f64,
}

/// An answer that may be kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    /// What is shown.
    pub(crate) about: String,
    /// Under which name.
    #[serde(default = "first_key")]
    pub(crate) key: String,
    /// How long nothing happens before.
    #[serde(default)]
    pub(crate) pass_ms: f64,
    /// The status that the host would answer with.
    pub(crate) status: u16,
    /// Is the host asked?
    pub(crate) fetches: bool,
}

fn first_key() -> String {
    "one".to_owned()
}
