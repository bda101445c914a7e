//! A plan that is armed: which faults there are, how often each has acted, and which may act on what.

mod striking;

pub(super) use striking::moment;

use super::frames::StreamFaults;
use super::{Facts, Fired, Moment};
use fixtures::fault_plan::action::Stage;
use fixtures::fault_plan::{Action, Fault, FaultPlan, Scene, StreamName, Times};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No more faults wait at once: who arms more has forgotten to disarm.
pub const FAULTS_MAX: usize = 10_000;

/// No more are remembered, those that are over included.
const REMEMBERED_MAX: usize = 10 * FAULTS_MAX;

/// Why no more faults are armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooMany {
    /// Too many wait.
    #[error("more than {FAULTS_MAX} faults would be armed; disarm those that are old")]
    Wait,
    /// Too many have been.
    #[error("more than {REMEMBERED_MAX} faults would be remembered; reset all, which forgets them")]
    Remembered,
}

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
    /// Its time is over.
    pub is_expired: bool,
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
            && !self.is_expired(facts.now_ms)
            && when.during.is_none_or(|during| (facts.holds)(during))
    }

    fn is_expired(&self, now_ms: u64) -> bool {
        let passed = now_ms.saturating_sub(self.armed_at_ms);
        self.fault.when.until_ms.is_some_and(|until| passed >= until)
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
    /// May a fault act that may have to wait for the one before it?
    fn is_its_turn(&self, at: usize) -> bool {
        let waits = self.faults.get(at).is_some_and(|armed| armed.fault.when.follows);
        let before = at.checked_sub(1).and_then(|before| self.faults.get(before));
        !waits || before.is_some_and(|before| before.fired > 0)
    }

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
            armed.add(&mut armed.state(), plan.faults, 0);
        }
        armed
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Arms more faults; returns the number of each.
    pub fn arm(&self, faults: Vec<Fault>, now_ms: u64) -> Result<Vec<usize>, TooMany> {
        let mut state = self.state();
        let count = state.faults.len() + faults.len();
        if count > FAULTS_MAX
            && state.faults.iter().filter(|armed| !armed.is_spent()).count() + faults.len() > FAULTS_MAX
        {
            return Err(TooMany::Wait);
        }
        if count > REMEMBERED_MAX {
            return Err(TooMany::Remembered);
        }
        Ok(self.add(&mut state, faults, now_ms))
    }

    fn add(&self, state: &mut State, faults: Vec<Fault>, now_ms: u64) -> Vec<usize> {
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
    pub fn standings(&self, now_ms: u64) -> Vec<Standing> {
        let state = self.state();
        let standing = |(at, armed): (usize, &Armed)| Standing {
            number: at + 1,
            fault: armed.fault.clone(),
            fired: armed.fired,
            is_disarmed: armed.is_disarmed,
            is_expired: armed.is_expired(now_ms),
        };
        state.faults.iter().enumerate().map(standing).collect()
    }

    /// The faults that have not acted, with their numbers. A test that relied on them has shown nothing.
    #[must_use]
    pub fn unfired(&self) -> Vec<(usize, Fault)> {
        let standings = self.standings(0).into_iter();
        standings
            .filter(|standing| standing.fired == 0 && !standing.is_disarmed)
            .map(|standing| (standing.number, (*standing.fault).clone()))
            .collect()
    }

    /// Has a fault of this number ever been armed?
    #[must_use]
    pub fn knows(&self, number: usize) -> bool {
        (1..=self.state().faults.len()).contains(&number)
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

    /// Does something happen at the server as soon as some event has been sent?
    #[must_use]
    pub fn strike_between_events(&self) -> bool {
        let strikes = |armed: &Armed| {
            matches!(armed.fault.when.scene, Scene::Stream { .. })
                && armed.fault.action.stage() == Stage::Anywhere
                && !armed.is_disarmed
        };
        !self.is_empty() && self.state().faults.iter().any(strikes)
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

    /// May it act that may have to wait for the one before it?
    pub(super) fn is_its_turn(&self, number: usize) -> bool {
        self.state().is_its_turn(number - 1)
    }

    /// Can it not act any more, whatever comes?
    pub(super) fn is_spent(&self, number: usize) -> bool {
        self.state().faults.get(number - 1).is_none_or(Armed::is_spent)
    }
}
