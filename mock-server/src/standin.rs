//! A stand-in that listens: the library's front door.

use crate::builder::Builder;
use crate::clock::{Clock, ClockKind};
use crate::engine::{Engine, Mind, Pages};
use crate::exhibits::Exhibits;
use crate::fault::ArmedPlan;
use crate::http::Lane;
use crate::http::auth::Access;
use crate::http::core::Core;
use crate::http::listen::serve;
use crate::journal::Journal;
use crate::model::{PageServer, RemoteModel, Script};
use crate::options::{Options, Play, StartError};
use crate::performer::Performer;
use crate::profile::Profile;
use crate::project_files::ProjectFiles;
use crate::replay::Replay;
use crate::verify::Unmet;
use crate::workspace::{Workspace, make_repository, text_id};
use crate::world::WorldConfig;
use fixtures::fault_plan::Fault;
use fixtures::recording;
use fixtures::scenario::{Ending, Scenario};
use fixtures::{ServerKind, catalog};
use serde_json::Map;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The lane of whoever does not ask for one of his own.
pub const MAIN_LANE: &str = "main";

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
    on_drop: OnDrop,
    /// Somebody has asked already.
    asked: AtomicBool,
    /// They go with it.
    _folders: Vec<TempDir>,
    /// What its agent can fetch.
    _pages: Option<PageServer>,
}

/// What a stand-in is asked when it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDrop {
    Nothing,
    /// Was it used as it was meant to be, and, if so, all of its scenario?
    Verify {
        uses_all: bool,
    },
}

