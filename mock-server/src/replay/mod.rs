//! A recording, played again to any client.
//!
//! Causal, unless told otherwise: what the server sent after a request waits until that request comes again. Nothing here knows a
//! scenario; requests are matched by what they mean, and the ids fit because the client learns them from the
//! recorded answers.
//!
//! Several sessions come mixed as they were recorded, as long as the client follows the recorded order. When it
//! asks in another order, or lets a session wait for a request in another one, each session goes on by itself.
//!
//! * [`course`] — the recording as moments; [`threads`] — what they wait for; [`order`] mends its races; [`lives`] —
//!   where a server ended and the next one began.
//! * [`listening`] — what was heard waits for somebody who listens; [`reading`] — and for one who reads on the way.
//! * [`asks`] — what a request means, and where it means something else than the recorded one.
//! * [`names`] — what a client calls things by itself, in place of the recorded client's names.
//! * [`notices`] — what a client says when it thinks fit, from which nothing follows.
//! * [`pace`] — everything at its time instead, whoever asks for it.
//! * [`turn`] — prompts that are waited for though the recorded client did not, and the other way round.
//! * [`refusal`] — what is said of a request that has no place in the recording.
//! * [`told`] — what the events played so far say of a [`resource`]: reads follow the cursor.

mod asks;
mod course;
mod listening;
mod lives;
mod names;
mod notices;
mod order;
mod pace;
mod playable;
mod read;
mod reading;
mod refusal;
mod resource;
mod threads;
mod told;
mod turn;

pub use pace::Pace;
pub use playable::{Unplayable, check};

use crate::performer::{Act, Frame, Performer};
use crate::world::{ApiRequest, Ticket};
use asks::{Asks, moved_body};
use bytes::Bytes;
use course::{Course, Moment, What};
use fixtures::fault_plan::StreamName;
use fixtures::recording::Recording;
use fixtures::scenario::Ending;
use fixtures::sse;
use listening::Listening;
use names::Names;
use read::Passed;
use reading::Reading;
use refusal::{json_reply, near_miss};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use told::Told;
use turn::Turn;

/// A recording and how far it has been played.
#[derive(Debug)]
pub struct Replay {
    version: String,
    /// The folder of the recorded agent.
    workspace: String,
    doc: Option<&'static [u8]>,
    course: Course,
    /// Cause → how whoever repeated it is to be answered.
    repeated: Vec<Option<Repeated>>,
    /// Moment → has it been played?
    played: Vec<bool>,
    /// All moments before this one have been played.
    first: usize,
    /// No moment from here on has been played.
    end: usize,
    /// Where the moments end, and from where on, that this server sends before anybody asks for anything.
    prologue: Range<usize>,
    has_begun: bool,
    pace: Pace,
    /// When the first stream was opened or something was caused, if it goes by the clock.
    begun_ms: Option<u64>,
    /// Does the client ask in the recorded order?
    follows: bool,
    told: Told,
    passed: Vec<Passed>,
    turns: Vec<Turn>,
    names: Names,
    listening: Listening,
    reading: Reading,
}

/// How long a session waits for the recorded request in another one. A client that follows the recorded order sends
/// it at once; one that finishes this session first never does.
const PATIENCE: Duration = Duration::from_secs(2);

/// How whoever repeated a cause is answered.
#[derive(Debug, Clone, Copy)]
enum Repeated {
    /// With the recorded answer, at its place.
    AsRecorded(Ticket),
    /// He was answered at once.
    Answered,
    /// When the turn has ended, though the recorded client did not wait for that.
    AtTheEnd(Ticket),
}

/// What waits for causes that have not come.
#[derive(Debug, Default)]
struct Waits {
    threads: BTreeSet<Arc<str>>,
    all: bool,
}

/// What becomes of a moment now.
enum Step {
    Comes,
    /// It is a cause, and the next one of its thread.
    IsAwaited(usize),
    Waits,
}

impl Replay {
    /// Prepares a recording. `doc` is the `/doc` of its release, which recordings do not repeat.
    pub fn new(recording: &Recording, doc: Option<&'static [u8]>, pace: Pace) -> Result<Self, Unplayable> {
        playable::check(recording)?;
        let course = Course::of(recording);
        let mut replay = Self {
            version: recording.header.version.clone(),
            workspace: recording.header.workspace.clone(),
            doc,
            repeated: vec![None; course.causes.len()],
            played: vec![false; course.moments.len()],
            course,
            first: 0,
            end: 0,
            prologue: 0..0,
            has_begun: false,
            pace,
            begun_ms: None,
            follows: true,
            told: Told::by(recording.header.server),
            passed: Vec::new(),
            turns: Vec::new(),
            names: Names::default(),
            listening: Listening::default(),
            reading: Reading::default(),
        };
        replay.begin(0);
        Ok(replay)
    }

