//! The person of a scenario at work with an agent: the same steps that a server is asked over HTTP, in calls of ACP.
//!
//! The client is an honest one: it starts with `initialize`, makes a session when a step first names it, counts its
//! requests from 0, answers every request of the agent, and a permission that is open when it cancels with `cancelled`.
//! It offers neither files nor terminals unless the scenario's own `initialize` does.

mod answers;
mod steps;

use super::wire::Wire;
use crate::clock::{self, Limits};
use crate::drive::{Backstage, DriveError, Problem};
use crate::tape::Tape;
use fixtures::recording::{Exit, Line, PipeName, UserLine};
use fixtures::scenario::{ACP_REQUEST, Scenario, UserAct, UserStep};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

/// An agent's pipes, whatever they are.
pub struct Ends {
    /// What it reads.
    pub stdin: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it says.
    pub stdout: Box<dyn AsyncRead + Send + Unpin>,
    /// What it says to whoever looks, if it is a program.
    pub stderr: Option<Box<dyn AsyncRead + Send + Unpin>>,
}

/// Who brings the agent on, and takes it off again.
pub trait Casting: Backstage {
    /// Starts the agent.
    fn begin(&self) -> Pin<Box<dyn Future<Output = Result<Ends, String>> + Send + '_>>;

    /// Waits until the agent has ended whose stdin is closed; says how, if it is a program.
    fn end(&self)
    -> Pin<Box<dyn Future<Output = Result<Option<super::process::Ended>, String>> + Send + '_>>;
}

/// The person.
struct Client<'a> {
    casting: &'a dyn Casting,
    limits: &'a Limits,
    tape: Tape,
    wire: Wire,
    /// The tasks that listen to the agent.
    listens: Vec<JoinHandle<()>>,
    next_id: u64,
    sessions: Vec<Session>,
    /// Permissions that are settled, by the agent's own ids.
    settled: BTreeSet<String>,
    awaited_from: usize,
    saved: BTreeMap<String, String>,
    workspace: String,
}

/// A session of the person's.
struct Session {
    name: String,
    id: String,
    /// Requests whose answer is awaited with the session's end of work.
    unanswered: Vec<u64>,
}

/// Performs the person's steps of `scenario` with an agent, and keeps everything on the tape.
pub async fn perform(
    scenario: &Scenario,
    workspace: &str,
    casting: &dyn Casting,
    tape: &Tape,
    limits: &Limits,
) -> Result<(), DriveError> {
    let at = |place: &str| {
        let place = place.to_owned();
        move |problem| DriveError { place, problem }
    };
    let begun = Client::begin(workspace, casting, tape, limits).await;
    let mut client = begun.map_err(at("before the first step"))?;
    if !scenario.user.steps.first().is_some_and(is_initialize) {
        client.initialize().await.map_err(at("before the first step"))?;
    }
    for (index, step) in scenario.user.steps.iter().enumerate() {
        let number = index + 1;
        let does = step.to_string();
        let place = format!("step {number} ({does})");
        tape.push(|at_us| Line::User(UserLine { at_us, step: number, does }));
        client.does(step).await.map_err(at(&place))?;
    }
    client.leave().await.map_err(at("after the last step"))
}

fn is_initialize(step: &UserStep) -> bool {
    matches!(&step.act, UserAct::Request(request) if request.method == ACP_REQUEST && request.target == "initialize")
}

impl<'a> Client<'a> {
    async fn begin(
        workspace: &str,
        casting: &'a dyn Casting,
        tape: &Tape,
        limits: &'a Limits,
    ) -> Result<Self, Problem> {
        let (wire, listens) = connected(casting, tape).await?;
        Ok(Self {
            casting,
            limits,
            tape: tape.clone(),
            wire,
            listens,
            next_id: 0,
            sessions: Vec::new(),
            settled: BTreeSet::new(),
            awaited_from: 0,
            saved: BTreeMap::new(),
            workspace: workspace.to_owned(),
        })
    }

