//! A stand-in in the words of a test: `StandIn::kilo().scenario("text/plain").start().await?`.

use crate::clients::Client;
use crate::clock::ClockKind;
use crate::journal::Memory;
use crate::options::{CALL_WAIT, Options, Play, Standing, StartError};
use crate::project_files::Elsewhere;
use crate::replay::Pace;
use crate::standin::{MAIN_LANE, StandIn};
use fixtures::fault_plan::{FaultPlan, Performed, Place};
use fixtures::scenario::Scenario;
use fixtures::{FileError, ServerKind, catalog};
use serde_json::Map;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is performed when nobody names a scenario: it does something with any prompt.
pub const WELCOME: &str = "text/welcome";

/// A stand-in that is not started yet. It is verified when it is dropped, see [`StandIn::verify`].
///
/// ```
/// use mock_server::StandIn;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stand_in = StandIn::opencode().password("secret").start().await?;
/// let denied = reqwest::get(format!("{}/session", stand_in.url())).await?;
/// assert_eq!(denied.status(), 401);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a stand-in that is not started answers nobody"]
pub struct Builder {
    server: ServerKind,
    scenarios: Vec<Source>,
    faults: Option<String>,
    model: Option<String>,
    password: Option<String>,
    control_token: Option<String>,
    workspace: Option<PathBuf>,
    port: u16,
    lanes: Vec<String>,
    clock: ClockKind,
    seed: u64,
    allow_shell: bool,
    allow_outside: bool,
    model_pause: Duration,
    opens_gates: bool,
    is_lenient: bool,
}

#[derive(Debug, Clone)]
enum Source {
    Named(String),
    File(PathBuf),
    Text(String),
}

impl Builder {
    pub(crate) fn of(server: ServerKind) -> Self {
        Self {
            server,
            scenarios: Vec::new(),
            faults: None,
            model: None,
            password: None,
            control_token: None,
            workspace: None,
            port: 0,
            lanes: Vec::new(),
            clock: ClockKind::Real,
            seed: 1,
            allow_shell: false,
            allow_outside: false,
            model_pause: Duration::ZERO,
            opens_gates: false,
            is_lenient: false,
        }
    }

