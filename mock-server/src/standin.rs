//! A stand-in that listens: the library's front door.

use crate::clock::{Clock, ClockKind};
use crate::engine::{Engine, Mind, Pages};
use crate::exhibits::Exhibits;
use crate::fault::ArmedPlan;
use crate::http::auth::Access;
use crate::http::core::Core;
use crate::http::{Lane, app};
use crate::journal::Journal;
use crate::model::RemoteModel;
use crate::model::Script;
use crate::performer::Performer;
use crate::profile::Profile;
use crate::replay::{Replay, Unplayable};
use crate::workspace::{Workspace, text_id};
use crate::world::WorldConfig;
use fixtures::error::io_words;
use fixtures::fault_plan::{Fault, FaultPlan};
use fixtures::recording::{self, Recording};
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The lane of whoever does not ask for one of his own.
pub const MAIN_LANE: &str = "main";

/// What a stand-in is to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which server.
    pub server: ServerKind,
    /// What it plays.
    pub play: Play,
    /// The address of a model that plays the agent's part in place of the scenario's, as `http://127.0.0.1:8000/v1`.
    pub model: Option<String>,
    /// The password; without one the server is open.
    pub password: Option<String>,
    /// The agent's folder; a fresh one with the scenario's files when absent.
    pub workspace: Option<PathBuf>,
    /// The port of the main lane; 0 takes any free one.
    pub port: u16,
    /// More lanes, each with a port of its own.
    pub lanes: Vec<String>,
    /// What breaks.
    pub faults: FaultPlan,
    /// Where time comes from.
    pub clock: ClockKind,
    /// Decides every random choice.
    pub seed: u64,
    /// Shell lines of the agent run in a folder that the stand-in has not made, too.
    pub allow_shell: bool,
}

/// What a stand-in plays.
#[derive(Debug, Clone)]
pub enum Play {
    /// A scenario, performed by the stateful world.
    Scenario(Box<Scenario>),
    /// A recording, played again.
    Recording(Box<Recording>),
}

impl Options {
    /// A stand-in that performs a scenario, without a password and without faults.
    #[must_use]
    pub fn scenario(server: ServerKind, scenario: Scenario) -> Self {
        Self::new(server, Play::Scenario(Box::new(scenario)))
    }

    /// A stand-in that plays a recording again.
    #[must_use]
    pub fn replay(recording: Recording) -> Self {
        Self::new(recording.header.server, Play::Recording(Box::new(recording)))
    }

    fn new(server: ServerKind, play: Play) -> Self {
        Self {
            server,
            play,
            model: None,
            password: None,
            workspace: None,
            port: 0,
            lanes: Vec::new(),
            faults: FaultPlan::default(),
            clock: ClockKind::Real,
            seed: 1,
            allow_shell: false,
        }
    }
}

/// Why a stand-in can't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A port can't be had.
    #[error(
        "failed to listen on 127.0.0.1:{port} for lane '{lane}': {}; choose another port, or 0 for any free one",
        io_words(source)
    )]
    Listen {
        /// The lane.
        lane: String,
        /// The port.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
    /// The workspace can't be used.
    #[error("failed to use the workspace {}: {}; choose another folder", path.display(), io_words(source))]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The model can't be asked.
    #[error("{0}")]
    Model(String),
    /// The recording can't be played.
    #[error(transparent)]
    Unplayable(#[from] Unplayable),
}

/// A running stand-in; it ends when dropped.
pub struct StandIn {
    core: Arc<Core>,
    lanes: Vec<(String, SocketAddr)>,
    journal: Journal,
    faults: ArmedPlan,
    username: &'static str,
    workspace: String,
    /// Those of the scenario.
    gates: Vec<String>,
    header: recording::Header,
    tasks: Vec<JoinHandle<()>>,
    /// They go with it.
    _folders: Vec<TempDir>,
}

impl StandIn {
    /// Starts listening, on loopback only.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let profile = Profile::of(options.server);
        let clock = Arc::new(Clock::new(options.clock));
        let journal = Journal::new(clock.clone());
        let faults = ArmedPlan::new(options.faults.clone());
        let (performer, workspace, folders) = performer(profile, &options)?;
        let access =
            Access { username: profile.server.word().to_owned(), password: options.password.clone() };
        let model = options.model.as_deref().map(RemoteModel::at).transpose().map_err(StartError::Model)?;
        let core =
            Arc::new(Core::new(performer, clock, journal.clone(), access, profile, faults.clone(), model));
        let mut lanes = Vec::new();
        let mut tasks = Vec::new();
        let ports = std::iter::once((MAIN_LANE.to_owned(), options.port));
        for (name, port) in ports.chain(options.lanes.iter().map(|lane| (lane.clone(), 0))) {
            let failed = |source| StartError::Listen { lane: name.clone(), port, source };
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
            lanes.push((name.clone(), listener.local_addr().map_err(failed)?));
            let lane = Lane { core: core.clone(), name: Arc::from(name) };
            tasks.push(tokio::spawn(async move {
                // Serving ends with the task; an accept error has nobody to be told to.
                let _ = axum::serve(listener, app(lane)).await;
            }));
        }
        let header = header(&options, profile, &workspace);
        let username = profile.server.word();
        let gates = match &options.play {
            Play::Scenario(scenario) => scenario.gates(),
            Play::Recording(_) => Vec::new(),
        };
        Ok(Self { core, lanes, journal, faults, username, workspace, gates, header, tasks, _folders: folders })
    }

    /// The address of the main lane.
    #[must_use]
    pub fn url(&self) -> String {
        self.lane_url(MAIN_LANE).unwrap_or_default()
    }

    /// The address of a lane; `None` when there is no such lane.
    #[must_use]
    pub fn lane_url(&self, name: &str) -> Option<String> {
        self.lanes.iter().find(|(lane, _)| lane == name).map(|(_, address)| format!("http://{address}"))
    }

    /// The lanes and their addresses, the main one first.
    #[must_use]
    pub fn lanes(&self) -> Vec<(String, String)> {
        self.lanes.iter().map(|(name, address)| (name.clone(), format!("http://{address}"))).collect()
    }

    /// The user name that goes with the password.
    #[must_use]
    pub fn username(&self) -> &'static str {
        self.username
    }

    /// The agent's folder, without links in its path. In a replay it is the recorded one.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// What happens, while it happens.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The header for a file of this stand-in's journal.
    #[must_use]
    pub fn header(&self) -> &recording::Header {
        &self.header
    }

    /// Lets the model go on that waits at this gate of the scenario, now or later.
    pub fn open_gate(&self, name: &str) {
        self.core.open_gate(name);
    }

    /// From now on no gate of the scenario holds the model.
    pub fn open_all_gates(&self) {
        let gates = self.gates.iter();
        gates.for_each(|gate| self.core.open_gate(gate));
    }

    /// The faults that have not fired yet, with their numbers in the plan.
    #[must_use]
    pub fn unfired_faults(&self) -> Vec<(usize, Fault)> {
        self.faults.unfired()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
        // Connections that are still open hold on to the rest.
        self.core.end_all();
    }
}

