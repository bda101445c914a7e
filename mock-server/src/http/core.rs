//! One performer behind all lanes: takes requests one at a time, and hands out what follows from them.

mod controlled;
mod faults;
mod first_words;
mod noting;
mod running;
mod settling;

pub(crate) use faults::ANOTHER_CLIENT;

use super::auth::Access;
use super::cors::Origins;
use super::doors::Doors;
use super::intake::Intake;
use crate::clock::Clock;
use crate::control::Control;
use crate::doc::Operations;
use crate::fault::answers::LastAnswers;
use crate::fault::{AnswerFaults, ArmedPlan, Facts, Moment};
use crate::journal::Journal;
use crate::model::{RemoteModel, Report};
use crate::performer::{Act, Audience, Frame, Gate, Performer, WireReply};
use crate::profile::Profile;
use crate::screens::Screens;
use crate::shell;
use crate::stream::body::Connection;
use crate::stream::bus::Bus;
use crate::verify::Strays;
use crate::world::{ApiRequest, Ticket};
use axum::http::HeaderName;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Body, Line, Note, Response};
use fixtures::scenario::Ending;
use noting::{owned, told};
use running::AllRunning;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// The headers of an event stream, as the real servers send them.
const STREAM_HEADERS: &[(&str, &str)] = &[
    ("cache-control", "no-cache, no-transform"),
    ("content-type", "text/event-stream"),
    ("x-accel-buffering", "no"),
    ("x-content-type-options", "nosniff"),
];

/// The headers that an event stream has.
pub(crate) fn stream_headers(stream: StreamName) -> &'static [(&'static str, &'static str)] {
    // What lasts of a session is told without further words.
    if stream == StreamName::SessionEvent { &[("content-type", "text/event-stream")] } else { STREAM_HEADERS }
}

/// From so many requests without an answer on, it is looked who has left.
const WAITING_MAX: usize = 256;

/// What all lanes share.
pub(crate) struct Core {
    pub(crate) clock: Arc<Clock>,
    pub(crate) journal: Journal,
    pub(crate) access: Access,
    pub(crate) directory_header: &'static str,
    /// Who asks for a ticket to a terminal has this one.
    pub(crate) ticket_header: String,
    pub(crate) origins: Origins,
    pub(crate) operations: &'static Operations,
    pub(crate) screens: Arc<Screens>,
    pub(crate) faults: ArmedPlan,
    pub(crate) doors: Doors,
    pub(crate) control: Option<Control>,
    last_answers: LastAnswers,
    pub(crate) intake: Intake,
    model: Option<RemoteModel>,
    tickets: AtomicU64,
    /// How many streams are open, whether the journal remembers their beginning or not.
    streams: AtomicUsize,
    strays: Mutex<Strays>,
    inner: Mutex<Inner>,
}

struct Inner {
    performer: Box<dyn Performer>,
    bus: Bus,
    waiting: BTreeMap<Ticket, Waiting>,
    /// What is sent a moment after a failure has been answered.
    held_back: Vec<Act>,
    /// The server is about to end: what it still answers it answers at once.
    leaves: bool,
    /// What faults do at the server as soon as what is under way has been done.
    moments: VecDeque<Moment>,
    /// How many events of each type were sent, if somebody may ask.
    sent: BTreeMap<Arc<str>, usize>,
    running: AllRunning,
}

/// A request without an answer yet.
struct Waiting {
    lane: Arc<str>,
    /// The headers that its answer has whatever it is.
    headers: Vec<(HeaderName, String)>,
    /// Its answer comes a moment after what happened last.
    ends_with_a_turn: bool,
    /// What happens to its answer.
    faults: AnswerFaults,
    sender: oneshot::Sender<Answer>,
}

/// What a request gets.
pub(crate) enum Answer {
    Reply(WireReply),
    Stream(Box<Connection>),
}