    async fn initialize(&mut self) -> Result<(), Problem> {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
            "clientInfo": {"name": "standin", "version": env!("CARGO_PKG_VERSION")},
        });
        let id = self.request("initialize", &params).await?;
        self.response(id, "initialize", self.limits.ready).await?;
        Ok(())
    }

    /// The id of this session; it is made if there is none of this name.
    async fn session(&mut self, name: &str) -> Result<usize, Problem> {
        if let Some(at) = self.sessions.iter().position(|session| session.name == name) {
            return Ok(at);
        }
        let saved = self.saved.get(name).cloned();
        let id = match saved {
            Some(id) => id,
            None => {
                let params = json!({"cwd": self.workspace, "mcpServers": []});
                let id = self.request("session/new", &params).await?;
                let answer = self.response(id, "session/new", self.limits.exchange).await?;
                // What the agent tells of a new session comes at no fixed time.
                self.quiet(self.limits.boot_quiet).await?;
                let made = answer.pointer("/result/sessionId").and_then(Value::as_str);
                let unusable =
                    || Problem::Unusable(format!("session/new was answered with no sessionId: {answer}"));
                made.ok_or_else(unusable)?.to_owned()
            }
        };
        self.sessions.push(Session { name: name.to_owned(), id, unanswered: Vec::new() });
        Ok(self.sessions.len() - 1)
    }

    /// Sends a request; its id.
    async fn request(&mut self, method: &str, params: &Value) -> Result<u64, Problem> {
        let id = self.next_id;
        self.next_id += 1;
        self.message(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        Ok(id)
    }

    async fn message(&self, message: &Value) -> Result<(), Problem> {
        self.line(format!("{message}\n").as_bytes()).await
    }

    async fn line(&self, line: &[u8]) -> Result<(), Problem> {
        let failed = |error| Problem::Unusable(format!("the agent could not be told: {error}"));
        self.wire.say(line).await.map_err(failed)
    }

    /// Waits for the answer to a request.
    async fn response(&self, id: u64, what: &str, limit: std::time::Duration) -> Result<Value, Problem> {
        let is_it = |message: &Value| message.get("method").is_none() && message["id"] == id;
        Ok(self.heard(0, &format!("the answer to {what}"), limit, is_it).await?.1)
    }

    /// Waits for a message.
    async fn heard(
        &self,
        from: usize,
        what: &str,
        limit: std::time::Duration,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<(usize, Value), Problem> {
        let heard = clock::within(limit, self.wire.wait_for(from, fits)).await;
        let timed_out = || Problem::TimedOut { awaited: what.to_owned(), limit };
        heard
            .ok_or_else(timed_out)?
            .ok_or_else(|| Problem::Unusable(format!("waited for {what}, but the agent closed its stdout")))
    }

    /// Waits until the agent has said nothing for so long.
    async fn quiet(&self, length: std::time::Duration) -> Result<(), Problem> {
        let what = format!("{} s without a word of the agent", length.as_secs_f32());
        let silence = clock::quiet_since(length, || self.wire.last_activity());
        let limit = self.limits.settle;
        clock::within(limit, silence).await.ok_or(Problem::TimedOut { awaited: what, limit })
    }

    /// Ends the agent as a client does, and waits for it.
    async fn end(&mut self) -> Result<(), Problem> {
        self.wire.close().await;
        let ended = self.casting.end().await.map_err(Problem::Unusable)?;
        for listens in self.listens.drain(..) {
            drop(clock::within(self.limits.quiet, listens).await);
        }
        if let Some(ended) = ended {
            self.tape.push(|at_us| Line::Exit(Exit { at_us, code: ended.code, signal: ended.signal }));
        }
        Ok(())
    }

    async fn leave(&mut self) -> Result<(), Problem> {
        self.quiet(self.limits.quiet).await?;
        self.end().await
    }

    /// Ends the agent, and starts it again over what it has kept.
    async fn restart(&mut self) -> Result<(), Problem> {
        self.quiet(self.limits.quiet).await?;
        self.end().await?;
        (self.wire, self.listens) = connected(self.casting, &self.tape).await?;
        (self.next_id, self.awaited_from) = (0, 0);
        self.settled.clear();
        for session in &mut self.sessions {
            session.unanswered.clear();
        }
        self.initialize().await
    }
}

async fn connected(casting: &dyn Casting, tape: &Tape) -> Result<(Wire, Vec<JoinHandle<()>>), Problem> {
    let ends = casting.begin().await.map_err(Problem::Unusable)?;
    let (wire, listens) = Wire::new(tape.clone(), ends.stdin, ends.stdout);
    let mut all = vec![listens, answers::spawn(&wire)];
    all.extend(ends.stderr.map(|stderr| wire.keep(PipeName::Stderr, stderr)));
    Ok((wire, all))
}
