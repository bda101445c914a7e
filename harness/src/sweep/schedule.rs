//! Which schedules a scenario has: every place where its stream can be cut, every answer of a rehydration that can fail,
//! every event that can be lost. They are read off a run in which nothing breaks: up to its fault a schedule is that run.

use super::player::Played;
use crate::course::{Course, Exchange};
use fixtures::fault_plan::action::{
    Cut, CutEnd, CutPlace, Drop, Hang, LineEnd, LineEnds, ResetAt, Side, Status, Truncate,
};
use fixtures::fault_plan::{Action, Fault, FaultPlan, Point, Route, Scene, StreamName, Trigger};
use fixtures::recording::Line;
use parity_specs::case::ADAPTER_LANE;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A plan that failed before.
    Saved,
    /// The stream is cut.
    Cut,
    /// An answer of a rehydration fails.
    Fail,
    /// An event is lost.
    Lose,
    /// Several faults, drawn from a seed.
    Random,
}

impl std::str::FromStr for Kind {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let kinds = [Self::Cut, Self::Fail, Self::Lose, Self::Random];
        let known = kinds.map(|kind| kind.to_string());
        let at = known.iter().position(|known| known == word);
        at.map(|at| kinds[at]).ok_or_else(|| {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            fixtures::near_names::unknown("kind of schedules", word, &known)
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Saved => "saved",
            Self::Cut => "cut",
            Self::Fail => "fail",
            Self::Lose => "lose",
            Self::Random => "random",
        })
    }
}

/// One plan of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Of what kind.
    pub kind: Kind,
    /// What breaks.
    pub plan: FaultPlan,
    /// The file that has it.
    pub file: Option<PathBuf>,
}

impl Schedule {
    pub(super) fn of(kind: Kind, faults: Vec<Fault>) -> Self {
        Self { kind, plan: FaultPlan { faults, ..FaultPlan::default() }, file: None }
    }

    pub(super) fn saved(file: PathBuf, plan: FaultPlan) -> Self {
        Self { kind: Kind::Saved, plan, file: Some(file) }
    }
}

/// At the frame after so many on the adapter's first connection.
pub(super) fn at_frame(count: usize, action: Action) -> Fault {
    let point = Point::After(u32::try_from(count).unwrap_or(u32::MAX));
    let scene = Scene::Stream { stream: None, connection: Some(1), point };
    fault(scene, action)
}

pub(super) fn fault(scene: Scene, action: Action) -> Fault {
    let lane = Some(ADAPTER_LANE.to_owned());
    let when = Trigger { lane, scene, ..Trigger::at_once() };
    Fault { when, action }
}

/// The frames of the adapter's first connection, as they were sent.
#[must_use]
pub fn frames(unbroken: &Course<'_>) -> Vec<Vec<u8>> {
    let opened = unbroken.lines.iter().find_map(|line| match line {
        Line::Request(request)
            if request.lane.as_deref() == Some(ADAPTER_LANE)
                && StreamName::from_path(&request.path).is_some() =>
        {
            Some(request.exchange)
        }
        _ => None,
    });
    let of = |line: &Line| match line {
        Line::Chunk(chunk) if Some(chunk.exchange) == opened => Some(chunk.bytes()),
        _ => None,
    };
    unbroken.lines.iter().filter_map(of).collect()
}

fn cut(place: CutPlace, end: CutEnd) -> Action {
    Action::Cut(Cut { place, end })
}

/// A cut at every event, at every kind of place in its bytes.
pub(super) fn cuts(unbroken: &Course<'_>) -> Vec<Schedule> {
    let frames = frames(unbroken);
    let mut schedules = Vec::new();
    let mut add = |faults: Vec<Fault>| schedules.push(Schedule::of(Kind::Cut, faults));
    for (at, frame) in frames.iter().enumerate() {
        for end in [CutEnd::Broken, CutEnd::Clean, CutEnd::Reset, CutEnd::Silent] {
            add(vec![at_frame(at, cut(CutPlace::BetweenFrames, end))]);
        }
        for bytes in within(frame.len()) {
            add(vec![at_frame(at, cut(CutPlace::MidFrame { bytes }, CutEnd::Broken))]);
        }
        let has_long_character = frame.iter().any(|byte| *byte >= 0x80);
        let character = has_long_character.then_some(CutPlace::Character);
        for place in [CutPlace::LineEnd, CutPlace::BlankLine].into_iter().chain(character) {
            add(vec![at_frame(at, cut(place, CutEnd::Broken))]);
        }
        // Between CR and LF, of the first line and of the blank one.
        for place in [CutPlace::LineEnd, CutPlace::BlankLine] {
            let crlf = Action::LineEnds(LineEnds { line_ends: LineEnd::Crlf });
            add(vec![at_frame(at, crlf), at_frame(at, cut(place, CutEnd::Broken))]);
        }
    }
    // Behind the last one.
    add(vec![at_frame(frames.len(), cut(CutPlace::BetweenFrames, CutEnd::Broken))]);
    schedules
}