type Prepared = (Box<dyn Performer>, String, Vec<TempDir>);

fn performer(profile: &'static Profile, options: &Options) -> Result<Prepared, StartError> {
    let scenario = match &options.play {
        Play::Scenario(scenario) => scenario,
        Play::Recording(recording) => {
            let release = format!("{}-{}", recording.header.server, recording.header.version);
            let replay = Replay::new(recording, catalog::doc(&release))?;
            return Ok((Box::new(replay), recording.header.workspace.clone(), Vec::new()));
        }
    };
    let folder = match &options.workspace {
        Some(_) => None,
        None => Some(
            fresh_folder(scenario)
                .map_err(|source| StartError::Workspace { path: std::env::temp_dir(), source })?,
        ),
    };
    let path = match (&options.workspace, &folder) {
        (Some(path), _) => path.clone(),
        (None, Some(folder)) => folder.path().join("workspace"),
        (None, None) => PathBuf::new(),
    };
    let mut workspace = Workspace::new(&path).map_err(|source| StartError::Workspace { path, source })?;
    workspace.commit();
    // The server's home lies beside a fresh workspace, and never in one that is somebody's own.
    let (home, home_folder) = match &folder {
        Some(folder) => (folder.path().join("home"), None),
        None => {
            let made = tempfile::Builder::new().prefix("standin-home-").tempdir();
            let made = made.map_err(|source| StartError::Workspace { path: std::env::temp_dir(), source })?;
            (made.path().to_path_buf(), Some(made))
        }
    };
    let home = home.canonicalize().map_err(|source| StartError::Workspace { path: home, source })?;
    let root = workspace.root().to_string_lossy().into_owned();
    let config = WorldConfig {
        seed: options.seed,
        directory: root.clone(),
        project: text_id("the first commit of a stand-in's project"),
        home: home.to_string_lossy().into_owned(),
        config: scenario.workspace.config.clone(),
        runs_shell: folder.is_some() || options.allow_shell,
    };
    let mind = match &options.model {
        None => Mind::Script(Box::new(Script::new(scenario.as_ref().clone(), root.clone()))),
        Some(url) => Mind::Remote(url.clone()),
    };
    let release = profile.server.release();
    let exhibits = Exhibits::of(&release, &config);
    let pages = Pages { doc: catalog::doc(&release), web: catalog::web_page(&release), exhibits };
    let engine = Engine::new(profile, config, workspace, mind).with_pages(pages).with_home(home);
    Ok((Box::new(engine), root, folder.into_iter().chain(home_folder).collect()))
}

fn fresh_folder(scenario: &Scenario) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("standin-").tempdir()?;
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    std::fs::create_dir(folder.path().join("home"))?;
    for (path, content) in &scenario.workspace.files {
        write_file(&workspace.join(path), content)?;
    }
    Ok(folder)
}

fn write_file(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content)
}

fn header(options: &Options, profile: &Profile, workspace: &str) -> recording::Header {
    let (performer, scenario) = match &options.play {
        Play::Scenario(scenario) => (recording::Performer::StandIn, scenario.about.clone()),
        Play::Recording(recording) => (recording::Performer::Replay, recording.header.scenario.clone()),
    };
    recording::Header {
        format: recording::FORMAT,
        kind: recording::FileKind::Journal,
        server: profile.server,
        version: profile.version.to_owned(),
        performer,
        scenario,
        workspace: workspace.to_owned(),
        by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
        provenance: recording::Provenance::default(),
    }
}
