//! What faults do to the frames of one connection. A frame goes in; beats come out.
//!
//! All is decided when the server sends the frame, not when it is written: so the same requests lead to the same bytes,
//! and frames that nothing has touched are joined when they are written.
//!
//! The order: first what the connection has been told to do from some place on (a dialect, ids, heartbeats), then the
//! plan's faults in the order of the plan, each on what the one before has left.

mod change;
mod cut;
mod dialect;
mod ids;
mod lines;
mod modes;
mod names;
mod passing;
#[cfg(test)]
mod tests;

pub(crate) use change::at;

use super::plan::{ArmedPlan, moment};
use super::{Ending, Facts, Fired, Moment};
use crate::performer::Frame;
use bytes::Bytes;
use fixtures::fault_plan::action::{SplitAt, Stage};
use fixtures::fault_plan::{Action, Fault, Match, Point, Scene, StreamName};
use fixtures::sse;
use modes::Modes;
use names::Names;
use passing::Passing;
use serde_json::Value;
use std::sync::Arc;

/// What a connection does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beat {
    /// Writes a frame; those that wait behind it may go with it.
    Frame(Bytes),
    /// Writes exactly this, as one chunk.
    Chunk(Bytes),
    /// Waits for so many milliseconds.
    Pause(u64),
    /// Sends a heartbeat every so many milliseconds from now on.
    BeatEvery(u64),
    /// Ends.
    End(Ending),
}

/// What becomes of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What the connection does.
    pub beats: Vec<Beat>,
    /// What it does so many milliseconds later, whatever else it does.
    pub later: Vec<(u64, Bytes)>,
    /// What acted, in order.
    pub fired: Vec<Fired>,
    /// What happens at the server.
    pub moments: Vec<Moment>,
}

/// The faults that may act on one connection.
#[derive(Debug)]
pub struct StreamFaults {
    plan: ArmedPlan,
    lane: Arc<str>,
    stream: StreamName,
    connection: u32,
    /// How often the plan had changed when the watches were made.
    changes: u64,
    watches: Vec<Watch>,
    modes: Modes,
    /// What the stream has told of, if a fault speaks of it.
    names: Names,
    wants_names: bool,
    /// Frames that are sent behind others: how many more must pass.
    held: Vec<(u32, Bytes)>,
    /// Frames that are sent together, and how many are still missing.
    merging: Option<(u32, Vec<u8>)>,
}

/// A fault that may act, and what it has seen of the connection.
#[derive(Debug)]
struct Watch {
    number: usize,
    fault: Arc<Fault>,
    seen: u32,
}

/// How a trigger stands with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    No,
    /// It acts on this frame.
    Now,
    /// It acts as soon as this frame has been sent.
    Behind,
}

impl StreamFaults {
    pub(super) fn new(plan: ArmedPlan, lane: &str, stream: StreamName, connection: u32) -> Self {
        let mut faults = Self {
            changes: 0,
            lane: Arc::from(lane),
            stream,
            connection,
            watches: Vec::new(),
            modes: Modes::default(),
            names: Names::default(),
            wants_names: false,
            held: Vec::new(),
            merging: None,
            plan,
        };
        faults.catch_up();
        faults
    }

    /// The lane.
    #[must_use]
    pub fn lane(&self) -> &Arc<str> {
        &self.lane
    }

    /// Faults may have been armed since; a watch that is there goes on as it was.
    fn catch_up(&mut self) {
        let changes = self.plan.changes();
        if changes == self.changes {
            return;
        }
        self.changes = changes;
        let armed = self.plan.of_connection(&self.lane, self.stream, self.connection);
        let mut watches = std::mem::take(&mut self.watches);
        let known = armed.into_iter().map(|(number, fault)| {
            let watched = watches.iter_mut().find(|watch| watch.number == number);
            Watch { number, fault, seen: watched.map_or(0, |watch| watch.seen) }
        });
        self.watches = known.collect();
        self.wants_names =
            self.watches.iter().any(|watch| names::are_needed(&watch.fault.action, self.stream));
    }

    /// Is nothing under way that a frame could change?
    fn is_at_rest(&self) -> bool {
        self.modes.is_empty() && self.held.is_empty() && self.merging.is_none()
    }