    /// A server begins. What it sends before anybody asks for anything is sent to each subscriber as it comes.
    fn begin(&mut self, at: usize) {
        if self.pace == Pace::Causal {
            self.has_begun = false;
            self.prologue = at..self.course.prologue(at);
            for at in self.prologue.clone() {
                self.come(at, &mut Vec::new());
            }
        }
    }

    /// The server is gone, with all that was going on.
    fn go(&mut self, at: usize, politely: bool, acts: &mut Vec<Act>) {
        self.told.ends();
        self.turns.clear();
        acts.push(Act::HangUp { politely });
        self.begin(at + 1);
    }

    /// `mixed`: sessions wait for each other's causes.
    fn step(&self, at: usize, mixed: bool, waits: &mut Waits) -> Step {
        let Moment { thread, what, .. } = &self.course.moments[at];
        let is_held = waits.all
            || match thread {
                Some(thread) => waits.threads.contains(thread),
                None => !waits.threads.is_empty(),
            };
        let awaited = match what {
            What::Cause(index) if self.repeated[*index].is_none() => Some(*index),
            _ => None,
        };
        let is_missed = match what {
            What::Opened(opened) => !self.listening.has(opened),
            What::Read(index) => self.is_read_awaited(*index),
            _ => false,
        };
        if mixed && is_missed {
            waits.all = true;
            return Step::Waits;
        }
        if awaited.is_some() {
            match thread {
                Some(thread) if !mixed => waits.threads.extend([thread.clone()]),
                _ => waits.all = true,
            }
        }
        match (is_held, awaited) {
            (true, _) => Step::Waits,
            (false, Some(index)) => Step::IsAwaited(index),
            (false, None) => Step::Comes,
        }
    }

    /// What becomes of the moments that have not come, each session by itself.
    fn steps(&self) -> Vec<(usize, Step)> {
        let mut waits = Waits::default();
        let open = (self.first..self.played.len()).filter(|at| !self.played[*at]);
        open.map(|at| (at, self.step(at, false, &mut waits))).collect()
    }

    /// The next cause of each thread, in the recorded order.
    fn awaited(&self) -> Vec<usize> {
        let steps = self.steps().into_iter();
        steps
            .filter_map(|(_, step)| if let Step::IsAwaited(index) = step { Some(index) } else { None })
            .collect()
    }

    /// Plays all that waits for no request any more.
    fn play(&mut self, acts: &mut Vec<Act>) {
        let mut waits = Waits::default();
        for at in self.first..self.played.len() {
            if !self.played[at] && matches!(self.step(at, self.follows, &mut waits), Step::Comes) {
                self.come(at, acts);
            }
        }
        let is_kept = |(at, step): &(usize, Step)| {
            let is_silent = matches!(self.course.moments[*at].what, What::Read(_) | What::Opened(_));
            matches!(step, Step::Comes) && !is_silent
        };
        if self.follows && self.steps().iter().any(is_kept) {
            acts.push(Act::WakeAfter(PATIENCE, self.asked_count()));
        }
    }

    fn asked_count(&self) -> usize {
        self.repeated.iter().flatten().count() + self.listening.count() + self.reading.count()
    }

    fn come(&mut self, at: usize, acts: &mut Vec<Act>) {
        self.played[at] = true;
        let is_latest = at >= self.end;
        self.end = self.end.max(at + 1);
        while self.played.get(self.first) == Some(&true) {
            self.first += 1;
        }
        match &self.course.moments[at].what {
            What::Cause(_) | What::Opened(_) => {}
            What::Answer(index) => self.answer(at, *index, acts),
            // When other sessions have run ahead, the recorded answer is not what would be said now.
            What::Read(index) if is_latest => self.pass(*index),
            What::Read(_) => {}
            What::Closed(closed) => acts.push(Act::Close(closed.audience.clone())),
            What::Gone { politely } => self.go(at, *politely, acts),
            What::Sent(sent) => {
                let is_new_prompt = self.told.is_new_prompt(&sent.event);
                let is_news = self.told.take(&sent.event);
                acts.push(Act::Send(sent.audience.clone(), sent.frame.clone()));
                let session = sent.session().unwrap_or_default().to_owned();
                if is_new_prompt {
                    let prompt =
                        sent.event["properties"]["info"]["id"].as_str().unwrap_or_default().to_owned();
                    self.note_prompt(&session, &prompt);
                } else if is_news && sent.kind() == "session.idle" {
                    self.end_turns(at, &session, acts);
                }
            }
        }
    }

