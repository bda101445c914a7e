//! One case with one adapter and one server: from start to the saved history. Nothing is judged here.
//!
//! The stand-in, the adapter and the person share one time line, the stand-in's journal. In the end the harness
//! reads the server's state by itself, over a lane that no fault touches; that is what the screen is held against.
//!
//! * `ground` — the stand-in, or the real server where nothing breaks.
//! * `person` — what the person does, step by step.
//! * `paths` — what the adapter's guard is asked, and canaries around the workspace.
//! * `client` — what the person does with the client alone.
//! * `features` — what is asked beside the chat.
//! * `credentials` — files of keys that the adapter looks at.
//! * `spawning` — a server that the adapter starts by itself.
//! * `ending` — from the last step to the saved history.

mod client;
mod credentials;
mod ending;
mod features;
mod ground;
mod paths;
mod person;
mod spawning;

use crate::clock::{Limits, within};
use crate::course::Sent;
use crate::handshake::hello;
use crate::link::{AskError, before_gone};
use crate::observer::Observer;
use crate::performance::Program;
use crate::protocol::request::Connect;
use crate::protocol::{Capability, Request, Settings};
use crate::secret::random_password;
use crate::sight::Sight;
use crate::subject::{Running, Subject};
use credentials::Keys;
pub(crate) use ending::header_of;
use fixtures::recording::{Line, Recording, TroubleKind};
use fixtures::scenario::{MAIN_SESSION, Scenario, UserAct, UserStep};
use fixtures::{ServerKind, catalog};
use ground::{Ground, Real};
use mock_server::{ClockKind, Options, Play, StandIn};
use parity_specs::NamedCase;
use parity_specs::case::{ADAPTER_LANE, Case};
use paths::Canaries;
use serde_json::Value;
use spawning::Spawned;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The task of the main session.
pub const TASK: &str = "task-1";

/// The task of a session.
fn task_of(session: &str) -> String {
    if session == MAIN_SESSION { TASK.to_owned() } else { format!("task-{session}") }
}

/// Why there is no history.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// The adapter says that it can't do what the case is about.
    #[error("the adapter does not declare {}", .0.join(", "))]
    Unsupported(Vec<String>),
    /// The harness failed at its own work.
    #[error("{0}")]
    Harness(String),
}

impl From<String> for NotRun {
    fn from(why: String) -> Self {
        Self::Harness(why)
    }
}

/// Runs a case. An error is the harness's own; whatever the adapter does is told by the history.
pub async fn run(
    named: &NamedCase,
    server: ServerKind,
    subject: &Subject,
    limits: &Limits,
) -> Result<Recording, NotRun> {
    let options = Options::scenario(server, scenario_of(named)?);
    run_on(named, options, subject, limits).await
}

/// Runs a case with a stand-in that is given: one that plays a recording, say. The case adds its faults.
pub async fn run_on(
    named: &NamedCase,
    options: Options,
    subject: &Subject,
    limits: &Limits,
) -> Result<Recording, NotRun> {
    run_as(named, options, subject, limits, Manner::default()).await.map(|ran| ran.history)
}

/// How a case is run, beside what stands in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// The person presses Retry wherever it is offered, instead of looking at what can't be trusted.
    pub presses_retry: bool,
    /// In virtual time: decides how long what is said in memory is under way.
    pub seed: u64,
}

/// So often a person presses Retry in a case before giving up all the same.
const PRESSES: usize = 8;

/// What has happened in a case.
pub(crate) struct Ran {
    /// All of it.
    pub(crate) history: Recording,
    /// What the server has sent, to eyes that no fault touches: it was read while it came.
    pub(crate) events: Vec<Sent>,
}

/// Runs a case with a stand-in that is given, in this manner.
pub(crate) async fn run_as(
    named: &NamedCase,
    mut options: Options,
    subject: &Subject,
    limits: &Limits,
    manner: Manner,
) -> Result<Ran, NotRun> {
    let scenario = match &options.play {
        Play::Scenario(scenario) => (**scenario).clone(),
        Play::Recording(_) => scenario_of(named)?,
    };
    let is_virtual = options.clock == ClockKind::Virtual;
    let password = match is_virtual {
        // Nobody can come in but this process, and the same run has the same words.
        true => "in-memory".to_owned(),
        false => random_password().map_err(|error| format!("failed to find a password: {error}"))?,
    };
    options.password = Some(password.clone());
    options.lanes = vec![ADAPTER_LANE.to_owned()];
    options.faults = named.case.fault_plan().map_err(|error| error.to_string())?;
    let stand_in = StandIn::start(options).await.map_err(|error| error.to_string())?;
    played(named, &scenario, Ground::StandIn(Arc::new(stand_in)), password, subject, limits, manner).await
}