    /// Performs a scenario that Standin carries. Several are performed as one; without any there is a friendly one that
    /// answers whatever it is asked.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let refused = StandIn::kilo().scenario("text/plane").start().await;
    /// assert!(refused.unwrap_err().to_string().contains("did you mean 'text/plain'?"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn scenario(mut self, name: impl Into<String>) -> Self {
        self.scenarios.push(Source::Named(name.into()));
        self
    }

    /// Performs the scenario of a file.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() {
    /// let refused = StandIn::kilo().scenario_file("nowhere.toml").start().await;
    /// assert!(refused.unwrap_err().to_string().starts_with("nowhere.toml"));
    /// # }
    /// ```
    pub fn scenario_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.scenarios.push(Source::File(path.into()));
        self
    }

    /// Performs a scenario that stands in the test itself.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let scenario = r#"
    ///     about = "Says yes."
    ///     agent = [{ on = { prompt_contains = "" }, steps = [{ say = "Yes." }] }]
    ///     user = { steps = [{ prompt = "really?" }] }
    /// "#;
    /// let stand_in = StandIn::kilo().scenario_text(scenario).start().await?;
    /// assert_eq!(stand_in.verify().unwrap_err().unused.len(), 1, "nobody has prompted");
    /// # Ok(())
    /// # }
    /// ```
    pub fn scenario_text(mut self, toml: impl Into<String>) -> Self {
        self.scenarios.push(Source::Text(toml.into()));
        self
    }

    /// Breaks what a fault plan says, in the words of its file.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let plan = r#"
    ///     [[fault]]
    ///     when = { stream = "event", connection = 1, after_event = "server.connected" }
    ///     do = { cut = "mid-frame", bytes = 3 }
    /// "#;
    /// let stand_in = StandIn::kilo().faults(plan).start().await?;
    /// assert_eq!(stand_in.unfired_faults().len(), 1);
    /// assert_eq!(stand_in.verify().unwrap_err().unfired.len(), 1, "no fault is armed in vain");
    /// # Ok(())
    /// # }
    /// ```
    pub fn faults(mut self, toml: impl Into<String>) -> Self {
        self.faults = Some(toml.into());
        self
    }

    /// Lets the model at this address play the agent's part, in place of the scenario's.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stand_in = StandIn::kilo().model("http://127.0.0.1:8000/v1").start().await?;
    /// assert!(stand_in.url().starts_with("http://127.0.0.1:"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn model(mut self, url: impl Into<String>) -> Self {
        self.model = Some(url.into());
        self
    }

    /// Asks for this password; without one the server is open.
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Lets whoever has this token tell the stand-in over HTTP what to do, see docs/control.md.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stand_in = StandIn::kilo().control("token").start().await?;
    /// let url = format!("{}/__standin__/faults", stand_in.url());
    /// let faults = reqwest::Client::new().get(url).bearer_auth("token").send().await?;
    /// assert_eq!(faults.text().await?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn control(mut self, token: impl Into<String>) -> Self {
        self.control_token = Some(token.into());
        self
    }

    /// Lets the agent work in this folder; without one it gets a fresh one with the scenario's files.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let stand_in = StandIn::kilo().workspace(folder.path()).start().await?;
    /// assert_eq!(stand_in.workspace(), folder.path().canonicalize()?.to_str().unwrap());
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(mut self, folder: impl Into<PathBuf>) -> Self {
        self.workspace = Some(folder.into());
        self
    }

    /// Listens on this port; without it on any free one.
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Opens one more port into the same server, so that unmodified clients can be told apart.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stand_in = StandIn::kilo().lane("phone").start().await?;
    /// assert_ne!(stand_in.lane_url("phone"), Some(stand_in.url()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn lane(mut self, name: impl Into<String>) -> Self {
        self.lanes.push(name.into());
        self
    }

    /// Takes its times from this clock.
    ///
    /// ```
    /// # use mock_server::{ClockKind, StandIn};
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stand_in = StandIn::kilo().clock(ClockKind::Scaled { by: 60 }).start().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn clock(mut self, clock: ClockKind) -> Self {
        self.clock = clock;
        self
    }

    /// Lets the model think for so long before each answer: no real one is at once, and some clients listen only after
    /// they have prompted.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # use std::time::Duration;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stand_in = StandIn::kilo().model_pause(Duration::from_millis(80)).start().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn model_pause(mut self, pause: Duration) -> Self {
        self.model_pause = pause;
        self
    }

    /// Decides every random choice; the same seed makes the same ids.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Runs the agent's shell lines in a folder that the stand-in has not made, too.
    pub fn allow_shell(mut self) -> Self {
        self.allow_shell = true;
        self
    }

    /// Lets the agent go wherever the server lets it, not only to folders that the stand-in has made.
    pub fn allow_outside(mut self) -> Self {
        self.allow_outside = true;
        self
    }

    /// Lets no gate of the scenario hold the model.
    pub fn open_gates(mut self) -> Self {
        self.opens_gates = true;
        self
    }

    /// Is not verified when it is dropped.
    ///
    /// ```
    /// # use mock_server::StandIn;
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let stand_in = StandIn::kilo().lenient().start().await?;
    /// reqwest::get(format!("{}/nowhere", stand_in.url())).await?;
    /// drop(stand_in); // would panic otherwise: no server knows the route
    /// # Ok(())
    /// # }
    /// ```
    pub fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    /// Starts it.
    pub async fn start(self) -> Result<StandIn, StartError> {
        let (opens_gates, is_lenient) = (self.opens_gates, self.is_lenient);
        // A friendly one has more to offer than a test uses, and another model does not use it at all.
        let uses_all = !self.scenarios.is_empty() && self.model.is_none();
        let mut stand_in = StandIn::start(self.options()?).await?;
        if opens_gates {
            stand_in.open_all_gates();
        }
        if !is_lenient {
            stand_in.verify_on_drop(uses_all);
        }
        Ok(stand_in)
    }

    fn options(self) -> Result<Options, StartError> {
        let scenario = joined(self.scenarios)?;
        let faults = match &self.faults {
            None => FaultPlan::default(),
            Some(toml) => {
                let releases = [self.server.release()];
                let lanes: Vec<&str> =
                    std::iter::once(MAIN_LANE).chain(self.lanes.iter().map(String::as_str)).collect();
                let more_lanes = "`lane(name)` opens one more";
                let performed = &[Performed::Library];
                let place = Place { lanes: &lanes, more_lanes, releases: &releases, performed };
                FaultPlan::parse_for(Path::new("faults"), toml, &place)?
            }
        };
        Ok(Options {
            server: self.server,
            play: Play::Scenario(Box::new(scenario)),
            model: self.model,
            cloud: None,
            call_wait: CALL_WAIT,
            username: None,
            settings: Map::new(),
            origins: Vec::new(),
            password: self.password,
            control_token: self.control_token,
            workspace: self.workspace,
            folders_in: None,
            elsewhere: Elsewhere::default(),
            home: None,
            port: self.port,
            lanes: self.lanes,
            faults,
            clock: self.clock,
            seed: self.seed,
            shell: None,
            user: None,
            allow_shell: self.allow_shell,
            allow_outside: self.allow_outside,
            standing: Standing::Alone,
            client: Client::default(),
            model_pause: self.model_pause,
            pace: Pace::Causal,
            memory: Memory::Whole,
            performed: Performed::Library,
        })
    }
}

fn joined(sources: Vec<Source>) -> Result<Scenario, StartError> {
    let mut scenarios = Vec::new();
    for (number, source) in sources.into_iter().enumerate() {
        scenarios.push(match source {
            Source::Named(name) => (name.clone(), catalog::scenario(&name)?),
            Source::File(path) => {
                let text = std::fs::read_to_string(&path)
                    .map_err(|error| FileError::whole(&path, fixtures::error::io_words(&error)))?;
                (path.display().to_string(), Scenario::parse(&path, &text)?)
            }
            Source::Text(toml) => {
                let name = format!("scenario {}", number + 1);
                (name.clone(), Scenario::parse(Path::new(&name), &toml)?)
            }
        });
    }
    if scenarios.is_empty() {
        return Ok(catalog::scenario(WELCOME)?);
    }
    Scenario::join(scenarios).map_err(StartError::Scenarios)
}
