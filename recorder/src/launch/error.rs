//! Why there is no server: one error for each thing that its user has to mend.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no free port.
    #[error("failed to find a free port on 127.0.0.1: {0}")]
    NoPort(#[source] io::Error),
    /// There is no such program.
    #[error("there is no program {}: install it, or name it by its absolute path", .program.display())]
    NotFound {
        /// As it was given.
        program: PathBuf,
    },
    /// There is something, but no program.
    #[error(
        "{} is not an executable file: give it the right to run (chmod +x), or name another program",
        .program.display()
    )]
    NotExecutable {
        /// Where it was found.
        program: PathBuf,
    },
    /// The system refused to start it.
    #[error("failed to start {}: {source}", .program.display())]
    Start {
        /// As it was given.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended.
    #[error("{} ended before it was ready ({status}); its last words:\n{stderr}", .program.display())]
    Ended {
        /// As it was given.
        program: PathBuf,
        /// How.
        status: ExitStatus,
        /// The last lines of stderr.
        stderr: String,
    },
    /// Its port went to somebody else.
    #[error(
        "{} ended before it was ready: port {port}, which was free a moment before, is taken by another program; \
         try again. Its last words:\n{stderr}",
        .program.display()
    )]
    PortTaken {
        /// As it was given.
        program: PathBuf,
        /// The port.
        port: u16,
        /// The last lines of stderr.
        stderr: String,
    },
    /// It did not say that it is ready.
    #[error(
        "{} did not say '{expected}' within {} s: is it this server? Its last words:\n{stderr}",
        .program.display(), .limit.as_secs_f32()
    )]
    NotReady {
        /// As it was given.
        program: PathBuf,
        /// The line that was waited for.
        expected: String,
        /// How long.
        limit: Duration,
        /// The last lines of stderr.
        stderr: String,
    },
    /// Its ready line is not the one of this server.
    #[error("{} said {line:?}, where '{expected}' was expected: is it this server?", .program.display())]
    Garbled {
        /// As it was given.
        program: PathBuf,
        /// What it said.
        line: String,
        /// The line that was waited for.
        expected: String,
    },
    /// It said that it is ready, and did not answer as it should.
    #[error("{url}/global/health {problem}; the server's last words:\n{stderr}")]
    NotHealthy {
        /// The server's address.
        url: String,
        /// What happened.
        problem: String,
        /// The last lines of stderr.
        stderr: String,
    },
    /// It could not be ended.
    #[error("failed to end {url}: {source}")]
    Stop {
        /// The server's address.
        url: String,
        /// Why.
        source: io::Error,
    },
}
