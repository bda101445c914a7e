//! What a stand-in plays and what breaks: the flags of every command that starts one, and their environment variables.

use super::{Failure, read_text, scenario, words};
use clap::{Args, ValueEnum};
use fixtures::FileError;
use fixtures::fault_plan::{Fault, FaultPlan, Performed, Place, check_fault};
use fixtures::recording::Recording;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use mock_server::journal::Memory;
use mock_server::replay::Pace;
use mock_server::standin::MAIN_LANE;
use mock_server::{ClockKind, MODEL_PAUSE, Options, Play, WELCOME, replay};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a stand-in plays, and what breaks.
#[derive(Debug, Args)]
pub(crate) struct Stage {
    /// The scenario to perform, as area/name, or a .toml file. Repeatable: several are performed as one.
    ///
    /// Without any there is text/welcome, which does something with any prompt.
    #[arg(long = "scenario", value_name = "SCENARIO", conflicts_with = "replay", value_parser = words::some_text())]
    #[arg(env = "STANDIN_SCENARIO", value_delimiter = ',', hide_env = true)]
    scenarios: Vec<String>,
    /// Play a recording again: a .jsonl file, or the name of a scenario that is recorded for the profile.
    #[arg(long, env = "STANDIN_REPLAY", hide_env = true)]
    replay: Option<String>,
    /// What the events of a recording wait for.
    #[arg(long, value_enum, default_value_t = PaceWord::Causal, requires = "replay")]
    pace: PaceWord,
    /// The address of the model that plays the agent's part in place of the scenario's.
    ///
    /// It is OpenAI-compatible, such as http://127.0.0.1:8000/v1
    #[arg(long, value_name = "URL", conflicts_with = "replay", env = "STANDIN_MODEL", hide_env = true)]
    model: Option<String>,
    /// The cloud on this machine that Kilo's server asks for news: the address of `standin cloud`, say.
    #[arg(long, value_name = "URL", env = "KILO_API_URL", hide_env = true)]
    cloud: Option<String>,
    /// A file of faults, or a plan that Standin carries, such as stream/half-open.
    ///
    /// docs/faults.md lists them, with the public bugs of clients that each provokes.
    #[arg(long, value_name = "PLAN", env = "STANDIN_FAULTS", hide_env = true)]
    faults: Option<String>,
    /// A fault in one line, such as "cut after 5 events" or "503 at POST /session". Repeatable.
    ///
    /// docs/faults.md has all of them.
    #[arg(long = "fault", value_name = "FAULT", value_parser = words::fault)]
    #[arg(env = "STANDIN_FAULT", value_delimiter = ';', hide_env = true)]
    more_faults: Vec<Fault>,
    /// Whoever has this token may tell the server over HTTP what to do, under /__standin__ on each lane.
    ///
    /// docs/control.md says what can be told.
    #[arg(long, value_name = "TOKEN", value_parser = words::some_text())]
    #[arg(env = "STANDIN_CONTROL", hide_env = true, hide_env_values = true)]
    control: Option<String>,
    /// One more port into the same server, under this name. Repeatable.
    #[arg(long = "lane", value_name = "NAME", value_parser = words::lane)]
    #[arg(env = "STANDIN_LANE", value_delimiter = ',', hide_env = true)]
    lanes: Vec<String>,
    /// Where times come from.
    #[arg(long, value_enum, default_value_t = ClockWord::Real, env = "STANDIN_CLOCK", hide_env = true)]
    clock: ClockWord,
    /// With --clock scaled: how many seconds pass in one of the machine's.
    #[arg(long, value_name = "TIMES", default_value_t = 60, value_parser = words::times)]
    #[arg(env = "STANDIN_TIME_SCALE", hide_env = true)]
    time_scale: u32,
    /// Let no gate of the scenario hold the model.
    #[arg(long, env = "STANDIN_OPEN_GATES", hide_env = true)]
    open_gates: bool,
    /// Let the agent's shell lines run in a folder of your own, as they do in a fresh one.
    #[arg(long, conflicts_with = "replay", env = "STANDIN_ALLOW_SHELL", hide_env = true)]
    allow_shell: bool,
    /// Let the agent go wherever the server lets it, not only to folders that the stand-in has made.
    #[arg(long, conflicts_with = "replay", env = "STANDIN_ALLOW_OUTSIDE", hide_env = true)]
    allow_outside: bool,
    /// So many milliseconds pass before a prompt is begun with, and before each answer of the model.
    ///
    /// Some clients listen only after they have prompted. On a logical clock it takes no
    /// time.
    #[arg(long, value_name = "MS", default_value_t = MODEL_PAUSE.as_millis() as u64, conflicts_with = "replay")]
    #[arg(env = "STANDIN_MODEL_PAUSE_MS", hide_env = true)]
    model_pause_ms: u64,
    /// The server's home, which outlives it: the next server with this home goes on with it.
    ///
    /// Sessions, settings, keys and rules are kept; what a revert brings back is not.
    ///
    /// Without it there is a fresh home each time.
    #[arg(long, value_name = "DIR", conflicts_with = "replay", env = "STANDIN_HOME", hide_env = true)]
    home: Option<PathBuf>,
    /// Decides every random choice.
    #[arg(long, default_value_t = 1, value_parser = words::seed, allow_negative_numbers = true)]
    #[arg(env = "STANDIN_SEED", hide_env = true)]
    seed: u64,
    /// Write what clients have asked and were answered to this file, in the end.
    #[arg(long, value_name = "FILE", env = "STANDIN_JOURNAL", hide_env = true)]
    journal: Option<PathBuf>,
}

