//! A plan that is armed: which faults there are, how often each has acted, and which may act on what.

use super::frames::StreamFaults;
use super::{Facts, Fired, Moment};
use fixtures::fault_plan::action::{Door, DoorWord, Stage};
use fixtures::fault_plan::{Action, Fault, FaultPlan, Scene, StreamName, Times};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A plan is no longer than this: who arms more has forgotten to disarm.
pub const FAULTS_MAX: usize = 10_000;

/// The faults of a stand-in; clones share them.
#[derive(Debug, Clone, Default)]
pub struct ArmedPlan {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Counts what is armed and disarmed, so that connections see it without asking.
    changes: AtomicU64,
    state: Mutex<State>,
}

/// More sessions are not told apart.
const NAMED_MAX: usize = 1000;

#[derive(Debug, Default)]
struct State {
    faults: Vec<Armed>,
    /// How often each lane has connected to each stream.
    connections: BTreeMap<(String, &'static str), u32>,
    /// The sessions that requests have named, in the order of their first.
    named: Vec<String>,
}

#[derive(Debug)]
struct Armed {
    fault: Arc<Fault>,
    armed_at_ms: u64,
    fired: u32,
    /// How many requests or connections it has seen that it waits for.
    seen: u32,
    is_disarmed: bool,
}

/// How a fault stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its number in the plan, from 1.
    pub number: usize,
    /// What it is.
    pub fault: Arc<Fault>,
    /// How often it has acted.
    pub fired: u32,
    /// Nobody waits for it any more.
    pub is_disarmed: bool,
}

/// A request that arrives.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The client.
    pub lane: &'a str,
    /// Its method.
    pub method: &'a str,
    /// Its path.
    pub path: &'a str,
    /// Is it for an event stream?
    pub is_stream: bool,
    /// Is the answer of the time before remembered?
    pub has_last: bool,
}

/// What happens to a request, in the order of the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Struck {
    /// What acts on its answer, with its number.
    pub actions: Vec<(usize, Action)>,
    /// What happens at the server.
    pub moments: Vec<Moment>,
    /// What is to be told.
    pub fired: Vec<Fired>,
}

impl Armed {
    fn may_fire(&self, facts: &Facts<'_>) -> bool {
        let passed = facts.now_ms.saturating_sub(self.armed_at_ms);
        let when = &self.fault.when;
        let is_left = match when.times {
            Times::Count(count) => self.fired < count,
            Times::Always => true,
        };
        !self.is_disarmed
            && is_left
            && when.from_ms.is_none_or(|from| passed >= from)
            && when.until_ms.is_none_or(|until| passed < until)
            && when.during.is_none_or(|during| (facts.holds)(during))
    }

    fn fires(&mut self, facts: &Facts<'_>) -> bool {
        let fires = self.may_fire(facts);
        self.fired += u32::from(fires);
        fires
    }

    fn is_spent(&self) -> bool {
        self.is_disarmed || matches!(self.fault.when.times, Times::Count(count) if self.fired >= count)
    }

    fn means_lane(&self, lane: &str) -> bool {
        self.fault.when.lane.as_deref().is_none_or(|wanted| wanted == lane)
    }
}

impl State {
    /// Which session a path names, counted from 1 in the order in which requests named them.
    fn session_of(&mut self, path: &str) -> Option<u32> {
        let id = path.split('/').find(|part| part.starts_with("ses_"))?;
        if let Some(at) = self.named.iter().position(|known| known == id) {
            return u32::try_from(at + 1).ok();
        }
        // Ids that nobody has can be made up for ever.
        if self.named.len() == NAMED_MAX {
            return None;
        }
        self.named.push(id.to_owned());
        u32::try_from(self.named.len()).ok()
    }
}