/// After its first byte, inside and behind the field's name, in the middle, before its end.
fn within(length: usize) -> Vec<usize> {
    let mut places = vec![1, 3, 6, length / 2, length.saturating_sub(3)];
    places.retain(|at| (1..length).contains(at));
    places.sort_unstable();
    places.dedup();
    places
}

/// Every event is lost.
pub(super) fn losses(unbroken: &Course<'_>) -> Vec<Schedule> {
    let lose = |at: usize| {
        let lost = Action::Drop(Drop { drop: "*".to_owned() });
        Schedule::of(Kind::Lose, vec![at_frame(at, lost)])
    };
    (0..frames(unbroken).len()).map(lose).collect()
}

/// So many places of a cut have their rehydration failed.
const REHYDRATIONS: usize = 8;

/// Every answer of a rehydration fails in turn, in every way.
pub(super) fn fails(unbroken: &Course<'_>, play: &dyn Fn(&FaultPlan) -> Played) -> Vec<Schedule> {
    let count = frames(unbroken).len();
    let mut schedules = Vec::new();
    for nth in 1..=REHYDRATIONS.min(count) {
        let cut =
            at_frame(count * nth / REHYDRATIONS.min(count), cut(CutPlace::BetweenFrames, CutEnd::Broken));
        let cut_only = FaultPlan { faults: vec![cut.clone()], ..FaultPlan::default() };
        let played = play(&cut_only);
        for scene in rehydrations(played.lines()) {
            for action in failures() {
                schedules.push(Schedule::of(Kind::Fail, vec![cut.clone(), fault(scene.clone(), action)]));
            }
        }
    }
    schedules
}

/// What can become of an answer.
pub(super) fn failures() -> [Action; 5] {
    let status = |status: u16, body: Option<Value>| {
        let (content_type, headers, performed) = (None, BTreeMap::new(), false);
        Action::Status(Status { status, body, content_type, headers, performed })
    };
    [
        status(500, None),
        status(200, Some(Value::String("<html>".to_owned()))),
        Action::Hang(Hang { hang: Side::Answer }),
        Action::ResetAt(ResetAt { reset: Side::Answer }),
        Action::Truncate(Truncate { truncate: 1 }),
    ]
}

/// What the adapter read behind the cut: each read as the nth of its route.
fn rehydrations(lines: &[Line]) -> Vec<Scene> {
    let broke = lines.iter().position(|line| matches!(line, Line::Fault(_))).unwrap_or(usize::MAX);
    let course = Course::of(lines);
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut scenes = Vec::new();
    for read in course.exchanges.iter().filter(|exchange| is_read(exchange)) {
        let path = operation(&read.path);
        let nth = seen.entry(path.clone()).or_default();
        *nth += 1;
        if read.line > broke {
            let route = Route::Operation { method: read.method.clone(), path };
            scenes.push(Scene::Request { route, session: None, nth: *nth });
        }
    }
    scenes
}

pub(super) fn is_read(exchange: &Exchange) -> bool {
    exchange.method == "GET" && !exchange.is_stream()
}

/// The path as `/doc` writes it.
pub(super) fn operation(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment.starts_with("ses_") {
        true => "{sessionID}",
        false => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lie_within_a_frame_and_none_twice() {
        assert_eq!(within(100), [1, 3, 6, 50, 97]);
        assert_eq!(within(4), [1, 2, 3]);
        assert_eq!(within(1), Vec::<usize>::new());
    }

    #[test]
    fn a_session_is_any_session() {
        assert_eq!(operation("/session/ses_1/message"), "/session/{sessionID}/message");
        assert_eq!(operation("/session/status"), "/session/status");
    }
}
