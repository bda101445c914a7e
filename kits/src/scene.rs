//! A case while it is played: the adapter, its time, a folder, and the one time line.

mod hello;
mod time;

use crate::gate::Subject;
use crate::kit::Kit;
use crate::story::{AdapterClock, WITNESS};
use fixtures::recording::{Line, Note, Trouble, TroubleKind, UserLine};
use harness::clock::Limits;
use harness::link::{AskError, Asked, Ear, Overhears};
use harness::protocol::rpc::METHOD_NOT_FOUND;
use harness::protocol::{PROTOCOL, RpcError};
use harness::subject::{Running, start_program, start_task};
use hello::Hello;
use mock_server::Journal;
use mock_server::clock::{Clock, ClockKind};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// What waits are multiplied by for adapters whose clock is scaled.
pub const TIME_SCALE: f64 = 0.01;
/// An adapter with a real clock is not asked for what takes longer, in seconds.
pub const LONGEST_REAL_S: f64 = 10.0;

/// What ends a case, and whose trouble it is.
pub type Troubled = (TroubleKind, String);

/// The adapter is to blame.
#[must_use]
pub fn broken(what: impl Into<String>) -> Troubled {
    (TroubleKind::Adapter, what.into())
}

/// The harness is to blame.
#[must_use]
pub fn our_fault(what: impl Into<String>) -> Troubled {
    (TroubleKind::Harness, what.into())
}

/// Writes down what the harness has seen by itself, for who has the time line alone.
pub fn witness(journal: &Journal, name: &str, value: &Value) {
    journal.push(|at_us| Line::Note(Note { at_us, text: format!("{WITNESS}{name} {value}") }));
}

/// A case while it is played.
pub struct Scene {
    kit: &'static dyn Kit,
    subject: Subject,
    running: Option<Running>,
    journal: Journal,
    limits: Limits,
    folder: TempDir,
    hello: Hello,
    /// The adapter's time, if it is virtual.
    virtual_ms: f64,
    /// The line of the history at which this adapter was started.
    started_at: usize,
    /// The number of the next adapter's first request.
    next_number: u64,
    secrets: Secrets,
    steps: usize,
}

/// By name: what an adapter must not say.
type Secrets = Arc<Mutex<Vec<(String, String)>>>;

/// What is seen under this name is a secret that the adapter has said: `{secret, where}`.
pub const SAID: &str = "said-secret";

impl Scene {
    /// Starts an adapter; it is asked nothing yet.
    ///
    /// # Errors
    /// The machine has no room, or there is no such program.
    pub(crate) fn start(kit: &'static dyn Kit, subject: &Subject, limits: &Limits) -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("standin-kit-").tempdir();
        let folder = folder.map_err(|error| format!("failed to make a folder: {error}"))?;
        let journal = Journal::new(Arc::new(Clock::new(ClockKind::Real)));
        let secrets = Secrets::default();
        let running = Some(start(kit, subject, &journal, &secrets)?);
        let hello = Hello::default();
        // Some mutants hang: nobody waits longer for them than for others.
        let limits = if matches!(subject, Subject::Mutant(_)) { *limits } else { kit.limits(*limits) };
        let subject = subject.clone();
        Ok(Self {
            kit,
            subject,
            running,
            journal,
            limits,
            folder,
            hello,
            virtual_ms: 0.0,
            started_at: 0,
            next_number: 1,
            secrets,
            steps: 0,
        })
    }

    /// The first words: does it speak the protocol, is it honest, and what can it do?
    pub(crate) async fn introduce(&mut self) -> Result<(), Troubled> {
        let asked = json!({"protocol": PROTOCOL, "kit": self.kit.name(), "timeScale": TIME_SCALE});
        let limit = self.limits.start;
        let begun = self.link()?.begin("initialize", asked, limit).await;
        let said = self.answer_within(begun, limit).await?;
        let said = said.map_err(|error| broken(format!("initialize was answered with {error}")))?;
        self.hello = serde_json::from_value(said).map_err(|error| broken(format!("initialize: {error}")))?;
        self.hello.examine(self.kit).map_err(|why| broken(format!("initialize: {why}")))?;
        let limit = self.limits.answer;
        match self.link()?.probe(limit).await {
            Err(AskError::Refused { error, .. }) if error.code == METHOD_NOT_FOUND => Ok(()),
            Err(error @ (AskError::Silent { .. } | AskError::Ended { .. })) => Err(broken(error.to_string())),
            _ => Err(broken("it must answer a method that it does not know with error -32601")),
        }
    }

