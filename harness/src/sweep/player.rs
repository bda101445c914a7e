//! Plays one schedule: in virtual time in this process, as many at once as the machine has cores; or over sockets, with an
//! adapter in any language.

use super::Ground;
use super::schedule::Kind;
use crate::clock::Limits;
use crate::handshake::capabilities;
use crate::judge::{Verdict, judge_with};
use crate::protocol::Capability;
use crate::runner::{self, Manner, NotRun, Ran};
use crate::subject::Subject;
use crate::virtual_time::Theatre;
use fixtures::fault_plan::FaultPlan;
use fixtures::recording::{Line, Recording, TroubleKind};
use mock_server::Options;
use parity_specs::{Case, NamedCase};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What came of a schedule.
#[derive(Debug, Clone, Default)]
pub struct Played {
    history: Option<Recording>,
    verdict: Option<Verdict>,
    /// So many faults of the plan there are, and so many of them never acted.
    faults: usize,
    unfired: usize,
    /// The checks that are red, and a word for what else went wrong.
    red: BTreeSet<String>,
    findings: Vec<String>,
}

impl Played {
    fn of(ran: Result<Ran, NotRun>) -> Self {
        let (history, judged) = match ran {
            Ok(Ran { history, events }) => {
                let judged = judge_with(&history.lines, events);
                (history, judged)
            }
            Err(why) => {
                let (red, findings) = (BTreeSet::from(["not run".to_owned()]), vec![why.to_string()]);
                return Self { red, findings, verdict: Some(Verdict::HarnessError), ..Self::default() };
            }
        };
        let (mut red, mut findings, mut unfired) = (BTreeSet::new(), Vec::new(), 0);
        for (kind, what) in crate::history::troubles(&history.lines) {
            let word = match kind {
                TroubleKind::FaultNeverFired => {
                    unfired += 1;
                    continue;
                }
                TroubleKind::StepNotDone => "a step is not done",
                TroubleKind::Adapter => "the adapter",
                TroubleKind::Harness => "the harness",
            };
            red.insert(word.to_owned());
            findings.push(what.to_owned());
        }
        for check in judged.checks.iter().filter(|check| check.is_red()) {
            red.insert(check.check.to_owned());
            let none = vec![format!("{}: nothing could be examined", check.check)];
            let told = check.findings.iter().map(|finding| format!("{}: {finding}", check.check));
            findings.extend(if check.findings.is_empty() { none } else { told.collect() });
        }
        let faults = history.header.provenance.faults.len();
        Self { verdict: Some(judged.verdict), faults, unfired, red, findings, history: Some(history) }
    }

    /// What happened.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        self.history.as_ref().map_or(&[], |history| &history.lines)
    }

    /// The history, if there is one.
    #[must_use]
    pub fn history(&self) -> Option<&Recording> {
        self.history.as_ref()
    }

    /// Without the history, which is long.
    #[must_use]
    pub fn without_history(self) -> Self {
        Self { history: None, ..self }
    }

    /// Does all hold?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdict == Some(Verdict::Pass) || (self.unfired > 0 && self.red.is_empty())
    }

    /// Has what was to be shown been shown: have all faults of the plan acted, or, where they were drawn, any?
    #[must_use]
    pub fn shows(&self, kind: Kind) -> bool {
        match kind {
            Kind::Cut | Kind::Fail | Kind::Lose => self.unfired == 0,
            Kind::Saved | Kind::Random => self.unfired < self.faults,
        }
    }

    /// What is red.
    #[must_use]
    pub fn red(&self) -> Vec<String> {
        self.red.iter().cloned().collect()
    }

    /// What does not hold, in words.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        self.findings.clone()
    }

    /// Is something red here that is red there?
    #[must_use]
    pub fn is_red_like(&self, other: &Self) -> bool {
        self.red.iter().any(|red| other.red.contains(red))
    }

    /// In one line.
    #[must_use]
    pub fn words(&self) -> String {
        let verdict = self.verdict.map(|verdict| verdict.to_string()).unwrap_or_default();
        let first = self.findings.first().map(|finding| format!(": {finding}")).unwrap_or_default();
        format!("{verdict}{first}")
    }
}

