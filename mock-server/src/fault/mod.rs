//! Faults: small state machines on a connection. A frame goes in; it comes out, or other bytes, or the connection
//! breaks.
//!
//! One behaviour a file; its words are in `fixtures::fault_plan`. To add one: a variant of
//! [`fixtures::fault_plan::Action`], a file here, an arm in [`StreamFaults::frame`].

mod cut;
mod drop;
mod inject;
#[cfg(test)]
mod testing;

use crate::performer::Frame;
use bytes::{Bytes, BytesMut};
use fixtures::fault_plan::{Action, After, Fault, FaultPlan, StreamName};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A plan whose faults fire once each, whoever they hit; clones share it.
#[derive(Debug, Clone, Default)]
pub struct ArmedPlan {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    faults: Vec<(Fault, bool)>,
    /// How often each lane has connected to each stream.
    connections: BTreeMap<(String, &'static str), u32>,
}

/// The faults that may act on one connection.
#[derive(Debug)]
pub struct StreamFaults {
    plan: ArmedPlan,
    /// Number in the plan, from 1, and the fault.
    armed: Vec<(usize, Fault)>,
    seen: Seen,
}

/// What the server has sent on a connection so far: what a fault loses counts, what it adds does not.
#[derive(Debug, Default)]
struct Seen {
    events: u32,
    by_kind: BTreeMap<Arc<str>, u32>,
}

/// What becomes of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What goes out; nothing is possible.
    pub bytes: Bytes,
    /// Then the connection breaks.
    pub breaks: bool,
    /// The faults that acted, in order: number in the plan, from 1, and what it did, in words.
    pub fired: Vec<(usize, String)>,
}

/// What one fault makes of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Effect {
    /// This goes out before it.
    Before(Bytes),
    /// It does not go out.
    Lost,
    /// This goes out instead of it, and the connection breaks.
    Break(Bytes),
}

impl ArmedPlan {
    /// Arms a plan.
    #[must_use]
    pub fn new(plan: FaultPlan) -> Self {
        let faults = plan.faults.into_iter().map(|fault| (fault, false)).collect();
        Self { state: Arc::new(Mutex::new(State { faults, connections: BTreeMap::new() })) }
    }

    /// A lane connects to a stream: the faults that may act on this connection.
    #[must_use]
    pub fn connect(&self, lane: &str, stream: StreamName) -> StreamFaults {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = state.connections.entry((lane.to_owned(), stream.path())).or_default();
        *connection += 1;
        let connection = *connection;
        let meant = |fault: &Fault| {
            let when = &fault.when;
            when.stream == stream
                && when.connection == connection
                && when.lane.as_deref().is_none_or(|wanted| wanted == lane)
        };
        let armed = state
            .faults
            .iter()
            .enumerate()
            .filter(|(_, (fault, fired))| !fired && meant(fault))
            .map(|(at, (fault, _))| (at + 1, fault.clone()))
            .collect();
        StreamFaults { plan: self.clone(), armed, seen: Seen::default() }
    }

    /// The faults that have not fired, with their numbers. A test that relied on them has shown nothing.
    #[must_use]
    pub fn unfired(&self) -> Vec<(usize, Fault)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let unfired = state.faults.iter().enumerate().filter(|(_, (_, fired))| !fired);
        unfired.map(|(at, (fault, _))| (at + 1, fault.clone())).collect()
    }

    /// Fires a fault; `false` if another connection was faster.
    fn fire(&self, number: usize) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.faults.get_mut(number - 1).is_some_and(|(_, fired)| !std::mem::replace(fired, true))
    }
}

impl StreamFaults {
    /// Can anything still happen to this connection? Where nothing can, frames need not be told apart.
    #[must_use]
    pub fn may_act(&self) -> bool {
        !self.armed.is_empty()
    }

