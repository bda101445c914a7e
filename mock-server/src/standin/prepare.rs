//! What a stand-in performs with: its world or its recording, the agent's folder, the server's home.

use crate::clock::ClockKind;
use crate::engine::store::Store;
use crate::engine::{Engine, Mind, Pages};
use crate::exhibits::Exhibits;
use crate::javascript::settle_fields;
use crate::model::Script;
use crate::options::{Options, Play, StartError};
use crate::performer::Performer;
use crate::profile::Profile;
use crate::project_files::{Elsewhere, ProjectFiles, Reach, merge_settings};
use crate::replay::Replay;
use crate::workspace::{Project, Workspace, make_repository};
use crate::world::{Kept, WorldConfig};
use fixtures::catalog;
use fixtures::scenario::{AgentStep, Scenario};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The folders of a stand-in.
#[derive(Debug)]
pub(super) struct Folders {
    /// The agent's.
    workspace: PathBuf,
    home: PathBuf,
    /// The home outlives the server.
    lasts: bool,
    /// What was made for both, or for the home alone.
    made: PathBuf,
    /// It goes with it, unless it is somebody else's.
    _made: Option<TempDir>,
    /// The workspace was made.
    is_fresh: bool,
}

/// What a stand-in performs with.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) profile: &'static Profile,
    pub(super) options: Options,
    pub(super) pages_url: Option<String>,
    pub(super) folders: Option<Folders>,
}

impl Stage {
    /// Makes the folders that are needed.
    pub(super) fn new(
        profile: &'static Profile,
        options: Options,
        pages_url: Option<String>,
    ) -> Result<Self, StartError> {
        let folders = match &options.play {
            Play::Scenario(_) => Some(Folders::new(&options)?),
            Play::Recording(_) => None,
        };
        Ok(Self { profile, options, pages_url, folders })
    }

    /// Makes what is to be played, in folders as they are at the beginning; the agent's folder.
    pub(super) fn performer(
        &self,
        other: Option<&Scenario>,
    ) -> Result<(Box<dyn Performer>, String), StartError> {
        match (&self.options.play, &self.folders) {
            (Play::Scenario(scenario), Some(folders)) => self.engine(other.unwrap_or(scenario), folders),
            (Play::Recording(recording), _) => {
                let release = format!("{}-{}", recording.header.server, recording.header.version);
                let replay = Replay::new(recording, catalog::doc(&release), self.options.pace)?;
                Ok((Box::new(replay), recording.header.workspace.clone()))
            }
            (Play::Scenario(_), None) => {
                let source = std::io::Error::from(std::io::ErrorKind::NotFound);
                Err(StartError::Workspace { path: PathBuf::new(), source })
            }
        }
    }

    fn engine(
        &self,
        scenario: &Scenario,
        folders: &Folders,
    ) -> Result<(Box<dyn Performer>, String), StartError> {
        let (profile, options) = (self.profile, &self.options);
        let path = &folders.workspace;
        let commit =
            folders.fill(scenario).map_err(|source| StartError::Workspace { path: path.clone(), source })?;
        let mut workspace =
            Workspace::new(path).map_err(|source| StartError::Workspace { path: path.clone(), source })?;
        if !profile.snapshots_directory_alone {
            workspace.begin_committed();
        }
        if folders.is_fresh {
            workspace.commit();
        }
        let all = options.allow_outside.then(|| Path::new("/"));
        let made = folders.is_fresh.then_some(folders.made.as_path());
        for open in [Some(folders.home.as_path()), made, all].into_iter().flatten() {
            workspace = workspace.and(open);
        }
        let root = workspace.root().to_string_lossy().into_owned();
        let project = match commit {
            Some(id) => Project::begun(id, &root),
            None => Project::of(workspace.root(), profile.server.word()),
        };
        let mut said = scenario.workspace.config.clone();
        merge_settings(&mut said, &Value::Object(options.settings.clone()));
        settle_fields(&mut said);
        let mut config = WorldConfig {
            seed: options.seed,
            directory: root.clone(),
            project,
            home: folders.home.to_string_lossy().into_owned(),
            said,
            kept: Map::new(),
            customs: Arc::default(),
            cloud: options.cloud.clone(),
            runs_shell: folders.is_fresh || options.allow_shell,
            shell: options.shell.clone(),
            user: options.user.clone(),
            has_screens: matches!(options.clock, ClockKind::Real | ClockKind::Scaled { .. }),
            standing: options.standing,
            client: options.client.clone(),
        };
        let elsewhere = Elsewhere { home: Some(folders.home.clone()), ..options.elsewhere.clone() };
        let may_go = |to: &Path| workspace.lets_into(to);
        let reach = Reach::of(profile.server, workspace.root(), &config.project, may_go);
        let files = ProjectFiles::read(profile, &reach, &elsewhere, &config.said);
        config.customs = Arc::new(config.customs_by(&files));
        let mind = match &options.model {
            None => {
                let script =
                    Script::new(scenario.clone(), root.clone()).with_pages_at(self.pages_url.clone());
                Mind::Script(Box::new(script))
            }
            Some(url) => Mind::Remote { url: url.clone(), call_wait_ms: in_ms(options.call_wait) },
        };
        let exhibits = Exhibits::of(profile.server, &config);
        let pages = Pages { release: Some(profile.server.release()), exhibits };
        let pause_ms = match options.clock {
            ClockKind::Logical => 0,
            _ => in_ms(options.model_pause),
        };
        let engine = Engine::new(profile, config, workspace, mind).with_pages(pages);
        let mut engine = engine.with_elsewhere(elsewhere).with_model_pause(pause_ms);
        if options.home.is_some() {
            let (store, kept) = recalled(profile, &folders.home)?;
            engine = engine.with_store(store, kept);
        }
        Ok((Box::new(engine), root))
    }
}