impl ArmedPlan {
    /// Arms a plan at the beginning.
    #[must_use]
    pub fn new(plan: FaultPlan) -> Self {
        let armed = Self::default();
        if !plan.faults.is_empty() {
            armed.arm(plan.faults, 0);
        }
        armed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Arms more faults; returns the number of each, or nothing when there are too many.
    pub fn arm(&self, faults: Vec<Fault>, now_ms: u64) -> Vec<usize> {
        let mut state = self.state();
        if state.faults.len() + faults.len() > FAULTS_MAX {
            return Vec::new();
        }
        let first = state.faults.len() + 1;
        let numbers = (first..first + faults.len()).collect();
        state.faults.extend(faults.into_iter().map(|fault| Armed {
            fault: Arc::new(fault),
            armed_at_ms: now_ms,
            fired: 0,
            seen: 0,
            is_disarmed: false,
        }));
        self.shared.changes.fetch_add(1, Ordering::Release);
        numbers
    }

    /// Lets a fault act no more; `false` when there is none of this number.
    pub fn disarm(&self, number: usize) -> bool {
        let mut state = self.state();
        let armed = number.checked_sub(1).and_then(|at| state.faults.get_mut(at));
        let is_there = armed.map(|armed| armed.is_disarmed = true).is_some();
        self.shared.changes.fetch_add(1, Ordering::Release);
        is_there
    }

    /// Lets all faults act no more.
    pub fn disarm_all(&self) {
        self.state().faults.iter_mut().for_each(|armed| armed.is_disarmed = true);
        self.shared.changes.fetch_add(1, Ordering::Release);
    }

    /// Forgets all faults and how often anybody has connected: what is armed next is number 1 again.
    pub fn clear(&self) {
        *self.state() = State::default();
        self.shared.changes.fetch_add(1, Ordering::Release);
    }

    /// How all faults stand.
    #[must_use]
    pub fn standings(&self) -> Vec<Standing> {
        let state = self.state();
        let standing = |(at, armed): (usize, &Armed)| Standing {
            number: at + 1,
            fault: armed.fault.clone(),
            fired: armed.fired,
            is_disarmed: armed.is_disarmed,
        };
        state.faults.iter().enumerate().map(standing).collect()
    }

    /// The faults that have not acted and still could, with their numbers. A test that relied on them has shown nothing.
    #[must_use]
    pub fn unfired(&self) -> Vec<(usize, Fault)> {
        let standings = self.standings().into_iter();
        standings
            .filter(|standing| standing.fired == 0 && !standing.is_disarmed)
            .map(|standing| (standing.number, (*standing.fault).clone()))
            .collect()
    }

    /// Has it acted?
    #[must_use]
    pub fn has_fired(&self, number: usize) -> bool {
        let state = self.state();
        number.checked_sub(1).and_then(|at| state.faults.get(at)).is_some_and(|armed| armed.fired > 0)
    }

    /// Has nothing ever been armed?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.changes.load(Ordering::Acquire) == 0
    }

    /// Does a fault wait that answers as the time before?
    #[must_use]
    pub fn wants_last_answers(&self) -> bool {
        let is_stale = |armed: &Armed| matches!(armed.fault.action, Action::Stale(_)) && !armed.is_spent();
        !self.is_empty() && self.state().faults.iter().any(is_stale)
    }

    /// How often the plan has changed.
    pub(super) fn changes(&self) -> u64 {
        self.shared.changes.load(Ordering::Acquire)
    }

    /// A lane connects to a stream: the faults that may act on this connection.
    #[must_use]
    pub fn connect(&self, lane: &str, stream: StreamName) -> StreamFaults {
        let connection = {
            let mut state = self.state();
            let connection = state.connections.entry((lane.to_owned(), stream.path())).or_default();
            *connection += 1;
            *connection
        };
        StreamFaults::new(self.clone(), lane, stream, connection)
    }

    /// The faults that may act on a connection.
    pub(super) fn of_connection(&self, lane: &str, of: StreamName, number: u32) -> Vec<(usize, Arc<Fault>)> {
        let state = self.state();
        let meant = |armed: &Armed| match &armed.fault.when.scene {
            Scene::Stream { stream, connection, .. } => {
                armed.means_lane(lane)
                    && !armed.is_spent()
                    && stream.is_none_or(|stream| stream == of)
                    && connection.is_none_or(|connection| connection == number)
            }
            _ => false,
        };
        let faults = state.faults.iter().enumerate().filter(|(_, armed)| meant(armed));
        faults.map(|(at, armed)| (at + 1, armed.fault.clone())).collect()
    }

    /// A fault acts, if it still may.
    pub(super) fn fire(&self, number: usize, facts: &Facts<'_>) -> bool {
        self.state().faults.get_mut(number - 1).is_some_and(|armed| armed.fires(facts))
    }