    /// The next frame of the connection.
    pub fn frame(&mut self, frame: &Frame) -> Outcome {
        if !self.may_act() {
            return Outcome { bytes: frame.bytes.clone(), breaks: false, fired: Vec::new() };
        }
        let mut before = BytesMut::new();
        let mut last = frame.bytes.clone();
        let (mut breaks, mut fired) = (false, Vec::new());
        for (number, fault) in &self.armed {
            let due = self.seen.is_due(&fault.when.after);
            let effect = match &fault.action {
                Action::Cut(place) => cut::act(*place, due, &self.seen, fault, frame).map(Effect::Break),
                Action::Inject(event) => due.then(|| Effect::Before(inject::frame(event))),
                Action::Drop(kind) => drop::hits(kind, due, frame).then_some(Effect::Lost),
            };
            let Some(effect) = effect.filter(|_| self.plan.fire(*number)) else { continue };
            fired.push((*number, fault.to_string()));
            match effect {
                Effect::Before(bytes) => before.extend_from_slice(&bytes),
                Effect::Lost => last = Bytes::new(),
                Effect::Break(bytes) => {
                    (last, breaks) = (bytes, true);
                    break;
                }
            }
        }
        self.armed.retain(|(number, _)| !fired.iter().any(|(fired, _)| fired == number));
        self.seen.count(frame);
        // A frame that nothing is put before is shared as it is.
        let bytes = if before.is_empty() {
            last
        } else {
            before.extend_from_slice(&last);
            before.freeze()
        };
        Outcome { bytes, breaks, fired }
    }
}

impl Seen {
    /// Has the event after which the fault acts been sent, before the frame at hand?
    fn is_due(&self, after: &After) -> bool {
        match after {
            After::Events(count) => self.events >= *count,
            After::Type(kind, nth) => self.by_kind.get(kind.as_str()).is_some_and(|seen| seen >= nth),
        }
    }

    /// Would it have been sent once this frame has been?
    fn is_due_with(&self, after: &After, frame: &Frame) -> bool {
        match after {
            After::Events(count) => self.events + 1 >= *count,
            After::Type(kind, nth) => {
                *frame.kind == **kind
                    && self.by_kind.get(&frame.kind).copied().unwrap_or_default() + 1 >= *nth
            }
        }
    }

    fn count(&mut self, frame: &Frame) {
        self.events += 1;
        *self.by_kind.entry(frame.kind.clone()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::fault_plan::StreamName::Event;
    use std::path::Path;

    /// A plan that cuts before any frame of a connection that `when` means.
    fn plan(when: &str) -> ArmedPlan {
        let text = format!(
            "[[fault]]\nwhen = {{ stream = \"event\", after_events = 0{when} }}\ndo = {{ cut = \"between-frames\" }}\n"
        );
        ArmedPlan::new(FaultPlan::parse(Path::new("p"), &text).unwrap())
    }

    fn is_cut(connection: &mut StreamFaults) -> bool {
        connection.frame(&Frame { kind: Arc::from("a"), bytes: Bytes::from("<a>") }).breaks
    }

    #[test]
    fn only_the_connection_that_is_meant_is_hit() {
        let plan = plan(", connection = 2");
        let mut connections = [1, 2, 3].map(|_| plan.connect("phone", Event));
        // The third one is asked first, while the fault is still armed.
        connections.reverse();
        assert_eq!(connections.each_mut().map(is_cut), [false, true, false]);
    }

    #[test]
    fn only_the_lane_and_the_stream_that_are_meant_are_hit() {
        let plan = plan(", lane = \"phone\"");
        let connections = [("desk", Event), ("phone", StreamName::GlobalEvent), ("phone", Event)];
        let hit = connections.map(|(lane, stream)| is_cut(&mut plan.connect(lane, stream)));
        assert_eq!(hit, [false, false, true]);
    }

    #[test]
    fn a_fault_that_may_hit_several_connections_hits_one() {
        let plan = plan("");
        let mut connections = ["desk", "phone"].map(|lane| plan.connect(lane, Event));
        assert_eq!(connections.each_mut().map(is_cut), [true, false]);
        assert!(!is_cut(&mut plan.connect("tablet", Event)));
        assert_eq!(plan.unfired(), []);
    }
}
