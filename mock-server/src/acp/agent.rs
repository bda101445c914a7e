//! An agent at work: takes the client's lines, one after the other, and lets what they ask for go on side by side.

use super::answers::no_such_method;
use super::dialect::seed_names::Names;
use super::dialect::written::Written;
use super::dialect::{Dialect, Strictness, TurnEnd};
use super::directory::{Directory, Model};
use super::ids::Ids;
use super::line::Out;
pub use super::line::{Breaks, Broken, Left, Stderr, Then, Whole};
use super::server::Server;
use super::waiting::Waiting;
use super::watch::{Process, Seen, Watcher};
use super::{events, kiro, schema};
use crate::clock::Clock;
use crate::options::{Options, Standing, StartError};
use crate::profile::Profile;
use crate::standin::StandIn;
use fixtures::ServerKind;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::sync::{Notify, oneshot, watch};

/// What an agent is to be.
pub struct AgentOptions {
    /// The server behind it.
    pub server: Options,
    /// In which words it speaks.
    pub dialect: Dialect,
    /// By what a turn ends; the dialect's own way when absent.
    pub turn_end: Option<TurnEnd>,
    /// What it makes of other words.
    pub strictness: Strictness,
    /// Where Kiro's session files are kept, if anywhere: a home.
    pub home: Option<PathBuf>,
    /// How its own requests are numbered.
    pub ids: Ids,
    /// The folder that it was started in; its workspace's when absent.
    pub started_in: Option<String>,
    /// Where it says what is not for the client.
    pub stderr: Stderr,
}

/// An agent and the server behind it.
pub struct Agent {
    stand_in: StandIn,
    options: AgentOptions,
    password: String,
    /// Who sees what it reads and writes, if anybody.
    watcher: Option<Watcher>,
}

/// What all of an agent's tasks share.
pub(super) struct Inner {
    pub(super) kind: ServerKind,
    pub(super) version: &'static str,
    pub(super) dialect: Dialect,
    pub(super) turn_end: TurnEnd,
    pub(super) strictness: Strictness,
    pub(super) server: Server,
    pub(super) out: Out,
    /// The names of the dialect, if it has its own.
    pub(super) names: Option<Arc<Names>>,
    pub(super) waiting: Waiting,
    pub(super) listens: watch::Receiver<bool>,
    pub(super) stderr: Stderr,
    pub(super) ids: Ids,
    /// Who watches, and what has become of the process.
    process: Process,
    /// Where Kiro's session files are kept, if anywhere.
    pub(super) home: Option<PathBuf>,
    /// The folder of who names none.
    pub(super) folder: String,
    /// The folder that it was started in.
    pub(super) started_in: String,
    pub(super) clock: Clock,
    /// Tells when an abort is done.
    pub(super) settled: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) directories: HashMap<String, Arc<Directory>>,
    pub(super) servers_of_tools: BTreeMap<String, BTreeSet<String>>,
    /// Calls of tools that have been told with what they were called with, by their sessions.
    pub(super) told_calls: BTreeSet<(String, String)>,
    /// Parts of forks that were told with all that was said before: their events tell nothing new.
    pub(super) copied: BTreeSet<String>,
    /// The aborts that are on their way, by their numbers.
    pub(super) aborts: BTreeSet<u64>,
    /// The number of the last one.
    pub(super) last_abort: u64,
    /// By session: the end of the question for permission that was asked last.
    pub(super) permissions: HashMap<String, oneshot::Receiver<()>>,
    /// The agent's own requests that wait for an answer, by their ids as JSON.
    pub(super) asked: HashMap<String, oneshot::Sender<Result<Value, Value>>>,
    pub(super) next_id: u64,
}

/// What is done for a message.
type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A session of the client's.
#[derive(Debug, Clone)]
pub(super) struct Session {
    pub(super) folder: String,
    pub(super) model: Model,
    pub(super) variant: Option<String>,
    pub(super) mode: Option<String>,
    /// When this agent began with it.
    pub(super) begun_ms: u64,
}

/// A refusal: code, message, data.
#[derive(Debug, Clone)]
pub(super) struct Refusal(pub(super) i32, pub(super) String, pub(super) Option<Value>);

