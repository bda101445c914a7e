//! What a stand-in performs with: its world or its recording, the agent's folder, the server's home.

use crate::clock::ClockKind;
use crate::engine::{Engine, Mind, Pages};
use crate::exhibits::Exhibits;
use crate::model::Script;
use crate::options::{Options, Play, StartError};
use crate::performer::Performer;
use crate::profile::Profile;
use crate::project_files::{ProjectFiles, merge_settings};
use crate::replay::Replay;
use crate::workspace::{Project, Workspace, make_repository};
use crate::world::WorldConfig;
use fixtures::catalog;
use fixtures::scenario::Scenario;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Who performs, the agent's folder, and the folders that go with the stand-in.
type Prepared = (Box<dyn Performer>, String, Vec<TempDir>);

/// Makes what is to be played, and the folders that it needs.
pub(super) fn performer(
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
    let (folder, commit) = made.unzip();
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
    let project = match commit {
        Some(id) => Project { id, worktree: root.clone(), is_repository: true },
        None => Project::of(workspace.root(), profile.server.word()),
    };
    let mut said = scenario.workspace.config.clone();
    merge_settings(&mut said, &Value::Object(options.settings.clone()));
    let mut config = WorldConfig {
        seed: options.seed,
        directory: root.clone(),
        project,
        home: home.to_string_lossy().into_owned(),
        said,
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
    let exhibits = Exhibits::of(profile.server, &config);
    let pages = Pages { release: Some(profile.server.release()), exhibits };
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
    let commit = fill_workspace(scenario, &workspace)?;
    Ok((folder, commit))
}

/// Makes an empty folder the workspace of a scenario: its files, in a repository with one commit, whose id it gives.
pub fn fill_workspace(scenario: &Scenario, folder: &Path) -> std::io::Result<String> {
    for (path, content) in &scenario.workspace.files {
        write_file(&folder.join(path), content)?;
    }
    make_repository(folder)
}

fn write_file(path: &Path, content: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, content)
}