/// Plays schedules of a scenario with an adapter.
pub trait Player: Sync {
    /// Plays one.
    fn play(&self, plan: &FaultPlan) -> Played;

    /// How many are played at once.
    fn at_once(&self) -> usize;

    /// How often at most a plan is tried that is shrunk.
    fn most_runs(&self) -> usize;
}

/// A case of a sweep.
fn case_of(ground: &Ground, plan: &FaultPlan, time_scale: f64) -> NamedCase {
    let whole = Case::of_scenario(ground.scenario.about.clone(), ground.name.clone(), ground.server);
    let case = Case { time_scale, faults: plan.faults.clone(), ..whole };
    NamedCase { name: format!("sweep/{}", ground.name), case }
}

/// In this process, in virtual time.
pub struct Virtual {
    ground: Ground,
    subject: Subject,
    manner: Manner,
    at_once: usize,
    /// Those in which nobody plays.
    free: Mutex<Vec<Theatre>>,
}

impl Virtual {
    /// With as many folders as are played in at once.
    pub(super) fn new(ground: Ground, subject: Subject, seed: u64) -> Result<Self, String> {
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        let theatres: Result<Vec<Theatre>, _> = (0..at_once).map(|_| Theatre::new()).collect();
        let free = Mutex::new(theatres.map_err(|error| format!("failed to make a folder: {error}"))?);
        let manner = Manner { presses_retry: true, seed };
        Ok(Self { ground, subject, manner, at_once, free })
    }

    fn theatre(&self) -> Option<Theatre> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}

impl Player for Virtual {
    fn play(&self, plan: &FaultPlan) -> Played {
        let theatre = match self.theatre().map(Ok).unwrap_or_else(Theatre::new) {
            Ok(theatre) => theatre,
            Err(error) => {
                return Played::of(Err(NotRun::Harness(format!("failed to make a folder: {error}"))));
            }
        };
        let Ground { scenario, server, .. } = &self.ground;
        let case = case_of(&self.ground, plan, 1.0);
        let options = Options::scenario(*server, scenario.clone());
        let limits = crate::virtual_time::limits();
        let history = theatre.play(&case, options, &self.subject, self.manner, &limits);
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(theatre);
        Played::of(history)
    }

    fn at_once(&self) -> usize {
        self.at_once
    }

    fn most_runs(&self) -> usize {
        150
    }
}

/// Over sockets, with a process of its own for each schedule.
pub struct Process {
    ground: Ground,
    subject: Subject,
    runtime: tokio::runtime::Runtime,
    limits: Limits,
    time_scale: f64,
}

/// What the waits of an adapter are multiplied by that can be hurried.
const HURRIED: f64 = 0.02;
/// So long a step may take with one that can't: as long as its waits are in the machine's time.
const PATIENCE: Duration = Duration::from_secs(60);

impl Process {
    /// Asks the program first what it can do.
    pub(super) fn new(ground: Ground, subject: Subject) -> Result<Self, String> {
        let runtime =
            tokio::runtime::Runtime::new().map_err(|error| format!("failed to start a runtime: {error}"))?;
        let can = runtime.block_on(capabilities(&subject, &Limits::default()));
        let is_hurried = can.map_err(|why| why.to_string())?.contains(&Capability::ScaledTime);
        let (time_scale, limits) = match is_hurried {
            true => (HURRIED, Limits::default()),
            false => (1.0, Limits { step: PATIENCE, settle: PATIENCE, ..Limits::default() }),
        };
        Ok(Self { ground, subject, runtime, limits, time_scale })
    }
}

impl Player for Process {
    fn play(&self, plan: &FaultPlan) -> Played {
        let case = case_of(&self.ground, plan, self.time_scale);
        let options = Options::scenario(self.ground.server, self.ground.scenario.clone());
        let manner = Manner { presses_retry: true, ..Manner::default() };
        let run = runner::run_as(&case, options, &self.subject, &self.limits, manner);
        Played::of(self.runtime.block_on(run))
    }

    fn at_once(&self) -> usize {
        4
    }

    fn most_runs(&self) -> usize {
        60
    }
}
