//! Requests, connections and times: which faults of a plan act on them, and what happens at the server.

use super::{Armed, ArmedPlan, Arrival, Struck};
use crate::fault::{Facts, Fired, Moment};
use fixtures::fault_plan::action::{Door, DoorWord, Stage};
use fixtures::fault_plan::{Action, Fault, Scene};

impl ArmedPlan {
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
        self.strike(lane, facts, means, |action| match action {
            Action::Stale(_) => has_last,
            // A stream that is there has no answer of its own.
            Action::Truncate(_) | Action::Retype(_) => !is_stream,
            Action::Status(status) => !(is_stream && status.performed),
            _ => true,
        })
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
        let mut state = self.state();
        // What sets a fault off is not what the one acts on that follows it.
        let turns: Vec<bool> = (0..state.faults.len()).map(|at| state.is_its_turn(at)).collect();
        for (at, armed) in state.faults.iter_mut().enumerate().filter(|(at, _)| turns[*at]) {
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
pub(in crate::fault) fn moment(fault: &Fault, asked: Option<String>) -> Option<Moment> {
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