    /// Can it not act any more, whatever comes?
    pub(super) fn is_spent(&self, number: usize) -> bool {
        self.state().faults.get(number - 1).is_none_or(Armed::is_spent)
    }

    /// A request arrives: what happens to it. What can't be done to its answer is not done, and the fault waits.
    #[must_use]
    pub fn request(&self, arrival: &Arrival<'_>, facts: &Facts<'_>) -> Struck {
        let Arrival { lane, method, path, is_stream, has_last } = *arrival;
        let named = self.state().session_of(path);
        let is_of = |wanted: &Option<u32>| wanted.is_none() || *wanted == named;
        let means = |fault: &Fault| match &fault.when.scene {
            Scene::Request { route, session, nth } => {
                (route.means(method, path, is_stream) && is_of(session)).then_some(*nth)
            }
            _ => None,
        };
        self.strike(lane, facts, means, |action| has_last || !matches!(action, Action::Stale(_)))
    }

    /// Somebody connects: what happens at the door.
    #[must_use]
    pub fn accept(&self, lane: &str, facts: &Facts<'_>) -> (Option<DoorWord>, Struck) {
        let means = |fault: &Fault| match &fault.when.scene {
            Scene::Accept { nth } => Some(*nth),
            _ => None,
        };
        let struck = self.strike(lane, facts, means, |_| true);
        let door = struck.actions.iter().find_map(|(_, action)| match action {
            Action::Door(Door { door }) => Some(*door),
            _ => None,
        });
        (door, struck)
    }

    /// Time has passed: what is due by it alone.
    #[must_use]
    pub fn time(&self, facts: &Facts<'_>) -> Struck {
        self.strike_where(facts, |armed| armed.fault.when.scene == Scene::Time)
    }

    /// When faults are due by time alone that have not acted yet, in milliseconds since the stand-in began.
    #[must_use]
    pub fn due_times(&self) -> Vec<u64> {
        let state = self.state();
        let timed = state.faults.iter().filter(|armed| armed.fault.when.scene == Scene::Time);
        let waiting = timed.filter(|armed| !armed.is_spent());
        let due =
            |armed: &Armed| armed.armed_at_ms.saturating_add(armed.fault.when.from_ms.unwrap_or_default());
        waiting.map(due).collect()
    }

    /// `means` has the number of the first that is meant, `can` whether there is what an action needs.
    fn strike(
        &self,
        lane: &str,
        facts: &Facts<'_>,
        means: impl Fn(&Fault) -> Option<u32>,
        can: impl Fn(&Action) -> bool,
    ) -> Struck {
        self.strike_where(facts, |armed| {
            let Some(nth) = means(&armed.fault).filter(|_| armed.means_lane(lane)) else {
                return false;
            };
            armed.seen = armed.seen.saturating_add(1);
            armed.seen >= nth && can(&armed.fault.action)
        })
    }

    fn strike_where(&self, facts: &Facts<'_>, mut is_meant: impl FnMut(&mut Armed) -> bool) -> Struck {
        let mut struck = Struck::default();
        for (at, armed) in self.state().faults.iter_mut().enumerate() {
            if armed.is_spent() || !is_meant(armed) || !armed.fires(facts) {
                continue;
            }
            struck.fired.push(Fired { fault: at + 1, did: armed.fault.to_string() });
            match moment(&armed.fault, None) {
                Some(moment) => struck.moments.push(moment),
                None => struck.actions.push((at + 1, armed.fault.action.clone())),
            }
        }
        struck
    }
}

/// What a fault does at the server, if that is what it does; `asked` is the permission of the event at hand.
pub(super) fn moment(fault: &Fault, asked: Option<String>) -> Option<Moment> {
    debug_assert_eq!(
        fault.action.stage() == Stage::Anywhere,
        matches!(
            fault.action,
            Action::Refuse(_) | Action::Password(_) | Action::Restart(_) | Action::Reply(_)
        )
    );
    match &fault.action {
        Action::Refuse(refuse) => Some(Moment::Refuse(fault.when.lane.clone(), refuse.clone())),
        Action::Password(password) => Some(Moment::Password(password.password.clone())),
        Action::Restart(restart) => Some(Moment::Restart(restart.clone())),
        Action::Reply(reply) => Some(Moment::Reply(reply.clone(), asked)),
        _ => None,
    }
}
