//! The real servers' releases, as programs that perform: the pinned ones, and older ones by their version.

use fixtures::ServerKind;
use harness::complain;
use harness::machine::Machine;
use harness::performance::Program;
use recorder::real_servers::{self, Release};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The pinned release of a server; it is installed when it is not there.
pub(crate) fn program(server: ServerKind, npm_dir: &Path, machine: &Machine) -> Result<Program, String> {
    release(server, server.pinned_version(), npm_dir, machine)
}

/// This release of a server; it takes the place of another one that is installed in the folder.
pub(crate) fn release(
    server: ServerKind,
    version: &str,
    npm_dir: &Path,
    machine: &Machine,
) -> Result<Program, String> {
    let path = real_servers::program(server, npm_dir, Release::Exactly(version), |what| complain!("{what}"));
    path.map(|path| at(path, machine)).map_err(|error| error.to_string())
}

/// A program on this machine, whose model answers at once.
pub(crate) fn at(path: PathBuf, machine: &Machine) -> Program {
    Program {
        path,
        args: Vec::new(),
        path_env: machine.path_env.clone(),
        model_pause: Duration::ZERO,
        server_log: None,
        secrets: machine.secrets.clone(),
    }
}
