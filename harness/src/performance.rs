//! A scenario performed by somebody, and kept: the real server, the stand-in, or a recording of either.
//!
//! The same person's steps, the same script of the model, the same time line: what differs is who performs.

use crate::stage::Stage;
use fixtures::recording::{FORMAT, FileKind, Header, Line, ModelCall, Performer, Provenance, Recording};
use fixtures::redact::Secrets;
use fixtures::scenario::{Ending, Scenario, UserAct, UserStep, WaitFor};
use fixtures::{FileError, ServerKind, catalog};
use mock_server::model::http::{ModelOptions, ModelServer};
use mock_server::model::{Answer, ChatRequest, Gates, Report, Script};
use mock_server::standin::fill_workspace;
use mock_server::{ClockKind, Options, StartError};
use recorder::drive::Backstage;
use recorder::launch::LaunchError;
use recorder::scribe::{Dictated, Dictation, Scribe, dictation};
use recorder::{Client, Limits, Tape};
use std::ffi::OsString;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What comes as often as the clock says, and tells nothing else.
const HEARTBEAT: &str = "server.heartbeat";
/// So many seconds of a stand-in pass in one of the machine's where nothing but time is waited for.
const FLYING: u32 = 100;

/// What is performed.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The scenario's name, `area/name`.
    pub name: String,
    /// The scenario.
    pub scenario: Scenario,
    /// Which server performs it, or is stood in for.
    pub server: ServerKind,
}

/// A program that serves as the real servers do.
#[derive(Debug, Clone)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// What comes before its `serve`.
    pub args: Vec<String>,
    /// The `PATH` that it is started with.
    pub path_env: OsString,
    /// How long its model thinks before each answer.
    pub model_pause: Duration,
    /// Keep what it says in this file.
    pub server_log: Option<PathBuf>,
    /// What must not stand in any file, beside the secrets of the performance itself.
    pub secrets: Secrets,
}