    fn answer(&mut self, at: usize, index: usize, acts: &mut Vec<Act>) {
        let cause = &self.course.causes[index];
        if let Some(made) = cause.made() {
            self.told.made(&made);
        }
        match (self.repeated[index], &cause.answer, &cause.asks) {
            (Some(Repeated::AsRecorded(ticket)), Some(answer), _) => {
                acts.push(Act::Reply(ticket, answer.clone()));
            }
            (Some(Repeated::AtTheEnd(ticket)), _, Asks::Turn(session)) => {
                let turn = Turn { session: session.clone(), ticket, prompt: None };
                self.await_end(at, turn, acts);
            }
            _ => {}
        }
    }

    /// A request that causes something: it must be the next one of its thread, and mean what was recorded.
    fn repeat(&mut self, request: &ApiRequest, acts: &mut Vec<Act>) {
        let asks = Asks::of(&request.method, &request.path);
        let body = moved_body(request, &self.workspace);
        let awaited = self.awaited();
        let mut differences = Vec::new();
        for &index in &awaited {
            let cause = &self.course.causes[index];
            if cause.asks != asks {
                continue;
            }
            let found = asks.differences(&cause.body, &body);
            if found.is_empty() {
                self.has_begun = true;
                self.follows &= awaited.first() == Some(&index);
                self.learn_names(index, &body);
                self.forgo_reads_before(index);
                self.repeated[index] = Some(self.answering(index, request, acts));
                return self.play(acts);
            }
            if differences.is_empty() {
                differences = found;
            }
        }
        let reply = if differences.is_empty() {
            self.out_of_place(request, &asks, &awaited)
        } else {
            let (method, path) = (&request.method, &request.path);
            near_miss(&format!("{method} {path} has another body: {}", differences.join("; ")))
        };
        acts.push(Act::Reply(request.ticket, reply));
    }
}

impl Performer for Replay {
    fn take(&mut self, request: ApiRequest, now: &dyn Fn() -> u64) -> Vec<Act> {
        let request = self.in_recorded_words(request);
        let mut acts = Vec::new();
        match (request.method.as_str(), StreamName::from_path(&request.path), self.pace) {
            ("GET", Some(stream), pace) => {
                self.open(&request, stream, &mut acts);
                match pace {
                    Pace::Causal => self.play(&mut acts),
                    _ => self.go_on(now(), &mut acts),
                }
            }
            ("GET", None, _) => {
                let before = self.reading.count();
                acts.push(Act::Reply(request.ticket, self.read(&request)));
                if self.reading.count() > before {
                    self.play(&mut acts);
                }
            }
            (_, _, pace) => match (self.noticed(&request), pace) {
                (Some(reply), _) => acts.push(Act::Reply(request.ticket, reply)),
                (None, Pace::Causal) => self.repeat(&request, &mut acts),
                (None, _) => {
                    self.repeat_any(&request, &mut acts);
                    self.go_on(now(), &mut acts);
                }
            },
        }
        self.in_own_words(acts)
    }

    fn wake_at(&mut self, _number: u64, now: &dyn Fn() -> u64) -> Vec<Act> {
        let mut acts = Vec::new();
        self.go_on(now(), &mut acts);
        self.in_own_words(acts)
    }

    fn wake(&mut self, count: usize) -> Vec<Act> {
        let mut acts = Vec::new();
        if count == self.asked_count() {
            self.give_up(&mut acts);
        }
        self.in_own_words(acts)
    }

    /// What the recorded server says at its end follows, and then what the next one says. Where none was ended, none is.
    fn restart(&mut self, _ending: Ending, _now: &dyn Fn() -> u64) -> Vec<Act> {
        let mut acts = Vec::new();
        let is_end = |index: &usize| self.course.causes[*index].asks == Asks::End;
        if let Some(index) = self.awaited().into_iter().find(is_end) {
            self.repeated[index] = Some(Repeated::Answered);
            self.play(&mut acts);
        }
        self.in_own_words(acts)
    }

    fn heartbeat(&mut self, stream: StreamName, _now: &dyn Fn() -> u64) -> Frame {
        let data = match stream {
            StreamName::Event => r#"{"type":"server.heartbeat","properties":{}}"#,
            _ => r#"{"payload":{"type":"server.heartbeat","properties":{}}}"#,
        };
        Frame { kind: Arc::from("server.heartbeat"), bytes: Bytes::from(sse::encode(data)) }
    }
}

#[cfg(test)]
pub(in crate::replay) mod tests;
