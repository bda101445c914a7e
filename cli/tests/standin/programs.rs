//! Programs to record: shell scripts in the place of a real server, and the command that records them.

use crate::STANDIN;
use fixtures::ServerKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const SCENARIO: &str = "permission/write-allowed-once";

/// A program of this script, in `folder`.
pub(crate) fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("program");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The end of a script: it becomes a stand-in. The recorder says `serve --hostname … --port …`.
pub(crate) fn serving(server: ServerKind) -> String {
    format!(
        "exec '{STANDIN}' \"$@\" --profile {server} --scenario {SCENARIO} --workspace . --model-pause-ms 0"
    )
}

/// Records `bin` in `folder`; its sandboxes are made in `folder/tmp`.
pub(crate) fn record(folder: &Path, bin: &Path, server: ServerKind) -> Command {
    let temp = folder.join("tmp");
    std::fs::create_dir_all(&temp).unwrap();
    let mut command = Command::new(STANDIN);
    command.args(["record", "--server", server.word(), "--scenario", SCENARIO, "--bin"]).arg(bin);
    command.current_dir(folder).env("TMPDIR", temp);
    command
}