impl StandIn {
    /// Starts listening, on loopback only.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let profile = Profile::of(options.server);
        let clock = Arc::new(Clock::new(options.clock));
        let journal = Journal::with_memory(clock.clone(), options.memory);
        let faults = ArmedPlan::new(options.faults.clone());
        let pages = match &options.play {
            Play::Scenario(scenario) if options.model.is_none() => PageServer::start(&scenario.pages).await,
            _ => Ok(None),
        };
        let pages =
            pages.map_err(|source| StartError::Listen { lane: "pages".to_owned(), port: 0, source })?;
        let pages_url = pages.as_ref().map(PageServer::url);
        let (performer, workspace, folders) = performer(profile, &options, pages_url)?;
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
            tasks.push(tokio::spawn(serve(listener, lane)));
        }
        let header = header(&options, profile, &workspace);
        let username = profile.server.word();
        let gates = match &options.play {
            Play::Scenario(scenario) => scenario.gates(),
            Play::Recording(_) => Vec::new(),
        };
        Ok(Self {
            core,
            lanes,
            journal,
            faults,
            username,
            workspace,
            gates,
            header,
            tasks,
            on_drop: OnDrop::Nothing,
            asked: AtomicBool::new(false),
            _folders: folders,
            _pages: pages,
        })
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

    /// Ends in this way and starts again over what it has kept, at the same address: connections break, and whoever
    /// waits for an answer gets none.
    pub fn restart(&self, ending: Ending) {
        self.core.restart(ending);
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

impl StandIn {
    /// A stand-in for Kilo CLI, in the words of a test.
    pub fn kilo() -> Builder {
        Builder::of(ServerKind::Kilo)
    }

    /// A stand-in for OpenCode, in the words of a test.
    pub fn opencode() -> Builder {
        Builder::of(ServerKind::Opencode)
    }

    pub(crate) fn verify_on_drop(&mut self, uses_all: bool) {
        self.on_drop = OnDrop::Verify { uses_all };
    }

    /// Was it used as it was meant to be? Not when the model was asked in vain, a part of the scenario was not asked for, a
    /// route was unknown, or a fault never fired.
    ///
    /// One that was made with [`StandIn::kilo`] or [`StandIn::opencode`] is asked when it is dropped, too, and panics;
    /// who has asked before has the answer. [`Builder::lenient`] keeps it silent.
    pub fn verify(&self) -> Result<(), Unmet> {
        self.asked.store(true, Ordering::Relaxed);
        let (report, strays) = self.core.report();
        let unmet = Unmet {
            unscripted: report.unscripted,
            unused: report.unused,
            unknown: strays.unknown.into_iter().collect(),
            unplayed: strays.unplayed.into_iter().collect(),
            unfired: self.unfired_faults(),
        };
        if unmet.is_empty() { Ok(()) } else { Err(unmet) }
    }

    /// What is wrong with how it was used, if that is still to be said.
    fn last_words(&self) -> Option<Unmet> {
        let OnDrop::Verify { uses_all } = self.on_drop else { return None };
        if self.asked.load(Ordering::Relaxed) || std::thread::panicking() {
            return None;
        }
        let mut unmet = self.verify().err()?;
        if !uses_all {
            unmet.unused.clear();
        }
        (!unmet.is_empty()).then_some(unmet)
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandIn")
            .field("lanes", &self.lanes)
            .field("workspace", &self.workspace)
            .finish_non_exhaustive()
    }
}

impl Drop for StandIn {
    #[expect(clippy::panic, reason = "a test that has not noticed it fails here")]
    fn drop(&mut self) {
        let unmet = self.last_words();
        for task in &self.tasks {
            task.abort();
        }
        // Connections that are still open hold on to the rest.
        self.core.end_all();
        if let Some(unmet) = unmet {
            panic!("{unmet}");
        }
    }
}

type Prepared = (Box<dyn Performer>, String, Vec<TempDir>);

fn performer(
    profile: &'static Profile,
    options: &Options,
    pages_url: Option<String>,
) -> Result<Prepared, StartError> {
    let scenario = match &options.play {
        Play::Scenario(scenario) => scenario,
        Play::Recording(recording) => {
            let release = format!("{}-{}", recording.header.server, recording.header.version);
            let replay = Replay::new(recording, catalog::doc(&release), options.pace)?;
            return Ok((Box::new(replay), recording.header.workspace.clone(), Vec::new()));
        }
    };
    let made = match &options.workspace {
        Some(_) => None,
        None => Some(
            fresh_folder(scenario)
                .map_err(|source| StartError::Workspace { path: std::env::temp_dir(), source })?,
        ),
    };
    let (folder, project) = made.unzip();
    let path = match (&options.workspace, &folder) {
        (Some(path), _) => path.clone(),
        (None, Some(folder)) => folder.path().join("workspace"),
        (None, None) => PathBuf::new(),
    };
    let mut workspace = Workspace::new(&path).map_err(|source| StartError::Workspace { path, source })?;
    workspace.commit();
    if !profile.snapshots_directory_alone {
        workspace.begin_committed();
    }
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
    let all = options.allow_outside.then(|| Path::new("/"));
    let made = folder.as_ref().map(TempDir::path);
    for open in [Some(home.as_path()), made, all].into_iter().flatten() {
        workspace = workspace.and(open);
    }
    let root = workspace.root().to_string_lossy().into_owned();
    let mut config = WorldConfig {
        seed: options.seed,
        directory: root.clone(),
        project: project.unwrap_or_else(|| text_id("the first commit of a stand-in's project")),
        home: home.to_string_lossy().into_owned(),
        said: scenario.workspace.config.clone(),
        kept: Map::new(),
        config: Map::new(),
        skills: Vec::new(),
        faults: Vec::new(),
        runs_shell: folder.is_some() || options.allow_shell,
    };
    config.learn(&ProjectFiles::read(profile, workspace.root(), &home));
    let mind = match &options.model {
        None => {
            let script = Script::new(scenario.as_ref().clone(), root.clone()).with_pages_at(pages_url);
            Mind::Script(Box::new(script))
        }
        Some(url) => Mind::Remote { url: url.clone(), call_wait_ms: in_ms(options.call_wait) },
    };
    let release = profile.server.release();
    let exhibits = Exhibits::of(profile.server, &config);
    let pages = Pages { doc: catalog::doc(&release), web: catalog::web_page(&release), exhibits };
    let pause_ms = match options.clock {
        ClockKind::Logical => 0,
        _ => in_ms(options.model_pause),
    };
    let engine = Engine::new(profile, config, workspace, mind).with_pages(pages).with_home(home);
    let engine = engine.with_model_pause(pause_ms);
    Ok((Box::new(engine), root, folder.into_iter().chain(home_folder).collect()))
}

fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A folder with a workspace and a home; the id of the workspace's commit.
fn fresh_folder(scenario: &Scenario) -> std::io::Result<(TempDir, String)> {
    let folder = tempfile::Builder::new().prefix("standin-").tempdir()?;
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    std::fs::create_dir(folder.path().join("home"))?;
    for (path, content) in &scenario.workspace.files {
        write_file(&workspace.join(path), content)?;
    }
    let commit = make_repository(&workspace)?;
    Ok((folder, commit))
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