impl Core {
    pub(crate) fn new(
        mut performer: Box<dyn Performer>,
        clock: Arc<Clock>,
        journal: Journal,
        access: Access,
        profile: &'static Profile,
        faults: ArmedPlan,
        model: Option<RemoteModel>,
    ) -> Self {
        performer.take_steps(faults.strike_between_events());
        let (bus, waiting, running) = (Bus::default(), BTreeMap::new(), AllRunning::default());
        let inner = Inner {
            performer,
            bus,
            waiting,
            held_back: Vec::new(),
            leaves: false,
            moments: VecDeque::new(),
            sent: BTreeMap::new(),
            running,
        };
        Self {
            clock,
            journal,
            origins: Origins { sites: profile.sites, named: access.origins.clone() },
            access,
            directory_header: profile.directory_header,
            ticket_header: format!("x-{}-ticket", profile.server.word()),
            screens: Arc::default(),
            operations: Operations::of(profile.server),
            faults,
            doors: Doors::default(),
            control: None,
            last_answers: LastAnswers::default(),
            intake: Intake::default(),
            model,
            tickets: AtomicU64::new(0),
            streams: AtomicUsize::new(0),
            strays: Mutex::default(),
            inner: Mutex::new(inner),
        }
    }

    /// It can be told over HTTP what to do.
    pub(crate) fn with_control(self, control: Option<Control>) -> Self {
        Self { control, ..self }
    }