    /// The next frame of the connection; `None` when nothing touches it.
    pub fn frame(&mut self, frame: &Frame, facts: &Facts<'_>) -> Option<Outcome> {
        self.catch_up();
        let names_somebody = self.wants_names || names::begin_with(frame);
        if self.is_at_rest() && !names_somebody && self.watches.iter().all(|watch| watch.ignores(frame)) {
            return None;
        }
        let mut passing = Passing::new(frame, self.stream);
        self.modes.apply(&mut passing);
        if names_somebody {
            self.names.note(&passing);
        }
        let mut outcome = Outcome::default();
        let mut watches = std::mem::take(&mut self.watches);
        let waiting: Vec<usize> = self.waiting(&watches);
        for watch in watches.iter_mut().filter(|watch| !waiting.contains(&watch.number)) {
            if passing.end.is_some() {
                break;
            }
            let due = watch.due(&mut passing);
            if due != Due::No && self.act(watch, due, &mut passing, facts) {
                outcome.fired.push(Fired { fault: watch.number, did: watch.fault.to_string() });
                outcome.moments.extend(moment(&watch.fault, passing.asked_permission()));
            }
        }
        let has_fired = |number: usize| outcome.fired.iter().any(|fired| fired.fault == number);
        watches.retain(|watch| !has_fired(watch.number) || !self.plan.is_spent(watch.number));
        let counting = watches.iter_mut().filter(|watch| !waiting.contains(&watch.number));
        counting.for_each(|watch| watch.count(&mut passing));
        self.watches = watches;
        if outcome.fired.is_empty() && self.is_at_rest() {
            return None;
        }
        outcome.later = std::mem::take(&mut passing.later);
        outcome.beats = self.beats(passing);
        Some(outcome)
    }

    /// Which of them wait for the fault before them.
    fn waiting(&self, watches: &[Watch]) -> Vec<usize> {
        let waits = |watch: &&Watch| watch.fault.when.follows && !self.plan.is_its_turn(watch.number);
        watches.iter().filter(waits).map(|watch| watch.number).collect()
    }

    /// Does a fault act on the frame? What can't be done to it is not done, and the fault waits.
    fn act(&mut self, watch: &Watch, due: Due, passing: &mut Passing<'_>, facts: &Facts<'_>) -> bool {
        let fault = watch.fault.clone();
        if !self.can(&fault.action, passing) || !self.plan.fire(watch.number, facts) {
            return false;
        }
        match &fault.action {
            Action::Cut(cut) => cut::act(cut, due, passing),
            Action::Inject(inject) => {
                let event = self.names.filled(&inject.event, passing.session()).unwrap_or_default();
                let event = self.names.wrapped(filled_up(event, inject.size), self.stream);
                passing.put(Bytes::from(sse::encode(&event.to_string())), due);
            }
            Action::Raw(raw) => passing.put(Bytes::from(raw.bytes.clone()), due),
            Action::Drop(_) => passing.bytes = None,
            Action::Duplicate(duplicate) => passing.copies += duplicate.duplicate,
            Action::Hold(hold) => {
                let bytes = passing.bytes.take().unwrap_or_default();
                // Its own frame passes, too.
                self.held.push((hold.hold + 1, bytes));
            }
            Action::HoldFor(hold) => {
                let bytes = passing.bytes.take().unwrap_or_default();
                passing.later.push((hold.hold_ms, bytes));
            }
            Action::Stall(stall) => passing.pause(stall.stall_ms, due),
            Action::Change(change) => {
                let names = &self.names;
                let session = passing.session().map(str::to_owned);
                passing.alter(|event| {
                    change::act(change, event, |value| names.filled(value, session.as_deref()));
                });
            }
            Action::Split(split) => {
                passing.places = match &split.split {
                    SplitAt::Every(bytes) => passing.every(bytes.get() as usize),
                    SplitAt::At(places) => places.iter().map(|at| *at as usize).collect(),
                };
            }
            Action::Drip(drip) => {
                passing.places = passing.every(drip.drip as usize);
                passing.pause_between = Some(drip.every_ms);
            }
            Action::Merge(merge) => {
                self.merging.get_or_insert((merge.merge, Vec::new()));
            }
            Action::LineEnds(ends) => lines::end_with(ends.line_ends, passing),
            Action::AddLine(line) => lines::add(&line.add_line, passing),
            Action::Rewrite(rewrite) => lines::rewrite(rewrite.rewrite, passing),
            Action::Ids(ids) => self.modes.number(ids.ids, passing),
            Action::Dialect(dialect) => self.modes.speak(dialect.dialect, passing),
            Action::Heartbeat(heartbeat) => self.modes.beat(heartbeat.heartbeat, passing),
            // They happen at the server or have no place on a stream.
            _ => {}
        }
        true
    }