impl Agent {
    /// Starts the server behind an agent.
    ///
    /// # Errors
    /// The server can't start.
    pub async fn start(mut options: AgentOptions) -> Result<Self, StartError> {
        // Nobody but the agent asks it; who guesses a port must guess a word, too.
        let password = format!("acp-{:016x}", options.server.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        options.server.password = Some(password.clone());
        options.server.standing = Standing::behind(options.dialect.is_kiro());
        let stand_in = StandIn::start(options.server.clone()).await?;
        Ok(Self { stand_in, options, password, watcher: None })
    }

    /// The server behind it.
    #[must_use]
    pub fn stand_in(&self) -> &StandIn {
        &self.stand_in
    }

    /// From now on this one sees what it reads and writes.
    pub fn watch(&mut self, watcher: Watcher) {
        self.watcher = Some(watcher);
    }

    /// Speaks with a client until the client's words end, or a fault ends it. What the server behind it keeps stays for the
    /// next one.
    pub async fn speak(
        &self,
        stdin: impl AsyncRead + Send + Unpin + 'static,
        stdout: impl AsyncWrite + Send + Unpin + 'static,
        breaks: Box<dyn Breaks>,
    ) -> Left {
        let profile = Profile::of(self.options.server.server);
        let Ok(server) = Server::of(&self.stand_in, self.password.clone()) else { return Left::Quietly };
        let names = Names::of(self.options.dialect, self.options.home.as_deref());
        let (out, way) = Out::new(names.clone());
        let (begun, listens) = watch::channel(false);
        let process = Process::new(self.watcher.clone());
        let inner = Arc::new(Inner {
            kind: profile.server,
            version: profile.version,
            dialect: self.options.dialect,
            turn_end: self.options.turn_end.unwrap_or_else(|| self.options.dialect.turn_end()),
            strictness: self.options.strictness,
            server,
            out,
            names,
            waiting: Waiting::of(profile.server),
            listens,
            stderr: self.options.stderr.clone(),
            ids: self.options.ids,
            process: process.clone(),
            home: self.options.home.clone(),
            folder: self.stand_in.workspace().to_owned(),
            started_in: self
                .options
                .started_in
                .clone()
                .unwrap_or_else(|| self.stand_in.workspace().to_owned()),
            clock: Clock::new(self.options.server.clock),
            settled: Notify::new(),
            state: Mutex::default(),
        });
        let writes = way.write(stdout, self.options.stderr.clone(), breaks, process);
        let events = tokio::spawn(events::follow(Arc::clone(&inner), begun));
        let reads = inner.clone().read(stdin);
        drop(inner);
        tokio::pin!(writes, reads);
        let left = tokio::select! {
            left = &mut writes => Some(left),
            () = &mut reads => None,
        };
        events.abort();
        left.unwrap_or(Left::Quietly)
    }
}

impl State {
    /// An abort sets out; gives its number.
    fn next_abort(&mut self) -> u64 {
        self.last_abort += 1;
        self.aborts.insert(self.last_abort);
        self.last_abort
    }
}

impl Inner {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes lines until there are no more.
    async fn read(self: Arc<Self>, mut stdin: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 64 * 1024];
        let mut rest = Vec::new();
        let mut written = Written::of(self.dialect);
        // What is asked goes on side by side, but begins in its order: a cancel never overtakes its prompt.
        let mut work: FuturesUnordered<Work> = FuturesUnordered::new();
        loop {
            let count = tokio::select! {
                biased;
                Some(()) = work.next() => continue,
                read = self.process.unless_deaf(stdin.read(&mut buffer)) => read,
            };
            let Ok(count @ 1..) = count else { break };
            self.process.see(Seen::Stdin(&buffer[..count]));
            // What has come before has no end of a line: a long one is not searched again and again.
            let mut from = rest.len();
            rest.extend_from_slice(&buffer[..count]);
            while let Some(at) = rest[from..].iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=from + at).collect();
                from = 0;
                work.extend(written.whole(line).and_then(|line| self.take(&line)));
            }
        }
        self.process.see(Seen::StdinEnd);
        self.process.linger(&mut work).await;
        self.leave().await;
        self.out.written().await;
    }

    /// One line of the client's; what is to be done for it.
    fn take(self: &Arc<Self>, line: &[u8]) -> Option<Work> {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let Ok(message) = serde_json::from_slice::<Value>(line) else {
            self.complain(&format!(
                "Failed to parse JSON message: {}",
                String::from_utf8_lossy(line).trim_end()
            ));
            return None;
        };
        if !message.is_object() {
            self.complain(&format!("Invalid message {message}"));
            return None;
        }
        match (message.get("method"), message.get("id")) {
            (Some(method), Some(id)) => {
                let Some(word) = method.as_str() else {
                    let (inner, method, id) = (Arc::clone(self), method.clone(), id.clone());
                    return Some(Box::pin(async move {
                        inner.refuse(&method.to_string(), &id, &no_such_method(&method));
                    }));
                };
                let method = word.to_owned();
                let (inner, id, params) = (Arc::clone(self), id.clone(), message.get("params").cloned());
                // What was cancelled before a prompt is not the prompt's turn.
                let cancelled = Some(self.state().last_abort).filter(|_| method == "session/prompt");
                Some(Box::pin(async move {
                    if let Some(cancelled) = cancelled {
                        inner.aborted(cancelled).await;
                    }
                    inner.answer(&method, id, params).await;
                }))
            }
            (Some(Value::String(method)), None) => {
                let (inner, method) = (Arc::clone(self), method.clone());
                let params = message.get("params").cloned().unwrap_or(Value::Null);
                let number = (method == "session/cancel").then(|| self.state().next_abort());
                Some(Box::pin(async move {
                    if let Some(number) = number {
                        inner.cancelled(number, &method, params).await;
                    }
                }))
            }
            (None, Some(id)) => {
                self.hear(id, &message);
                None
            }
            _ => {
                self.complain(&format!("Invalid message {message}"));
                None
            }
        }
    }

    async fn answer(self: &Arc<Self>, method: &str, id: Value, params: Option<Value>) {
        let has_params = params.is_some();
        let mut params = self.in_standard(method, params.unwrap_or(Value::Null));
        let left_in = self.names.as_ref().and_then(|names| names.heard(&mut params));
        if self.dialect == Dialect::KiroSeed && method == "session/load" && params["cwd"].is_null() {
            let known = params["sessionId"].as_str().and_then(|id| self.session(id));
            let folder = known.map(|session| json!(session.folder)).or(left_in);
            params["cwd"] = folder.unwrap_or_else(|| json!(self.folder));
        }
        let given = Some(&params).filter(|params| has_params || !params.is_null());
        let answered = match self.known(method, given) {
            Err(refusal) => Err(refusal),
            Ok(()) if kiro::has_method(method) => match self.perform_kiros(method, &params).await {
                Some(answered) => answered,
                None => return,
            },
            Ok(()) => self.perform(method, &params).await,
        };
        let session = answered.as_ref().ok().and_then(|result| result["sessionId"].as_str());
        let session = session.or(params["sessionId"].as_str()).unwrap_or_default().to_owned();
        let is_prompt = method == "session/prompt";
        let is_done = answered.is_ok();
        match answered {
            Err(refusal) => self.refuse(method, &id, &refusal),
            Ok(result) => {
                let result = self.dialect.answers(method, &params, result);
                let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
                match (is_prompt, params["sessionId"].as_str()) {
                    (true, Some(session)) => self.end_turn(session, response),
                    _ => self.out.answer(method, response),
                }
            }
        }
        if self.dialect.is_kiro() && is_done {
            self.tell_kiros(method, &params, &session);
        }
    }

    /// What a client said in its dialect, in the words of the standard; a lenient agent takes the words of the others.
    fn in_standard(&self, method: &str, params: Value) -> Value {
        if self.strictness == Strictness::Lenient && schema::wrong(method, Some(&params)).is_some() {
            let heard = Dialect::KiroSeed.hears(method, params.clone());
            if schema::wrong(method, Some(&heard)).is_none() {
                self.complain(&format!("standin: {method} came in the words of another dialect: {params}"));
                return heard;
            }
        }
        self.dialect.hears(method, params)
    }

    /// Is there such a method, and are these its params?
    fn known(&self, method: &str, params: Option<&Value>) -> Result<(), Refusal> {
        if !self.has_method(method) {
            return Err(no_such_method(&json!(method)));
        }
        let is_loose = self.dialect == Dialect::KiroSeed && method == "session/load";
        match schema::wrong(method, params).filter(|_| !is_loose) {
            Some(data) => Err(Refusal(-32602, "Invalid params".to_owned(), Some(data))),
            None => Ok(()),
        }
    }

    /// Tells a client something of a session.
    pub(super) fn tell(&self, session: &str, update: Value) {
        // A call that is told once, with what it was called with: its beginning has nothing of that yet.
        let call =
            update["toolCallId"].as_str().filter(|_| update["status"] == "in_progress").map(str::to_owned);
        let is_first = call.is_some_and(|call| self.state().told_calls.insert((session.to_owned(), call)));
        if let Some(update) = self.dialect.updates(update, is_first) {
            self.update(session, update);
        }
    }

    pub(super) fn update(&self, session: &str, update: Value) {
        let params = json!({"sessionId": session, "update": update});
        self.out.say(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }

    /// Tells a client something by a method of its own.
    pub(super) fn note(&self, method: &str, params: Value) {
        self.out.say(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Says something to whoever looks at stderr.
    pub(super) fn complain(&self, what: &str) {
        (self.stderr)(format!("{what}\n").as_bytes());
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(super) fn session(&self, id: &str) -> Option<Session> {
        self.state().sessions.get(id).cloned()
    }
}
