//! A fresh place for a server: a workspace with one commit, and a home of its own. Nothing of the user's home is
//! read or changed, and the commit is the same on every machine, because the servers show its id to clients.

use crate::guardian::Guardian;
use fixtures::FileError;
use fixtures::scenario::Scenario;
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Who commits, and when: part of the commit's id.
const COMMITTER: &str = "Standin";
const COMMITTER_MAIL: &str = "standin@example.invalid";
const COMMITTED_AT: &str = "2026-01-01T00:00:00Z";

/// Folders that a server would otherwise look for outside: variable and place below the home.
pub(crate) const HOME_FOLDERS: &[(&str, &str)] = &[
    ("TMPDIR", "tmp"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The folders of one performance; deleted when it is dropped and no server runs in it, or when this process is gone.
#[derive(Debug)]
pub struct Sandbox {
    workspace: PathBuf,
    home: PathBuf,
    config: Map<String, Value>,
    /// Deletes the folders.
    guardian: Arc<Guardian>,
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A folder or file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// git could not be started.
    #[error("failed to start git for the workspace: {0}; git must be installed and on the PATH")]
    NoGit(std::io::Error),
    /// git did not do what it was asked.
    #[error("git {command} failed in {} ({status}): {stderr}", .workspace.display())]
    Git {
        /// Its first argument.
        command: String,
        /// Where it ran.
        workspace: PathBuf,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What it said.
        stderr: String,
    },
}

impl Sandbox {
    /// Makes the folders below the system's folder for temporary files, with the scenario's files committed.
    /// `path_env` is the `PATH` on which git is found.
    pub fn create(scenario: &Scenario, path_env: &OsStr) -> Result<Self, SandboxError> {
        let temp = std::env::temp_dir();
        let (guardian, folder) = Guardian::start(&temp, path_env)
            .map_err(|error| FileError::io(&temp, "make a folder in it", &error))?;
        // Servers report the resolved path (on macOS /tmp is a link), so nothing else may be compared with it.
        let root =
            folder.canonicalize().map_err(|error| FileError::io(&folder, "resolve its path", &error))?;
        let sandbox = Self {
            workspace: root.join("workspace"),
            home: root.join("home"),
            config: scenario.workspace.config.clone(),
            guardian: Arc::new(guardian),
        };
        make_folder(&sandbox.workspace)?;
        for (_, place) in HOME_FOLDERS {
            make_folder(&sandbox.home.join(place))?;
        }
        for (path, content) in &scenario.workspace.files {
            let file = sandbox.workspace.join(path);
            if let Some(parent) = file.parent() {
                make_folder(parent)?;
            }
            std::fs::write(&file, content).map_err(|error| FileError::io(&file, "write it", &error))?;
        }
        if scenario.workspace.plain {
            return Ok(sandbox);
        }
        sandbox.git(path_env, &["init", "--quiet", "--template=", "--initial-branch=main"])?;
        sandbox.git(path_env, &["add", "--all"])?;
        sandbox.git(
            path_env,
            &["commit", "--quiet", "--allow-empty", "--message=The workspace of a scenario"],
        )?;
        Ok(sandbox)
    }

    /// The same place, with this part of the configuration in place of the scenario's: for what is known only once the
    /// place is there.
    #[must_use]
    pub fn with_config(self, config: Map<String, Value>) -> Self {
        Self { config, ..self }
    }

    /// The folder in which the agent works; absolute, without links.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// The server's home.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The scenario's part of the server's configuration.
    #[must_use]
    pub fn config(&self) -> &Map<String, Value> {
        &self.config
    }

    /// Who answers for the processes that are started in it.
    pub(crate) fn guardian(&self) -> Arc<Guardian> {
        Arc::clone(&self.guardian)
    }

    fn git(&self, path_env: &OsStr, args: &[&str]) -> Result<(), SandboxError> {
        let output = Command::new("git")
            .args(["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"])
            .args(args)
            .current_dir(&self.workspace)
            .env_clear()
            .env("PATH", path_env)
            .env("HOME", &self.home)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", COMMITTER)
            .env("GIT_AUTHOR_EMAIL", COMMITTER_MAIL)
            .env("GIT_AUTHOR_DATE", COMMITTED_AT)
            .env("GIT_COMMITTER_NAME", COMMITTER)
            .env("GIT_COMMITTER_EMAIL", COMMITTER_MAIL)
            .env("GIT_COMMITTER_DATE", COMMITTED_AT)
            .stdin(Stdio::null())
            .output()
            .map_err(SandboxError::NoGit)?;
        if output.status.success() {
            return Ok(());
        }
        Err(SandboxError::Git {
            command: args.first().copied().unwrap_or_default().to_owned(),
            workspace: self.workspace.clone(),
            status: output.status,
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }
}

fn make_folder(folder: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(folder).map_err(|error| FileError::io(folder, "make the folder", &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{path_env, scenario};

    fn head(sandbox: &Sandbox) -> String {
        std::fs::read_to_string(sandbox.workspace().join(".git/refs/heads/main")).unwrap()
    }

    #[test]
    fn the_commit_is_the_same_on_every_machine() {
        let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
        insta::assert_snapshot!(head(&sandbox).trim());
        assert_eq!(std::fs::read_to_string(sandbox.workspace().join("src/a.txt")).unwrap(), "a\n");
        assert_eq!(sandbox.workspace().canonicalize().unwrap(), sandbox.workspace());
    }

    #[test]
    fn a_workspace_without_files_has_its_commit_too() {
        let mut scenario = scenario();
        scenario.workspace.files.clear();
        let sandbox = Sandbox::create(&scenario, &path_env()).unwrap();
        assert_eq!(head(&sandbox).trim().len(), 40);
    }

    #[test]
    fn a_plain_workspace_has_its_files_alone() {
        let mut scenario = scenario();
        scenario.workspace.plain = true;
        let sandbox = Sandbox::create(&scenario, &path_env()).unwrap();
        assert!(
            sandbox.workspace().join("src/a.txt").is_file() && !sandbox.workspace().join(".git").exists()
        );
    }

    #[test]
    fn all_is_gone_with_it() {
        let sandbox = Sandbox::create(&scenario(), &path_env()).unwrap();
        let (workspace, home) = (sandbox.workspace().to_owned(), sandbox.home().to_owned());
        assert!(workspace.is_dir() && home.join("tmp").is_dir());
        drop(sandbox);
        assert!(!workspace.exists() && !home.exists());
    }

    #[test]
    fn a_missing_git_is_named() {
        let error = Sandbox::create(&scenario(), OsStr::new("/nonexistent")).unwrap_err().to_string();
        assert!(error.starts_with("failed to start git for the workspace: "), "{error}");
        assert!(error.ends_with("git must be installed and on the PATH"), "{error}");
    }
}
