//! Sweeps: a scenario with a fault at every place where one can stand, and what an adapter makes of each.
//!
//! * [`schedule`] — which places there are: every cut, every answer of a rehydration that fails, every event that is lost.
//! * [`random`] — several faults at once, drawn from a seed.
//! * [`player`] — one schedule with one adapter: in virtual time in this process, or over sockets for any program.
//! * [`shrink`] — a plan that fails → the fewest and simplest faults that still fail.
//! * [`keep`] — plans that failed are files, and are run first the next time.
//! * [`report`] — what came of it.

pub mod keep;
pub mod player;
pub mod random;
pub mod report;
pub mod schedule;
pub mod shrink;

use crate::course::Course;
use crate::subject::Subject;
use fixtures::fault_plan::FaultPlan;
use fixtures::scenario::{Scenario, UserAct};
use fixtures::{FileError, ServerKind, catalog};
use player::{Played, Player, Process, Virtual};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use report::{Failing, KindCount, Swept};
use schedule::{Kind, Schedule};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A scenario that is swept with a server.
#[derive(Debug, Clone)]
pub struct Ground {
    /// Its name, or its file.
    pub name: String,
    /// The scenario.
    pub scenario: Scenario,
    /// The server.
    pub server: ServerKind,
}

/// How a sweep is made.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Decides samples, random schedules, and how long what is said in memory is under way.
    pub seed: u64,
    /// Only these kinds of schedules; all when there are none.
    pub kinds: Vec<Kind>,
    /// No more than so many schedules of each kind; all when absent.
    pub sample: Option<usize>,
    /// So many random schedules of several faults, beside the sweeps.
    pub random: usize,
    /// Only these plans, and no sweep.
    pub plans: Vec<(PathBuf, FaultPlan)>,
    /// Where plans that fail are kept; nowhere when absent.
    pub failing: Option<PathBuf>,
}

impl Default for Wish {
    fn default() -> Self {
        Self { seed: 1, kinds: Vec::new(), sample: None, random: 0, plans: Vec::new(), failing: None }
    }
}