    pub(crate) fn next_ticket(&self) -> Ticket {
        self.tickets.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes a request and waits for its answer; `None` when the performer forgot it.
    pub(crate) async fn take(
        self: &Arc<Self>,
        lane: &Arc<str>,
        request: ApiRequest,
        headers: &[(HeaderName, String)],
        faults: AnswerFaults,
    ) -> Option<Answer> {
        self.let_lines_speak(&request).await;
        let (sender, receiver) = oneshot::channel();
        let ends_with_a_turn = settling::ends_with_a_turn(&request);
        let (lane, headers) = (lane.clone(), headers.to_vec());
        let waiting = Waiting { lane, headers, ends_with_a_turn, faults, sender };
        {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            if inner.waiting.len() >= WAITING_MAX {
                // Who has left is not waited for.
                inner.waiting.retain(|_, waiting| !waiting.sender.is_closed());
            }
            inner.waiting.insert(request.ticket, waiting);
            let acts = inner.performer.take(request, &|| self.clock.now_ms());
            self.act_all(&mut inner, acts);
        }
        receiver.await.ok()
    }

    /// What was left over, and what was in vain.
    pub(crate) fn report(&self) -> (Report, Strays) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.performer.report(), self.strays().clone())
    }

    pub(crate) fn strays(&self) -> MutexGuard<'_, Strays> {
        self.strays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the model go on that waits at this gate.
    pub(crate) fn open_gate(self: &Arc<Self>, name: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let acts = inner.performer.open_gate(name, &|| self.clock.now_ms());
        self.act_all(&mut inner, acts);
    }

    /// How a gate stands.
    pub(crate) fn gate(&self, name: &str) -> Gate {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).performer.gate(name)
    }

    /// The server ends, and starts again over what it has kept. Whoever waits for an answer gets none.
    pub(crate) fn restart(self: &Arc<Self>, ending: Ending) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let acts = inner.performer.restart(ending, &|| self.clock.now_ms());
        self.act_all(&mut inner, acts);
    }

    /// Does all, in order. Where time leaps, what it leaps to follows at once, the earliest first.
    fn act_all(self: &Arc<Self>, inner: &mut Inner, acts: Vec<Act>) {
        let mut due = BTreeSet::new();
        let mut lines = VecDeque::new();
        inner.leaves |= acts.iter().any(|act| matches!(act, Act::HangUp { .. }));
        let mut acts = VecDeque::from(self.failures_first(inner, acts));
        loop {
            // It happens between two events: who is killed does nothing more.
            if let Some(moment) = inner.moments.pop_front() {
                if moment.ends_the_server() {
                    acts.clear();
                    lines.clear();
                }
                let follows = self.moment(inner, moment);
                follows.into_iter().rev().for_each(|act| acts.push_front(act));
                continue;
            }
            if let Some(act) = acts.pop_front() {
                match act {
                    Act::Run(number, line) if self.clock.is_logical() || self.clock.is_virtual() => {
                        lines.extend(shell::run_at_once(&line).into_iter().map(|news| (number, news)));
                    }
                    Act::WakeAt(at_ms, number) if self.clock.is_logical() => {
                        due.insert((at_ms, number));
                    }
                    Act::EndRun(number) => {
                        due.retain(|(_, of)| *of != number);
                        self.act(inner, act);
                    }
                    act => self.act(inner, act),
                }
                continue;
            }
            if let Some(more) = inner.performer.go_on(&|| self.clock.now_ms()) {
                acts.extend(more);
                continue;
            }
            if let Some((number, news)) = lines.pop_front() {
                acts.extend(inner.performer.shell_says(number, news, &|| self.clock.now_ms()));
                continue;
            }
            if self.clock.is_logical() {
                // What programs say in that time is heard first.
                let leap = due.first().map_or(Duration::ZERO, |(at_ms, _)| self.clock.until(*at_ms));
                if let Some((number, news)) = inner.running.told_within(leap) {
                    acts.extend(inner.performer.program_says(number, news, &|| self.clock.now_ms()));
                    continue;
                }
            }
            let Some((at_ms, number)) = due.pop_first() else { return };
            self.clock.leap_to(at_ms);
            acts.extend(inner.performer.wake_at(number, &|| self.clock.now_ms()));
        }
    }

    fn act(self: &Arc<Self>, inner: &mut Inner, act: Act) {
        match act {
            Act::WakeAt(at_ms, number) => {
                let (core, clock) = (Arc::downgrade(self), self.clock.clone());
                tokio::spawn(async move {
                    clock.wait(clock.until(at_ms)).await;
                    if let Some(core) = core.upgrade() {
                        core.wake_at(number);
                    }
                });
            }
            Act::Run(..)
            | Act::Ask(..)
            | Act::Fetch(..)
            | Act::Start(..)
            | Act::Draw(..)
            | Act::EndRun(_) => self.begin(inner, act),
            Act::Tell(number, line) => inner.running.tell(number, line),
            Act::Note(text) => self.journal.push(|at_us| Line::Note(Note { at_us, text })),
            Act::HangUp { politely } => {
                inner.running = AllRunning::default();
                inner.leaves = false;
                inner.waiting.clear();
                inner.bus.let_all_go(!politely);
            }
            Act::Send(to, frame) => self.send(inner, &to, &frame),
            Act::Close(to) => inner.bus.close(&to),
            Act::Asked(call) => self.journal.push(|at_us| {
                let mut call = *call;
                call.at_us = at_us;
                Line::Model(call)
            }),
            Act::Reply(ticket, reply) => {
                if let Some(waiting) = inner.waiting.remove(&ticket) {
                    match inner.leaves {
                        true => self.answer(ticket, reply, waiting),
                        false => self.answer_in_time(ticket, reply, waiting),
                    }
                }
            }
            Act::Open(ticket, audience, hello) => self.open(inner, ticket, audience, hello),
            Act::WakeAfter(wait, number) => {
                // Who waits does not keep the stand-in alive.
                let (core, clock) = (Arc::downgrade(self), self.clock.clone());
                tokio::spawn(async move {
                    clock.wait(wait).await;
                    if let Some(core) = core.upgrade() {
                        core.wake(number);
                    }
                });
            }
        }
    }

    fn wake(self: &Arc<Self>, number: usize) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let acts = inner.performer.wake(number);
        self.act_all(&mut inner, acts);
    }

    fn wake_at(self: &Arc<Self>, number: u64) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let acts = inner.performer.wake_at(number, &|| self.clock.now_ms());
        self.act_all(&mut inner, acts);
    }

    fn open(self: &Arc<Self>, inner: &mut Inner, ticket: Ticket, audience: Audience, hello: Frame) {
        let Some(Waiting { lane, headers, sender, .. }) = inner.waiting.remove(&ticket) else { return };
        let stream = audience.stream;
        // It is counted before it is told: whoever waits for it looks when it is told. Its connection takes it back.
        self.streams.fetch_add(1, Ordering::AcqRel);
        let headers = owned(stream_headers(stream)).chain(told(&headers)).collect();
        self.journal.push(|at_us| {
            Line::Response(Response { at_us, exchange: ticket, status: 200, headers, body: Body::Empty })
        });
        let faults = self.faults.connect(&lane, stream);
        let (beats, struck) = {
            let Inner { performer, bus, .. } = &mut *inner;
            let holds = |during| performer.holds(during);
            let facts = Facts { now_ms: self.clock.elapsed_us() / 1000, holds: &holds };
            bus.subscribe(audience, ticket, faults, &hello, &facts)
        };
        self.struck(inner, struck);
        self.count(inner, &hello.kind);
        let connection = Connection::new(self.clone(), ticket, stream, beats);
        let _ = sender.send(Answer::Stream(Box::new(connection)));
    }
}