    /// Is there what the action needs?
    fn can(&self, action: &Action, passing: &mut Passing<'_>) -> bool {
        match action {
            Action::Drop(drop) => {
                passing.bytes.is_some() && (drop.drop == "*" || *drop.drop == *passing.frame.kind)
            }
            Action::Cut(cut) => cut::can(cut, passing),
            Action::Change(change) => {
                let of = passing.session();
                change.change.values().all(|value| self.names.filled(value, of).is_some())
                    && passing.said().is_some_and(|event| change::can(change, &event))
            }
            Action::Inject(inject) => self.names.filled(&inject.event, passing.session()).is_some(),
            Action::Raw(_) | Action::Stall(_) => true,
            Action::Ids(_) | Action::Dialect(_) | Action::Heartbeat(_) => !self.modes.have(action),
            Action::Split(split) => match &split.split {
                SplitAt::Every(bytes) => !passing.every(bytes.get() as usize).is_empty(),
                SplitAt::At(places) => {
                    let length = passing.bytes.as_ref().map_or(0, Bytes::len);
                    places.iter().any(|at| (1..length).contains(&(*at as usize)))
                }
            },
            action if action.stage() == Stage::Frames => passing.bytes.is_some(),
            _ => true,
        }
    }

    /// What is written, in order.
    fn beats(&mut self, passing: Passing<'_>) -> Vec<Beat> {
        let is_ending = passing.end.is_some();
        let mut beats = passing.into_beats();
        let mut due = Vec::new();
        self.held.retain_mut(|(left, bytes)| {
            *left -= 1;
            if *left == 0 {
                due.push(Beat::Frame(std::mem::take(bytes)));
            }
            *left > 0
        });
        if !is_ending {
            beats.extend(due);
        }
        let Some((left, together)) = &mut self.merging else { return beats };
        let mut others = Vec::new();
        for beat in beats {
            match beat {
                Beat::Frame(bytes) | Beat::Chunk(bytes) => together.extend_from_slice(&bytes),
                other => others.push(other),
            }
        }
        *left -= 1;
        if *left == 0 || is_ending {
            let chunk = Bytes::from(std::mem::take(together));
            self.merging = None;
            if !chunk.is_empty() {
                others.insert(0, Beat::Chunk(chunk));
            }
        }
        others
    }
}

impl Watch {
    fn point(&self) -> Option<&Point> {
        match &self.fault.when.scene {
            Scene::Stream { point, .. } => Some(point),
            _ => None,
        }
    }

    /// Is this an event of another type than it waits for, and has it still to wait? Then there is nothing to look at.
    fn ignores(&self, frame: &Frame) -> bool {
        let (matched, still_waits) = match self.point() {
            Some(Point::At(matched, _)) => (matched, true),
            Some(Point::AfterMatch(matched, nth)) => (matched, self.seen < *nth),
            Some(Point::After(_)) => return false,
            None => return true,
        };
        still_waits && matched.kind != "*" && *matched.kind != *frame.kind
    }

    /// Some act as soon as the event has been sent that they wait for, and not when another one comes: there may be none.
    fn acts_behind(&self) -> bool {
        use fixtures::fault_plan::action::{Cut, CutPlace};
        match &self.fault.action {
            Action::Cut(Cut { place, .. }) => *place == CutPlace::BetweenFrames,
            Action::Inject(_) | Action::Raw(_) | Action::Stall(_) => true,
            action => action.stage() == Stage::Anywhere,
        }
    }

    fn due(&self, passing: &mut Passing<'_>) -> Due {
        let (seen_before, matches, wanted) = match self.point() {
            Some(Point::After(count)) => (self.seen, true, *count),
            Some(Point::AfterMatch(matched, nth)) => (self.seen, fits(matched, passing), *nth),
            Some(Point::At(matched, nth)) => {
                let is_it = fits(matched, passing) && self.seen + 1 >= *nth;
                return if is_it { Due::Now } else { Due::No };
            }
            None => return Due::No,
        };
        if seen_before >= wanted {
            return Due::Now;
        }
        let completes = matches && seen_before + 1 >= wanted;
        if completes && self.acts_behind() { Due::Behind } else { Due::No }
    }

    fn count(&mut self, passing: &mut Passing<'_>) {
        let counts = match self.point() {
            Some(Point::After(_)) => true,
            Some(Point::AfterMatch(matched, _) | Point::At(matched, _)) => fits(matched, passing),
            None => false,
        };
        self.seen = self.seen.saturating_add(u32::from(counts));
    }
}

/// Is this the event that is meant, as the server sent it?
fn fits(matched: &Match, passing: &mut Passing<'_>) -> bool {
    if matched.kind != "*" && *matched.kind != *passing.frame.kind {
        return false;
    }
    matched.fields.is_empty()
        || passing.sent().is_some_and(|event| {
            matched.fields.iter().all(|(path, value)| change::at(event, path) == Some(value))
        })
}

/// An event that has so many bytes at least.
fn filled_up(mut event: Value, size: Option<u32>) -> Value {
    let short = size.map_or(0, |size| (size as usize).saturating_sub(event.to_string().len()));
    if short > 0 {
        let filling = Value::String("x".repeat(short));
        let place = if event["properties"].is_object() { &mut event["properties"] } else { &mut event };
        place["filling"] = filling;
    }
    event
}