/// What the servers before this one have kept in a home.
fn recalled(profile: &Profile, home: &Path) -> Result<(Store, Vec<Kept>), StartError> {
    let folder = home.join(format!(".local/share/{}/standin", profile.server.word()));
    let failed = |source| StartError::Workspace { path: folder.clone(), source };
    let mut store = Store::open(folder.clone()).map_err(failed)?;
    let kept = store.news().map_err(failed)?;
    for kept in &kept {
        kept.check().map_err(|what| StartError::Kept { path: store.path(&kept.name), what })?;
    }
    Ok((store, kept))
}

impl Folders {
    /// The server's home lies beside a fresh workspace, and never in one that is somebody's own, unless it is to outlive
    /// the server.
    fn new(options: &Options) -> Result<Self, StartError> {
        let (own, place) = (options.workspace.clone(), options.folders_in.as_deref());
        let failed = |source| StartError::Workspace {
            path: place.map_or_else(std::env::temp_dir, Path::to_path_buf),
            source,
        };
        let prefix = if own.is_some() { "standin-home-" } else { "standin-" };
        let (made, kept) = match place {
            Some(place) => (place.to_path_buf(), None),
            None => {
                let made = tempfile::Builder::new().prefix(prefix).tempdir().map_err(failed)?;
                (made.path().to_path_buf(), Some(made))
            }
        };
        let home = match &options.home {
            Some(home) => home.clone(),
            None if own.is_some() => made.clone(),
            None => made.join("home"),
        };
        let unusable = |source| StartError::Workspace { path: home.clone(), source };
        std::fs::create_dir_all(&home).map_err(unusable)?;
        let home = home.canonicalize().map_err(unusable)?;
        let is_fresh = own.is_none();
        let workspace = own.unwrap_or_else(|| made.join("workspace"));
        let lasts = options.home.is_some();
        Ok(Self { workspace, home, lasts, made, _made: kept, is_fresh })
    }

    /// Puts the files of a scenario into a fresh workspace, whatever was there before, and empties a home that is not to
    /// last; the id of the workspace's commit.
    fn fill(&self, scenario: &Scenario) -> std::io::Result<Option<String>> {
        let home = (!self.lasts).then_some(&self.home);
        for folder in [home, self.is_fresh.then_some(&self.workspace)].into_iter().flatten() {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
            std::fs::create_dir(folder)?;
        }
        if self.is_fresh { fill_workspace(scenario, &self.workspace) } else { Ok(None) }
    }
}

/// Why a stand-in can't be in virtual time: what is beside it on the machine has no other time than the machine's.
#[must_use]
pub fn why_not_virtual(options: &Options) -> Option<String> {
    let Play::Scenario(scenario) = &options.play else {
        return Some("a recording is not played again in virtual time".to_owned());
    };
    let uses = |name: &str| {
        scenario
            .agent
            .iter()
            .flat_map(|turn| &turn.steps)
            .any(|step| matches!(step, AgentStep::Tool { tool, .. } if tool == name))
    };
    let why = if options.model.is_some() {
        "its model is at an address"
    } else if !scenario.pages.is_empty() || uses("webfetch") {
        "its agent fetches pages over sockets"
    } else if scenario.workspace.config.get("mcp").is_some() {
        "its tools are programs of their own"
    } else if uses("bash") {
        "its agent runs shell lines"
    } else {
        return None;
    };
    Some(format!("{why}, which are in the machine's time and not in virtual time"))
}

fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Makes an empty folder the workspace of a scenario: its files, in a repository with one commit, whose id it gives, but
/// for a scenario without one.
pub fn fill_workspace(scenario: &Scenario, folder: &Path) -> std::io::Result<Option<String>> {
    for (path, content) in &scenario.workspace.files {
        write_file(&folder.join(path), content)?;
    }
    if scenario.workspace.plain {
        return Ok(None);
    }
    make_repository(folder).map(Some)
}

fn write_file(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content)
}
