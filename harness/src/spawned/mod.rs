//! A server that the adapter starts by itself, in a case.
//!
//! The adapter starts `standin as kilo serve`, a process with a port, a password, a ready line and an end of its own. Behind
//! it is the world of the case, which lives in the harness: so its sessions outlive a crash as those of the real servers
//! do, faults act as in any case, and all of it stands in one history. The process is a door.
//!
//! * [`door`] — the process that was started: it asks the harness what to do, and lets bytes through.
//! * `desk` — the harness's end: who has been started, with what, and who lives.
//!
//! Between them is a line, open as long as both live: the system closes it when a process ends, however it ends. So
//! nothing that was started is lost sight of, and a door whose harness is gone ends by itself.

pub(crate) mod desk;
pub mod door;

use crate::machine;
use fixtures::ServerKind;
use fixtures::fault_plan::StartAction;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where the desk is; whoever finds this in its environment is a door.
pub const DESK: &str = "STANDIN_DESK";

/// The first words of a door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Hello {
    /// The password that it was started with.
    password: Option<String>,
    /// Where it was told to listen; a door listens on this machine alone, whatever it is told.
    host: String,
    /// It was started by the wrapper that a fault asked for.
    wrapped: bool,
}

/// What a door is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The address behind it.
    upstream: String,
    /// What goes wrong with this start.
    pub fault: Option<StartAction>,
}

/// What a door says later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum News {
    /// It listens here.
    Listens(u16),
    /// It ends now, as it was told to: it crashes.
    Crashes,
}

/// What a door is told later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Later {
    /// Crash.
    Crash,
}

/// What an adapter has to start, so that it gets the server.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
}

impl Command {
    /// The command of a server on this machine.
    pub(crate) fn of(server: ServerKind, port: &str) -> Result<Self, String> {
        let words = ["as", server.word(), "serve", "--hostname", "127.0.0.1", "--port"];
        let args = words.into_iter().chain([port]).map(str::to_owned).collect();
        Ok(Self { program: standin()?, args })
    }
}

/// This program, or the one that cargo has put beside it: what a client starts in place of its server or agent.
///
/// # Errors
/// It was not built.
pub fn standin() -> Result<PathBuf, String> {
    let own = machine::own_program()?;
    let name = Path::new("standin");
    if own.file_name() == Some(name.as_os_str()) {
        return Ok(own);
    }
    // Programs of tests lie in a folder below.
    let mut folders = own.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|program| program.is_file()).ok_or_else(|| {
        format!(
            "a client that starts its server or agent needs the program `standin`, and there is none beside {}: build it with \
             `cargo build --package cli`",
            own.display()
        )
    })
}