/// Runs a case in which nothing breaks with the real server in the stand-in's place: is the stand-in wrong?
pub async fn run_against(
    named: &NamedCase,
    server: ServerKind,
    program: &Program,
    subject: &Subject,
    limits: &Limits,
) -> Result<Recording, NotRun> {
    if let Some(why) = only_for_the_stand_in(named) {
        return Err(NotRun::Harness(why));
    }
    let scenario = scenario_of(named)?;
    let real = Real::start(&named.case.scenario, &scenario, server, program).await?;
    let password = real.password().to_owned();
    let ground = Ground::Real(Box::new(real));
    played(named, &scenario, ground, password, subject, limits, Manner::default())
        .await
        .map(|ran| ran.history)
}

/// Why a case can't be played with the real server.
#[must_use]
pub fn only_for_the_stand_in(named: &NamedCase) -> Option<String> {
    if named.case.spawn.is_some() {
        return Some("the harness can't be behind the real server".to_owned());
    }
    if named.case.breaks() {
        return Some("the real server never breaks on cue".to_owned());
    }
    let restarts = |step: &UserStep| matches!(step.act, UserAct::Restart(_));
    let scenario = scenario_of(named).ok()?;
    scenario.user.steps.iter().any(restarts).then(|| "its server ends and starts again".to_owned())
}

/// From the first words to the saved history.
async fn played(
    named: &NamedCase,
    scenario: &Scenario,
    stand_in: Ground,
    password: String,
    subject: &Subject,
    limits: &Limits,
    manner: Manner,
) -> Result<Ran, NotRun> {
    let is_virtual = stand_in.is_virtual();
    let (eyes, net) = stand_in.nets(manner.seed)?;
    let observer = Observer::start(eyes, &stand_in.url(), stand_in.username(), &password).await?;
    let running = subject.start(stand_in.journal().clone(), net)?;
    let spawned = match &named.case.spawn {
        Some(spawn) => Some(Spawned::of(spawn, &stand_in).await?),
        None => None,
    };
    stand_in.make_folders(named.case.folders.values())?;
    let canaries = Canaries::set(stand_in.workspace(), &named.case.links)?;
    if let Some(links) = Canaries::told(&named.case.links) {
        links.note(stand_in.journal());
    }
    let mut run = Run {
        canaries,
        spawned,
        keys: Keys::default(),
        stand_in,
        observer,
        running,
        limits: *limits,
        password,
        folders: named.case.folders.clone(),
        tasks: BTreeMap::new(),
        local: BTreeSet::new(),
        closed: BTreeSet::new(),
        breaks: named.case.breaks(),
        settings: features::settings(&named.case).unwrap_or_default(),
        can: Vec::new(),
        answered: BTreeSet::new(),
        heard: BTreeMap::new(),
        awaited_from: 0,
        errors_from: 0,
        presses_left: if manner.presses_retry { PRESSES } else { 0 },
        is_virtual,
        sight: Mutex::default(),
    };
    let hello = hello(&mut run.running.link, limits, named.case.time_scale).await;
    let played = match hello {
        Ok(can) => {
            let missing: BTreeSet<Capability> =
                needs(named, scenario).filter(|needed| !can.contains(needed)).collect();
            if !missing.is_empty() {
                run.leave().await;
                return Err(NotRun::Unsupported(missing.into_iter().map(Capability::word).collect()));
            }
            run.can = can;
            run.play(&scenario.user.steps, &named.case).await
        }
        Err(why) => Err(broken(why)),
    };
    match played {
        Ok(()) => {
            if let Err((kind, what)) = run.see_off(&named.case).await {
                run.trouble(kind, what);
            }
        }
        Err((kind, what)) => {
            run.trouble(kind, what);
            // An adapter that broke the protocol has nothing to settle.
            if kind != TroubleKind::Adapter {
                run.settle().await;
            }
        }
    }
    run.read_server().await;
    Ok(run.finish(named).await)
}

/// The case's scenario, with the case's own user where it has one.
pub(crate) fn scenario_of(named: &NamedCase) -> Result<Scenario, String> {
    let mut scenario = catalog::scenario(&named.case.scenario).map_err(|error| error.to_string())?;
    if let Some(user) = &named.case.user {
        scenario.user = user.clone();
    }
    Ok(scenario)
}

/// What an adapter has to be able to do in a case.
pub(crate) fn needs<'a>(
    named: &'a NamedCase,
    scenario: &'a Scenario,
) -> impl Iterator<Item = Capability> + 'a {
    let case = &named.case;
    let said = case.needs.iter().filter_map(|word| Capability::of_word(word));
    let steps = scenario.user.steps.iter().filter_map(person::needs);
    let settings = [
        (case.time_scale != 1.0, Capability::ScaledTime),
        (!case.folders.is_empty(), Capability::Directories),
        (case.spawn.is_some(), Capability::Spawn),
        (!case.credentials.is_empty(), Capability::Credentials),
        (case.paths.is_some(), Capability::PathCheck),
    ];
    let settings = settings.into_iter().filter_map(|(is_set, needed)| is_set.then_some(needed));
    said.chain(steps).chain(settings).chain(features::needs(case))
}

