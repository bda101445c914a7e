//! A `git` in front of git: it writes down what it is told, and holds at one of its calls, so that a runner can be killed
//! between any two of them.

use crate::scene::{Troubled, our_fault};
use harness::machine::Machine;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

/// A folder to be put before all others on the `PATH`.
pub(super) struct Shim {
    folder: tempfile::TempDir,
    path: OsString,
}

impl Shim {
    /// Holds at the call of this number, from 1; at none when there are fewer.
    pub(super) fn holding_at(call: usize) -> Result<Self, Troubled> {
        let failed = |error: std::io::Error| our_fault(format!("failed to make a shim for git: {error}"));
        let folder = tempfile::Builder::new().prefix("standin-shim-").tempdir().map_err(failed)?;
        let path = Machine::of_this_process().path_env;
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let git = folders.iter().map(|folder| folder.join("git")).find(|git| git.is_file());
        let git = git.ok_or_else(|| our_fault("git is not on the PATH: install it"))?;
        let place = folder.path().to_string_lossy().into_owned();
        let text = format!(
            "#!/bin/sh\n\
             calls=$(($(cat '{place}/calls' 2>/dev/null || echo 0) + 1))\n\
             echo $calls > '{place}/calls'\n\
             echo \"$*\" >> '{place}/journal'\n\
             if [ $calls -eq {call} ]; then : > '{place}/held'; exec sleep 1000000; fi\n\
             exec '{}' \"$@\"\n",
            git.display()
        );
        let shim = folder.path().join("git");
        fs::write(&shim, text).map_err(failed)?;
        fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).map_err(failed)?;
        let all = std::iter::once(folder.path().to_owned()).chain(folders);
        let path = std::env::join_paths(all).map_err(|error| our_fault(error.to_string()))?;
        Ok(Self { folder, path })
    }

    /// The `PATH` that a runner is to use for what it starts.
    pub(super) fn path(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    pub(super) fn holds(&self) -> bool {
        self.folder.path().join("held").exists()
    }

    /// What it was told last.
    pub(super) fn last_words(&self) -> String {
        let journal = fs::read_to_string(self.folder.path().join("journal")).unwrap_or_default();
        journal.lines().last().unwrap_or_default().to_owned()
    }
}