    /// What of these the adapter can't do.
    pub(crate) fn cannot<'a>(&self, needs: &'a [String]) -> Vec<&'a str> {
        needs.iter().map(String::as_str).filter(|need| !self.can(need)).collect()
    }

    /// Does the adapter say that it can do this?
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        self.hello.capabilities.contains(capability)
    }

    /// What the adapter declares of itself under a name.
    #[must_use]
    pub fn declares(&self, name: &str) -> Option<&str> {
        self.hello.declares.get(name).map(String::as_str)
    }

    /// How the adapter's time passes.
    #[must_use]
    pub fn clock(&self) -> AdapterClock {
        self.hello.clock
    }

    /// A folder of this case alone.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The number of the adapter's process, which is that of its group, too; none if it has no process of its own.
    pub(crate) fn program_number(&self) -> Option<i32> {
        self.running.as_ref()?.program_number()
    }

    /// The most memory that the adapter has had so far, if it is a program and the system tells.
    #[must_use]
    pub fn memory_kb(&self) -> Option<u64> {
        let program = self.program_number()?;
        let status = std::fs::read_to_string(format!("/proc/{program}/status")).ok()?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        most.trim().trim_end_matches("kB").trim().parse().ok()
    }

    /// The time line; stand-ins of the case write on it, too.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// How long what may take.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Tells what the person does next: for who reads the time line.
    pub fn person(&mut self, does: impl Into<String>) {
        self.steps += 1;
        let (step, does) = (self.steps, does.into());
        self.journal.push(|at_us| Line::User(UserLine { at_us, step, does }));
    }

    /// Writes down what the harness has seen by itself, for the checks.
    pub fn witness(&self, name: &str, value: &Value) {
        witness(&self.journal, name, value);
    }

    pub(crate) fn trouble(&self, (kind, what): Troubled) {
        let what = struck(&self.secrets, &what).0.into_owned();
        self.journal.push(|at_us| Line::Trouble(Trouble { at_us, kind, what }));
    }

    /// Asks, and lets the adapter's time pass until it answers. That it refuses is an answer.
    ///
    /// # Errors
    /// It does not answer, or is gone.
    pub async fn ask(&mut self, method: &str, params: Value) -> Result<Result<Value, RpcError>, Troubled> {
        let asked = self.begin(method, params).await?;
        self.answer(asked).await
    }

    /// As [`Scene::ask`], where a refusal is a trouble.
    ///
    /// # Errors
    /// It refuses, does not answer, or is gone.
    pub async fn must(&mut self, method: &str, params: Value) -> Result<Value, Troubled> {
        let answer = self.ask(method, params).await?;
        answer.map_err(|error| broken(format!("{method} was answered with {error}")))
    }

    /// Asks, and does not wait for the answer yet.
    ///
    /// # Errors
    /// The adapter was ended.
    pub async fn begin(&mut self, method: &str, params: Value) -> Result<Asked, Troubled> {
        let limit = self.limits.answer;
        Ok(self.link()?.begin(method, params, limit).await)
    }

    /// From now on it is seen ([`SAID`]) when the adapter says this, on its line or on its stderr. The history keeps the
    /// name in place of the secret, so a check can't find it there.
    pub fn keep_secret(&self, name: &str, secret: &str) {
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.push((name.to_owned(), secret.to_owned()));
    }

    /// Kills the adapter in the middle of what it does.
    pub async fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            self.next_number = running.link.next_number();
            running.kill().await;
        }
    }

    /// Starts it again, and introduces it. One that runs is told to end first.
    ///
    /// # Errors
    /// It does not end well, or does not start.
    pub async fn restart(&mut self) -> Result<(), Troubled> {
        self.end().await?;
        self.started_at = self.journal.lines().len();
        let mut running = start(self.kit, &self.subject, &self.journal, &self.secrets).map_err(broken)?;
        running.link.count_from(self.next_number);
        self.running = Some(running);
        self.introduce().await
    }

    /// Tells the adapter to end, and sees that it does.
    pub(crate) async fn end(&mut self) -> Result<(), Troubled> {
        let Some(mut running) = self.running.take() else { return Ok(()) };
        let told = running.link.call("shutdown", json!({}), self.limits.end).await;
        self.next_number = running.link.next_number();
        let ended = running.end(told.is_ok(), self.limits.end).await;
        told.map_err(|error| broken(error.to_string()))?;
        ended.map_err(broken)
    }

    /// Ends the adapter without a word; an error tells how it ended.
    pub(crate) async fn give_up(&mut self) -> Result<(), String> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.end(false, self.limits.end).await
    }

    fn link(&mut self) -> Result<&mut harness::link::Link, Troubled> {
        let running = self.running.as_mut().ok_or_else(|| our_fault("the adapter was ended before"))?;
        Ok(&mut running.link)
    }
}

fn start(
    kit: &'static dyn Kit,
    subject: &Subject,
    journal: &Journal,
    secrets: &Secrets,
) -> Result<Running, String> {
    let ear = ear(kit, journal.clone(), secrets.clone());
    let mutant = match subject {
        Subject::Program { program, args } => return start_program(program, args, journal.clone(), ear),
        Subject::Reference => None,
        Subject::Mutant(name) => Some(*name),
    };
    Ok(start_task(|reader, writer| kit.serve(mutant, reader, writer), journal.clone(), ear))
}

/// Notifications are updates of kinds that the kit knows, and secrets are noticed.
fn ear(kit: &'static dyn Kit, journal: Journal, secrets: Secrets) -> Ear {
    let understands = move |method: &str, params: &Value| {
        if method != "update" {
            return Err(RpcError::unsupported(method));
        }
        let Some(kind) = params["update"]["kind"].as_str() else {
            let why =
                "an update is `{\"update\": {\"kind\": …}}`: the field `update`, or its `kind`, is missing";
            return Err(RpcError::invalid_params(why));
        };
        if time::UPDATES.contains(&kind) || kit.updates().contains(&kind) {
            return Ok(());
        }
        let kit = kit.name();
        Err(RpcError::invalid_params(format!("the kit {kit} has no update of the kind '{kind}'")))
    };
    let overhears: Overhears = Arc::new(move |place, words| {
        let (kept, said) = struck(&secrets, words);
        for name in said {
            witness(&journal, SAID, &json!({"secret": name, "where": place}));
        }
        kept
    });
    Ear { understands: Arc::new(understands), overhears }
}

/// Words without secrets, and the names of those that were in them.
fn struck<'a>(secrets: &Secrets, words: &'a str) -> (Cow<'a, str>, Vec<String>) {
    let secrets = secrets.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut kept, mut said) = (Cow::Borrowed(words), Vec::new());
    for (name, secret) in secrets.iter().filter(|(_, secret)| words.contains(secret.as_str())) {
        kept = Cow::Owned(kept.replace(secret, &format!("<the {name}>")));
        said.push(name.clone());
    }
    (kept, said)
}
