//! What a stand-in is to be, and why there is none.

use crate::clients::Client;
use crate::clock::ClockKind;
use crate::journal::Memory;
use crate::project_files::Elsewhere;
use crate::replay::{Pace, Unplayable};
use fixtures::error::io_words;
use fixtures::fault_plan::{FaultPlan, Performed};
use fixtures::recording::Recording;
use fixtures::scenario::Scenario;
use fixtures::{FileError, ServerKind};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

/// What a stand-in is to be.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which server.
    pub server: ServerKind,
    /// What it plays.
    pub play: Play,
    /// The address of a model that plays the agent's part in place of the scenario's, as `http://127.0.0.1:8000/v1`.
    pub model: Option<String>,
    /// The address of the cloud that Kilo's server asks for news; without one it asks nobody.
    pub cloud: Option<String>,
    /// So long a call waits for the rest of the answer in which a model at an address wants it.
    pub call_wait: Duration,
    /// The user name that goes with the password; the server's own word when absent.
    pub username: Option<String>,
    /// The password; without one the server is open.
    pub password: Option<String>,
    /// Who has this token may use the control API; without one there is none.
    pub control_token: Option<String>,
    /// Pages of other sites that may ask, beside those that the server lets.
    pub origins: Vec<String>,
    /// Settings over those of the scenario, as whoever starts the server hands them over.
    pub settings: Map<String, Value>,
    /// The agent's folder; a fresh one with the scenario's files when absent.
    pub workspace: Option<PathBuf>,
    /// Where the agent's folder and the server's home are made, the same each time; a fresh place when absent.
    pub folders_in: Option<PathBuf>,
    /// Where settings lie beside the workspace; its home is not read.
    pub elsewhere: Elsewhere,
    /// The server's home, and what it keeps there, outlive it: another one with this home goes on with it. A fresh one
    /// when absent.
    pub home: Option<PathBuf>,
    /// The port of the main lane; 0 takes any free one.
    pub port: u16,
    /// More lanes, each with a port of its own.
    pub lanes: Vec<String>,
    /// What breaks.
    pub faults: FaultPlan,
    /// Where time comes from.
    pub clock: ClockKind,
    /// Decides every random choice.
    pub seed: u64,
    /// Shell lines of the agent run in a folder that the stand-in has not made, too.
    pub allow_shell: bool,
    /// The shell that the environment names (`SHELL`): lines run in it, if it is there.
    pub shell: Option<String>,
    /// Who the environment says the person is (`USER`): settings that name nobody name them.
    pub user: Option<String>,
    /// The agent may go wherever the server that is stood in for lets it, not only to folders that the stand-in has made.
    pub allow_outside: bool,
    /// Who is in front of it, which some of its words depend on.
    pub standing: Standing,
    /// Who has started it.
    pub client: Client,
    /// So long a prompt is on its way, and so long the model thinks before it answers; on a logical clock that takes no
    /// time.
    pub model_pause: Duration,
    /// What the events of a recording wait for.
    pub pace: Pace,
    /// How much the journal remembers.
    pub memory: Memory,
    /// Is it inside a test, or a program of its own? That decides which faults work.
    pub performed: Performed,
}

/// How long the model of a stand-in thinks that real clients use: some listen only after they have prompted, and a real
/// model leaves them the time.
pub const MODEL_PAUSE: Duration = Duration::from_millis(80);

/// How long a call waits for the rest of its answer. The real servers are about as slow to begin one, and a model that
/// is near has said the rest by then.
pub(crate) const CALL_WAIT: Duration = Duration::from_millis(50);

/// What a stand-in plays.
#[derive(Debug, Clone)]
pub enum Play {
    /// A scenario, performed by the stateful world.
    Scenario(Box<Scenario>),
    /// A recording, played again.
    Recording(Box<Recording>),
}

impl Options {
    /// A stand-in that performs a scenario, without a password and without faults.
    #[must_use]
    pub fn scenario(server: ServerKind, scenario: Scenario) -> Self {
        Self::new(server, Play::Scenario(Box::new(scenario)))
    }

    /// A stand-in that plays a recording again.
    #[must_use]
    pub fn replay(recording: Recording) -> Self {
        Self::new(recording.header.server, Play::Recording(Box::new(recording)))
    }

    fn new(server: ServerKind, play: Play) -> Self {
        Self {
            server,
            play,
            model: None,
            cloud: None,
            call_wait: CALL_WAIT,
            username: None,
            password: None,
            control_token: None,
            settings: Map::new(),
            origins: Vec::new(),
            workspace: None,
            folders_in: None,
            elsewhere: Elsewhere::default(),
            home: None,
            port: 0,
            lanes: Vec::new(),
            faults: FaultPlan::default(),
            clock: ClockKind::Real,
            seed: 1,
            allow_shell: false,
            shell: None,
            user: None,
            allow_outside: false,
            standing: Standing::Alone,
            client: Client::default(),
            model_pause: Duration::ZERO,
            pace: Pace::Causal,
            memory: Memory::Whole,
            performed: Performed::Library,
        }
    }
}

/// Why a stand-in can't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A plan breaks the start of a program, and this is none.
    #[error(
        "a [[start]] of a fault plan is for a server that is a program of its own: `standin serve`, `standin as`"
    )]
    NoProgram,
    /// A fault can't act on what is played.
    #[error("{0}")]
    Misplaced(String),
    /// A port can't be had.
    #[error(
        "failed to listen on 127.0.0.1:{port} for lane '{lane}': {}; choose another port, or 0 for any free one",
        io_words(source)
    )]
    Listen {
        /// The lane.
        lane: String,
        /// The port.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
    /// The workspace can't be used.
    #[error("failed to use the workspace {}: {}; choose another folder", path.display(), io_words(source))]
    Workspace {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// What was kept in a home can't be taken up.
    #[error("{} can't be used: {what}; mend it, or take it away, or give another home", path.display())]
    Kept {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The model can't be asked.
    #[error("{0}")]
    Model(String),
    /// A scenario or a plan can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The scenarios can't be performed as one.
    #[error("{0}")]
    Scenarios(String),
    /// The recording can't be played.
    #[error(transparent)]
    Unplayable(#[from] Unplayable),
}

/// Who is in front of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its clients.
    Alone,
    /// An agent on stdin and stdout.
    BehindAgent,
    /// An agent as a design shows it, whose folders are nowhere.
    BehindDesign,
}

impl Standing {
    pub(crate) fn behind(is_design: bool) -> Self {
        if is_design { Self::BehindDesign } else { Self::BehindAgent }
    }

    /// Is an agent in front of it?
    pub(crate) fn is_agents(self) -> bool {
        self != Self::Alone
    }
}