/// How far a performance by a program is.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// The program is being started.
    Starting,
    /// It answers, and says that it is this version.
    Started(&'a str),
    /// Something crossed the wire.
    Line(&'a Line),
    /// The program is being ended.
    Ending,
}

/// Who hears of a performance by a program while it goes on.
#[derive(Clone)]
pub struct Watch {
    /// Hears of the progress; it may not wait.
    pub progress: OnProgress,
    /// Where the recording will be kept: it is written there while it is made, with `.partial` behind its name.
    pub place: Option<Place>,
}

/// Is told how far a performance is.
pub type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;
/// The place for a recording with this header.
pub type Place = Arc<dyn Fn(&Header) -> PathBuf + Send + Sync>;

impl Default for Watch {
    /// Nobody.
    fn default() -> Self {
        Self { progress: Arc::new(|_| {}), place: None }
    }
}

/// A finished performance.
#[derive(Debug)]
pub struct Performance {
    /// All that crossed the wire.
    pub recording: Recording,
    /// The body of `/doc`.
    pub doc: Vec<u8>,
    /// What must not stand in any file.
    pub secrets: Secrets,
    /// What of the script nobody asked for, and what the script was asked for in vain.
    pub script: Report,
}

/// A performance that came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum PerformanceError {
    /// The machine has not all that the scenario needs.
    #[error("the scenario needs {program}, which is not on the PATH: install it")]
    Lacks {
        /// The program.
        program: String,
    },
    /// The folders of the run.
    #[error(transparent)]
    Sandbox(#[from] recorder::sandbox::SandboxError),
    /// The server.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The stand-in.
    #[error(transparent)]
    StandIn(#[from] StartError),
    /// The client.
    #[error(transparent)]
    Client(#[from] recorder::capture::CaptureError),
    /// The person's steps.
    #[error(transparent)]
    Drive(#[from] recorder::drive::DriveError),
    /// The recording that is written meanwhile, or the server's log.
    #[error(transparent)]
    File(#[from] FileError),
    /// A port or a file of our own.
    #[error("failed to {doing}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
}

/// A stage whose model may be elsewhere.
struct TwoGates<'a> {
    stage: &'a Stage,
    open_elsewhere: &'a (dyn Fn(&str) + Send + Sync),
}

impl Backstage for TwoGates<'_> {
    fn open_gate(&self, name: &str) {
        self.stage.open_gate(name);
        (self.open_elsewhere)(name);
    }

    fn restart(&self, ending: Ending) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        self.stage.restart(ending)
    }
}

impl Piece {
    /// By a program that is started for it, as the real servers are.
    pub async fn by_program(
        &self,
        program: &Program,
        limits: &Limits,
    ) -> Result<Performance, PerformanceError> {
        self.by_watched_program(program, limits, &Watch::default()).await
    }

    /// The same, with somebody who hears of it while it goes on.
    pub async fn by_watched_program(
        &self,
        program: &Program,
        limits: &Limits,
        watch: &Watch,
    ) -> Result<Performance, PerformanceError> {
        (watch.progress)(Progress::Starting);
        let (tape, dictation) = watched_tape(watch);
        let stage =
            Stage::of_program(&self.scenario, self.server, program, limits, write_calls_on(&tape)).await?;
        (watch.progress)(Progress::Started(&stage.version));
        let secrets = stage.secrets.clone();
        let workspace = stage.workspace.clone();
        let mut header =
            Header { version: stage.version.clone(), ..self.header(Performer::Real, workspace.clone()) };
        let pause = u64::try_from(program.model_pause.as_millis()).ok();
        header.provenance.model_pause_ms = pause.filter(|pause| *pause > 0);
        let scribe = match &watch.place {
            Some(place) => Some(Scribe::begin(&place(&header), &header, secrets.clone(), dictation)?),
            None => None,
        };
        let client = Client::new(&stage.url, stage.credentials.clone(), tape.clone())?;
        let performed = recorder::perform(&self.scenario, &workspace, &client, limits, &stage).await;
        (watch.progress)(Progress::Ending);
        let stopped = stage.close(limits).await;
        let lines = tape.lines();
        // What was recorded stands on disk, whatever else went wrong.
        scribe.map(Scribe::end).transpose()?;
        let script = stopped?;
        let doc = performed?.doc.to_vec();
        Ok(Performance { recording: Recording { header, lines, torn: false }, doc, secrets, script })
    }

    /// By the stand-in's world.
    pub async fn by_stand_in(&self, limits: &Limits) -> Result<Performance, PerformanceError> {
        let mut options = Options::scenario(self.server, self.scenario.clone());
        options.clock = self.clock();
        self.by(options, Performer::StandIn, limits, &|_| {}).await
    }

    /// Where the person waits for heartbeats, time flies.
    fn clock(&self) -> ClockKind {
        let is_beat = |step: &UserStep| matches!(&step.act, UserAct::WaitFor(WaitFor::Event { event, .. }) if event == HEARTBEAT);
        match self.scenario.user.steps.iter().any(is_beat) {
            true => ClockKind::Scaled { by: FLYING },
            false => ClockKind::Real,
        }
    }

    /// By the stand-in's world with the scripted model at an address of its own, as any other model would be.
    pub async fn by_stand_in_with_model(&self, limits: &Limits) -> Result<Performance, PerformanceError> {
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|source| PerformanceError::Io { doing: "make a workspace", source })?;
        let root = folder.path().canonicalize();
        let root = root.map_err(|source| PerformanceError::Io { doing: "find the workspace", source })?;
        fill_workspace(&self.scenario, &root)
            .map_err(|source| PerformanceError::Io { doing: "fill the workspace", source })?;
        let gates = Gates::default();
        let script = Script::new(self.scenario.clone(), root.to_string_lossy().into_owned());
        let options = ModelOptions {
            port: 0,
            pause: Duration::ZERO,
            gates: gates.clone(),
            on_call: Arc::new(|_, _| {}),
        };
        let model = ModelServer::start(script, options)
            .await
            .map_err(|source| PerformanceError::Io { doing: "start the scripted model", source })?;
        let mut options = Options::scenario(self.server, self.scenario.clone());
        options.model = Some(format!("{}/v1", model.url()));
        // Gates alone decide what comes after what, however busy the machine is.
        options.call_wait = Duration::from_secs(5);
        options.workspace = Some(root);
        options.allow_shell = true;
        self.by(options, Performer::StandIn, limits, &|name| gates.open(name)).await
    }

    /// By a recording that is played again.
    pub async fn by_replay(
        &self,
        recording: &Recording,
        limits: &Limits,
    ) -> Result<Performance, PerformanceError> {
        let mut options = Options::replay(recording.clone());
        options.clock = self.clock();
        let mut replayed = self.by(options, Performer::Replay, limits, &|_| {}).await?;
        // A replay asks no model; what the recorded server asked belongs to the recording.
        let calls = recording.lines.iter().filter(|line| matches!(line, Line::Model(_)));
        replayed.recording.lines.extend(calls.cloned());
        Ok(replayed)
    }

    async fn by(
        &self,
        options: Options,
        performer: Performer,
        limits: &Limits,
        open_elsewhere: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Performance, PerformanceError> {
        let stage = Stage::of_stand_in(options).await?;
        let tape = Tape::new();
        let client = Client::new(&stage.url, stage.credentials.clone(), tape.clone())?;
        let backstage = TwoGates { stage: &stage, open_elsewhere };
        let performed =
            recorder::perform(&self.scenario, &stage.workspace, &client, limits, &backstage).await?;
        let doc = performed.doc.to_vec();
        let mut lines = tape.lines();
        lines.extend(stage.model_calls());
        let header = self.header(performer, stage.workspace.clone());
        Ok(Performance {
            recording: Recording { header, lines, torn: false },
            doc,
            secrets: Secrets::default(),
            script: Report::default(),
        })
    }

    pub(crate) fn header(&self, performer: Performer, workspace: String) -> Header {
        Header {
            format: FORMAT,
            kind: FileKind::Recording,
            server: self.server,
            version: self.server.pinned_version().to_owned(),
            performer,
            scenario: self.name.clone(),
            workspace,
            by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
            provenance: Provenance {
                scenario_id: catalog::scenario_id(&self.name),
                platform: Some(Provenance::this_platform()),
                ..Provenance::default()
            },
        }
    }
}

fn watched_tape(watch: &Watch) -> (Tape, (Dictation, Dictated)) {
    let (dictation, dictated) = dictation();
    let (dictates, progress) =
        (watch.place.is_some().then(|| dictation.clone()), Arc::clone(&watch.progress));
    let tape = Tape::heard_by(Box::new(move |line| {
        progress(Progress::Line(line));
        if let Some(dictation) = &dictates {
            dictation.hear(line);
        }
    }));
    (tape, (dictation, dictated))
}

pub(crate) fn write_calls_on(tape: &Tape) -> mock_server::model::http::OnCall {
    let tape = tape.clone();
    let calls = AtomicU64::new(0);
    Arc::new(move |request: &ChatRequest, answer: &Answer| {
        let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
        tape.push(|at_us| {
            Line::Model(ModelCall {
                at_us,
                call,
                purpose: request.purpose(),
                messages: request.reduced_messages(),
                tools: request.tools.clone(),
                terms: Some(request.terms.clone()),
                answered: answer.answered.clone(),
            })
        });
    })
}