impl Wish {
    fn wants(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Why nothing was swept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSwept {
    /// It can't be, with anybody.
    #[error("{0}")]
    CanNot(String),
    /// The adapter does not even pass where nothing breaks.
    #[error("it does not hold where nothing breaks: {0}")]
    Unbroken(String),
}

/// All scenarios that travel in the binary, with these servers.
///
/// # Errors
/// One of them can't be read.
pub fn all_grounds(servers: &[ServerKind]) -> Result<Vec<Ground>, FileError> {
    let mut grounds = Vec::new();
    for name in catalog::scenario_names() {
        let scenario = catalog::scenario(&name)?;
        grounds.extend(servers.iter().map(|server| Ground {
            name: name.clone(),
            scenario: scenario.clone(),
            server: *server,
        }));
    }
    Ok(grounds)
}

/// Why no adapter can be asked for what the person does; none when it can.
#[must_use]
pub fn why_no_case(scenario: &Scenario) -> Option<String> {
    scenario.user.steps.iter().find_map(|step| match step.act {
        UserAct::Request(_) | UserAct::Reconnect | UserAct::Stall | UserAct::ReadOn => {
            Some(format!("an adapter can't be asked for a step of it: {step}"))
        }
        _ => None,
    })
}

/// Sweeps a scenario with an adapter.
///
/// # Errors
/// The scenario is none for an adapter, or the adapter does not pass it where nothing breaks.
pub fn sweep(ground: &Ground, subject: &Subject, wish: &Wish) -> Result<Swept, NotSwept> {
    if let Some(why) = why_no_case(&ground.scenario) {
        return Err(NotSwept::CanNot(why));
    }
    // The places are those of the reference in virtual time: what a server sends does not depend on who listens.
    let guide = Virtual::new(ground.clone(), Subject::Reference, wish.seed).map_err(NotSwept::CanNot)?;
    let unbroken = guide.play(&FaultPlan::default());
    if !unbroken.holds() {
        return Err(NotSwept::CanNot(format!("with the reference: {}", unbroken.words())));
    }
    let player = player_of(ground, subject, wish.seed)?;
    let own = player.play(&FaultPlan::default());
    if !own.holds() {
        return Err(NotSwept::Unbroken(own.words()));
    }
    let schedules = schedules_of(ground, &guide, &Course::of(unbroken.lines()), wish);
    Ok(run(ground, subject, player.as_ref(), &schedules, wish))
}

fn player_of(ground: &Ground, subject: &Subject, seed: u64) -> Result<Box<dyn Player>, NotSwept> {
    let made: Result<Box<dyn Player>, String> = match subject {
        Subject::Program { .. } => {
            Process::new(ground.clone(), subject.clone()).map(|player| Box::new(player) as Box<dyn Player>)
        }
        _ => Virtual::new(ground.clone(), subject.clone(), seed)
            .map(|player| Box::new(player) as Box<dyn Player>),
    };
    made.map_err(NotSwept::CanNot)
}

/// What is run, in order: what failed before, then the sweeps, then what is drawn.
fn schedules_of(ground: &Ground, guide: &Virtual, unbroken: &Course<'_>, wish: &Wish) -> Vec<Schedule> {
    if !wish.plans.is_empty() {
        let named = |(file, plan): &(PathBuf, FaultPlan)| Schedule::saved(file.clone(), plan.clone());
        return wish.plans.iter().map(named).collect();
    }
    let folder = wish.failing.as_deref();
    let saved = folder.map(|folder| keep::saved(folder, ground)).unwrap_or_default();
    let mut schedules: Vec<Schedule> =
        saved.into_iter().map(|(file, plan)| Schedule::saved(file, plan)).collect();
    let mut draws = ChaCha8Rng::seed_from_u64(wish.seed);
    let cut = |plan: &FaultPlan| guide.play(plan);
    for kind in [Kind::Cut, Kind::Fail, Kind::Lose].into_iter().filter(|kind| wish.wants(*kind)) {
        let all = match kind {
            Kind::Cut => schedule::cuts(unbroken),
            Kind::Fail => schedule::fails(unbroken, &cut),
            _ => schedule::losses(unbroken),
        };
        schedules.extend(sampled(all, wish.sample, &mut draws));
    }
    if wish.wants(Kind::Random) {
        schedules.extend(random::schedules(unbroken, wish.random, wish.seed));
    }
    schedules
}

/// Some of them, in their order.
fn sampled(all: Vec<Schedule>, most: Option<usize>, draws: &mut ChaCha8Rng) -> Vec<Schedule> {
    let Some(most) = most.filter(|most| *most < all.len()) else { return all };
    let (mut left, mut wanted) = (all.len(), most);
    let mut chosen = Vec::new();
    for schedule in all {
        if (draws.next_u64() % left as u64) < wanted as u64 {
            chosen.push(schedule);
            wanted -= 1;
        }
        left -= 1;
    }
    chosen
}

/// Plays all, several at once, and shrinks the first of each kind that fails.
fn run(
    ground: &Ground,
    subject: &Subject,
    player: &dyn Player,
    schedules: &[Schedule],
    wish: &Wish,
) -> Swept {
    let began = crate::clock::Stopwatch::start();
    let played = play_all(player, schedules);
    let seconds = began.seconds();
    let mut counts: Vec<KindCount> = Vec::new();
    let mut failing: Vec<Failing> = Vec::new();
    for (schedule, played) in schedules.iter().zip(&played) {
        let (holds, fired) = (played.holds(), played.shows(schedule.kind));
        let at = counts.iter().position(|count| count.kind == schedule.kind).unwrap_or_else(|| {
            counts.push(KindCount::of(schedule.kind));
            counts.len() - 1
        });
        let count = &mut counts[at];
        count.schedules += usize::from(fired);
        count.never_fired += usize::from(!fired);
        count.hold += usize::from(fired && holds);
        let is_first = !failing.iter().any(|known| known.kind == schedule.kind);
        if fired && !holds && (is_first || schedule.kind == Kind::Saved) {
            failing.push(shrunk(ground, subject, player, schedule, played, wish));
        }
    }
    let (scenario, server) = (ground.name.clone(), ground.server);
    Swept { scenario, server, adapter: subject.name(), counts, failing, seconds }
}

fn play_all(player: &dyn Player, schedules: &[Schedule]) -> Vec<Played> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(schedule) = schedules.get(at) else { return done };
            done.push((at, player.play(&schedule.plan).without_history()));
        }
    };
    let mut all: Vec<(usize, Played)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..player.at_once()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, played)| played).collect()
}

/// What is told of a schedule that fails: its shortest form, kept as a file.
fn shrunk(
    ground: &Ground,
    subject: &Subject,
    player: &dyn Player,
    schedule: &Schedule,
    played: &Played,
    wish: &Wish,
) -> Failing {
    // With its history, which was not kept; what was found once is told, also when it is not found again.
    let again = player.play(&schedule.plan);
    let mut best = if again.is_red_like(played) { again } else { played.clone() };
    let still_fails = |plan: &FaultPlan| {
        let again = player.play(plan);
        let is_same = again.shows(Kind::Random) && again.is_red_like(played);
        if is_same {
            best = again;
        }
        is_same
    };
    let (mut plan, runs) = shrink::shrink(&schedule.plan, player.most_runs(), still_fails);
    plan.scenario = Some(ground.name.clone());
    let folder = wish.failing.as_deref().filter(|_| schedule.kind != Kind::Saved);
    let file = match (folder, &schedule.file) {
        (Some(folder), _) => keep::save(folder, ground, subject, &plan, &best),
        (None, file) => file.clone().map(Ok).unwrap_or_else(|| Err("it is kept nowhere".to_owned())),
    };
    Failing { kind: schedule.kind, plan, file, red: best.red(), findings: best.findings(), runs }
}