struct Run {
    canaries: Canaries,
    /// Where the adapter starts the server by itself.
    spawned: Option<Spawned>,
    keys: Keys,
    /// The stand-in, or the real server in its place.
    stand_in: Ground,
    observer: Observer,
    running: Running,
    limits: Limits,
    password: String,
    /// Session → its folder below the workspace, where it has one of its own.
    folders: BTreeMap<String, String>,
    /// The tasks that were started, each with its session's id.
    tasks: BTreeMap<String, String>,
    /// The tasks that are the old backend's.
    local: BTreeSet<String>,
    /// The tasks that are over for good.
    closed: BTreeSet<String>,
    /// Something may be in the way of what the person wants.
    breaks: bool,
    /// What the person has set.
    settings: Settings,
    /// What the adapter says that it can do.
    can: Vec<Capability>,
    /// The questions that the person has answered.
    answered: BTreeSet<String>,
    /// What the steps name of the events that they awaited, as they say it.
    heard: BTreeMap<String, String>,
    /// Every event of the server before this place has been awaited or is older than one that was.
    awaited_from: usize,
    /// So many errors with Retry beside them are dealt with.
    errors_from: usize,
    /// Waiting costs nothing.
    is_virtual: bool,
    /// So often the person still presses Retry unasked.
    presses_left: usize,
    /// What was seen of the time line.
    sight: Mutex<Sight>,
}

type Troubled = (TroubleKind, String);

fn broken(what: impl Into<String>) -> Troubled {
    (TroubleKind::Adapter, what.into())
}

impl Run {
    async fn play(&mut self, steps: &[UserStep], case: &Case) -> Result<(), Troubled> {
        if !self.introduce(case).await? {
            return Ok(());
        }
        self.ask_locales(case).await?;
        self.ask_credentials(&case.credentials).await?;
        if let Some(policy) = case.paths {
            self.ask_paths(policy).await?;
        }
        for (index, step) in steps.iter().enumerate() {
            let named = |(kind, why): Troubled| (kind, format!("step {} ({step}): {why}", index + 1));
            self.step(step, index + 1).await.map_err(named)?;
        }
        self.ask_affordances(case).await
    }

    async fn ask(&mut self, request: Request) -> Result<Value, Troubled> {
        self.running.link.ask(&request, self.limits.answer).await.map_err(|error| broken(error.to_string()))
    }

    /// Asks for something that the server may refuse. That the adapter then says so is no fault of it: the person
    /// has learnt it. Was it taken?
    async fn ask_or_be_refused(&mut self, request: Request) -> Result<bool, Troubled> {
        match self.running.link.ask(&request, self.limits.answer).await {
            Ok(_) => Ok(true),
            Err(AskError::Refused { .. }) => Ok(false),
            Err(error) => Err(broken(error.to_string())),
        }
    }

    /// Waits for a fact, up to the limit of a step; whether it came is for the caller to see. An adapter that is
    /// gone brings nothing any more.
    async fn wait(&self, fact: impl Future<Output = ()>) -> Result<(), Troubled> {
        let gone = self.running.link.gone();
        let waited = within(self.limits.step, before_gone(fact, gone)).await.unwrap_or(Ok(()));
        waited.map_err(|why| broken(format!("{why} in the middle of the case")))
    }

    /// Waits until what was seen satisfies `holds`.
    async fn seen(&self, mut holds: impl FnMut(&Sight) -> bool) {
        let look = |lines: &[Line]| {
            let mut sight = self.sight.lock().unwrap_or_else(PoisonError::into_inner);
            sight.see(lines);
            holds(&sight)
        };
        self.stand_in.journal().wait_until(look).await;
    }

    /// Connects the adapter and opens its task; false when the adapter says that it can't be connected. What that
    /// is worth is for the checks.
    async fn introduce(&mut self, case: &Case) -> Result<bool, Troubled> {
        let connect = Connect {
            url: self.stand_in.lane_url(ADAPTER_LANE).unwrap_or_default(),
            username: self.stand_in.username().to_owned(),
            password: self.password.clone(),
            directory: self.stand_in.workspace().to_owned(),
        };
        if let Some(settings) = features::settings(case) {
            self.ask(Request::Settings(settings)).await?;
        }
        let request = match &self.spawned {
            Some(spawned) => spawned.request(&self.stand_in),
            None => Request::Connect(connect),
        };
        let is_there = self.ask_or_be_refused(request).await? || self.start_again(case).await?;
        if is_there {
            self.task(MAIN_SESSION).await?;
        }
        Ok(is_there)
    }
}