/// It serves for days and does not grow.
const JOURNAL_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ClockWord {
    /// The machine's clock.
    Real,
    /// The machine's clock, --time-scale times as fast: heartbeats and further tries come sooner.
    Scaled,
    /// A count of the requests alone: two runs in one --workspace are the same bytes.
    Logical,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PaceWord {
    /// For the requests that caused them: nothing comes before the client has asked for it.
    Causal,
    /// For their time, from the first stream on; faster with --clock scaled.
    Recorded,
    /// For nothing: all of them come with the first stream.
    AtOnce,
}

/// A stage that is set.
#[derive(Debug)]
pub(crate) struct Set {
    /// What the stand-in is to be.
    pub(crate) options: Options,
    /// It performs the tour, since nothing else was asked for.
    pub(crate) is_tour: bool,
    /// No gate holds the model.
    pub(crate) open_gates: bool,
    /// Where the journal is written in the end.
    pub(crate) journal: Option<PathBuf>,
    /// Where starts are counted.
    pub(crate) starts_file: Option<PathBuf>,
}

impl Stage {
    /// Reads what the flags name. `profile` is the server that was asked for.
    pub(crate) fn set(self, profile: Option<ServerKind>) -> Result<Set, Failure> {
        let server = profile.unwrap_or(ServerKind::Kilo);
        let plan = self.faults.as_deref().map(plan_text).transpose()?;
        let mut is_tour = false;
        let mut options = match &self.replay {
            Some(name) if name.ends_with(".jsonl") => {
                Options::replay(recording(&PathBuf::from(name), profile)?)
            }
            Some(name) => Options::replay(catalog::recording(&server.release(), name)?),
            None => {
                let names = self.scenarios_or(plan.as_ref())?;
                is_tour = names.is_empty();
                Options::scenario(server, joined(&names)?)
            }
        };
        let lanes = lanes(&self.lanes)?;
        let mut starts_file = None;
        let releases = [release(&options)];
        let more_lanes = "`--lane NAME` opens one more";
        let performed: &[Performed] = match &options.play {
            Play::Scenario(_) => &[Performed::Process],
            Play::Recording(_) => &[Performed::Process, Performed::Replay],
        };
        let place = Place { lanes: &lanes, more_lanes, releases: &releases, performed };
        if let Some((file, text)) = &plan {
            options.faults = FaultPlan::parse_for(file, text, &place)?;
            let beside = file.parent().unwrap_or(Path::new(""));
            starts_file = options.faults.starts_file.as_ref().map(|file| beside.join(file));
        }
        for fault in self.more_faults {
            check_fault(&fault, &place)
                .map_err(|why| Failure::Misuse(format!("--fault: it {fault}: {why}")))?;
            options.faults.faults.push(fault);
        }
        options.control_token = self.control;
        options.performed = Performed::Process;
        options.model = self.model;
        options.cloud = self.cloud;
        options.lanes = self.lanes;
        options.seed = self.seed;
        options.home = self.home.map(|home| own_home(home, self.clock)).transpose()?;
        options.allow_shell = self.allow_shell;
        // What nobody can ask for is not remembered.
        let is_read = self.journal.is_some() || options.control_token.is_some();
        options.memory = Memory::Latest { bytes: if is_read { JOURNAL_BYTES } else { 0 } };
        options.allow_outside = self.allow_outside;
        options.model_pause = Duration::from_millis(self.model_pause_ms);
        options.pace = match self.pace {
            PaceWord::Causal => Pace::Causal,
            PaceWord::Recorded => Pace::Recorded,
            PaceWord::AtOnce => Pace::AtOnce,
        };
        options.clock = match self.clock {
            ClockWord::Real => ClockKind::Real,
            ClockWord::Scaled => ClockKind::Scaled { by: self.time_scale },
            ClockWord::Logical => ClockKind::Logical,
        };
        Ok(Set { options, is_tour, open_gates: self.open_gates, journal: self.journal, starts_file })
    }
}

/// A home that is the stand-in's alone.
fn own_home(home: PathBuf, clock: ClockWord) -> Result<PathBuf, Failure> {
    if matches!(clock, ClockWord::Logical) {
        let why = "--home goes on where another server has ended, and --clock logical begins anew each time; leave one out";
        return Err(Failure::Misuse(why.to_owned()));
    }
    let own = std::env::home_dir().and_then(|own| own.canonicalize().ok());
    let is_persons = home.canonicalize().is_ok_and(|home| own == Some(home));
    if is_persons {
        let told = home.display();
        let why =
            format!("--home {told} is your own, and the stand-in writes there; give it a folder of its own");
        return Err(Failure::Misuse(why));
    }
    Ok(home)
}

impl Set {
    /// A server has no line that a plan for agents could break.
    pub(crate) fn for_a_server(self) -> Result<Self, Failure> {
        let plan = &self.options.faults;
        let breaks_lines = !plan.acp.is_empty() || !plan.text.is_plain();
        if breaks_lines && plan.faults.is_empty() && plan.starts.is_empty() {
            let why = "all that the plan breaks is an agent on stdin and stdout ([[acp]], [text]), and this is a server; \
                       give it to `standin acp`";
            return Err(Failure::Misuse(why.to_owned()));
        }
        Ok(self)
    }
}

impl Stage {
    /// What is asked for, or what the plan of faults is about.
    fn scenarios_or(&self, plan: Option<&(PathBuf, String)>) -> Result<Vec<String>, Failure> {
        let Some((file, text)) = plan.filter(|_| self.scenarios.is_empty()) else {
            return Ok(self.scenarios.clone());
        };
        Ok(FaultPlan::parse(file, text)?.scenario.into_iter().collect())
    }
}

/// A plan of faults: a file, or one that is carried.
fn plan_text(name: &str) -> Result<(PathBuf, String), Failure> {
    let is_carried = !name.ends_with(".toml") && !Path::new(name).exists();
    if is_carried && name.contains('/') {
        return Ok(catalog::fault_plan_text(name)?);
    }
    let path = PathBuf::from(name);
    let text = read_text(&path)?;
    Ok((path, text))
}

/// What is to be performed, as one scenario.
fn joined(names: &[String]) -> Result<Scenario, Failure> {
    match names {
        [] => Ok(scenario(WELCOME)?),
        [name] => Ok(scenario(name)?),
        names => {
            let read = names.iter().map(|name| Ok((name.clone(), scenario(name)?)));
            Scenario::join(read.collect::<Result<_, Failure>>()?)
                .map_err(|why| Failure::Misuse(format!("these scenarios can't be performed as one: {why}")))
        }
    }
}

/// All lanes, the main one first; each has a name of its own.
fn lanes(more: &[String]) -> Result<Vec<&str>, Failure> {
    let mut lanes = vec![MAIN_LANE];
    for lane in more {
        if lanes.contains(&lane.as_str()) {
            let why =
                if lane == MAIN_LANE { "--port has the lane of this name" } else { "it is given twice" };
            return Err(Failure::Misuse(format!("--lane {lane}: {why}; each lane needs a name of its own")));
        }
        lanes.push(lane);
    }
    Ok(lanes)
}

/// The release whose events come.
fn release(options: &Options) -> String {
    match &options.play {
        Play::Scenario(_) => options.server.release(),
        Play::Recording(recording) => format!("{}-{}", recording.header.server, recording.header.version),
    }
}

/// A file that can be played again, of the server that was asked for.
fn recording(path: &Path, wanted: Option<ServerKind>) -> Result<Recording, Failure> {
    let recording = Recording::read(path)?;
    replay::check(&recording).map_err(|why| FileError::whole(path, why.to_string()))?;
    let server = recording.header.server;
    match wanted {
        Some(wanted) if wanted != server => {
            let why = format!("this is a recording of {server}; leave --profile {wanted} out");
            Err(FileError::whole(path, why).into())
        }
        _ => Ok(recording),
    }
}
