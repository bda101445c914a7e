//! A case in virtual time: no socket, no process, and nobody waits. The stand-in, the adapter and the person are tasks of
//! one paused runtime on one thread, which talk in memory; time passes when none of them has anything left to do, at
//! once, to what is waited for next. The code is that of a case over sockets: its lanes, its faults, its time line.
//!
//! The same case with the same seed and folder has the same history, byte for byte.

use crate::clock::Limits;
use crate::runner::{self, Manner, NotRun, Ran};
use crate::subject::Subject;
use fixtures::ServerKind;
use fixtures::recording::Recording;
use mock_server::{ClockKind, Options};
use parity_specs::NamedCase;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Where one case after the other is played in virtual time: its folders are the same each time.
#[derive(Debug)]
pub struct Theatre {
    _made: Option<TempDir>,
    folder: PathBuf,
}

/// Longer than an adapter looks at a silent stream, or at a silent turn, before it asks: what it was to notice by itself
/// it has noticed by then. Heartbeats do not count.
const QUIET: Duration = Duration::from_secs(50);

/// Where Linux keeps files in memory.
const IN_MEMORY: &str = "/dev/shm";

/// Nobody waits for them, so they are long: whoever has not done it by then never will.
#[must_use]
pub fn limits() -> Limits {
    let patience = Duration::from_secs(300);
    Limits {
        start: patience,
        answer: patience,
        end: Duration::from_secs(10),
        step: patience,
        settle: patience,
        quiet: QUIET,
    }
}

/// Can this case be played in virtual time with an adapter in this process? Else something of it is in the machine's.
#[must_use]
pub fn has(named: &NamedCase, server: ServerKind) -> bool {
    let scenario = runner::scenario_of(named).map(|scenario| Options::scenario(server, scenario));
    named.case.spawn.is_none()
        && scenario.is_ok_and(|options| mock_server::why_not_virtual(&options).is_none())
}

impl Theatre {
    /// In a fresh folder, that goes with it; in memory where the system has a place for that, since each case makes all its
    /// files anew.
    pub fn new() -> std::io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("standin-");
        let made = builder.tempdir_in(IN_MEMORY).or_else(|_| builder.tempdir())?;
        let folder = made.path().canonicalize()?;
        Ok(Self { _made: Some(made), folder })
    }

    /// In this folder, which is somebody else's.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { _made: None, folder: folder.to_path_buf() }
    }

    /// Runs a case. An error is the harness's own, as with [`runner::run`].
    pub fn run(
        &self,
        named: &NamedCase,
        server: ServerKind,
        subject: &Subject,
        manner: Manner,
    ) -> Result<Recording, NotRun> {
        self.run_within(named, server, subject, manner, &limits())
    }

    /// Runs a case within other limits, as it would be run over sockets.
    pub fn run_within(
        &self,
        named: &NamedCase,
        server: ServerKind,
        subject: &Subject,
        manner: Manner,
        limits: &Limits,
    ) -> Result<Recording, NotRun> {
        let options = Options::scenario(server, runner::scenario_of(named)?);
        self.play(named, options, subject, manner, limits).map(|ran| ran.history)
    }

    /// Runs a case with these options, whatever the name of its scenario is.
    pub(crate) fn play(
        &self,
        named: &NamedCase,
        mut options: Options,
        subject: &Subject,
        manner: Manner,
        limits: &Limits,
    ) -> Result<Ran, NotRun> {
        if let Subject::Program { .. } = subject {
            return Err(NotRun::Harness("a program has the machine's time and no other".to_owned()));
        }
        if named.case.spawn.is_some() {
            let why = "its adapter starts the server, which is in the machine's time and not in virtual time";
            return Err(NotRun::Harness(why.to_owned()));
        }
        options.clock = ClockKind::Virtual;
        options.folders_in = Some(self.folder.clone());
        // It knows time and nothing else: whoever tries to open a socket fails.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.map_err(|error| format!("failed to start a runtime: {error}"))?;
        runtime.block_on(runner::run_as(named, options, subject, limits, manner))
    }
}
