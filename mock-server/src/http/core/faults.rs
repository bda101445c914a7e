//! Where faults meet the server: what a request, a connection or a frame has set off is told to the journal, and what
//! happens at the server is done.

use super::{Core, Inner, Waiting};
use crate::fault::plan::TooMany;
use crate::fault::{AnswerFaults, Arrival, Facts, Fired, Moment};
use crate::http::doors::Shut;
use crate::performer::{Act, Audience, Frame};
use crate::stream::bus::Struck;
use crate::target;
use crate::world::{ApiRequest, Knock};
use fixtures::fault_plan::action::{DoorWord, Port, Reply, ReplyWord, Restart, RestartWord, Side, StateWord};
use fixtures::fault_plan::{Fault, StreamName};
use fixtures::recording::{Body, FaultLine, Line, Note, Request};
use fixtures::scenario::Ending;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// The lane of the client that a plan lets answer.
pub(crate) const ANOTHER_CLIENT: &str = "another client";

impl Core {
    pub(crate) fn now_since_start(&self) -> u64 {
        self.clock.elapsed_us() / 1000
    }

    /// Tells what a fault did.
    fn tell(&self, lane: &str, fired: Fired) {
        let Fired { fault, did } = fired;
        self.journal.push(|at_us| Line::Fault(FaultLine { at_us, fault, lane: lane.to_owned(), did }));
    }

    /// A request has come: what happens to its answer. What happens at the server has happened then. `name` has the
    /// request in words.
    pub(crate) fn strike(
        self: &Arc<Self>,
        lane: &str,
        (method, path): (&str, &str),
        is_stream: bool,
        name: impl FnOnce() -> String,
    ) -> AnswerFaults {
        if self.faults.is_empty() {
            return AnswerFaults::default();
        }
        let asked = (!is_stream && self.faults.wants_last_answers()).then(name);
        let has_last = asked.as_deref().is_some_and(|asked| self.last_answers.has(asked));
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        self.strike_by_time(&mut inner);
        let struck = {
            let performer = &inner.performer;
            let holds = |during| performer.holds(during);
            let arrival = Arrival { lane, method, path, is_stream, has_last };
            self.faults.request(&arrival, &Facts { now_ms: self.now_since_start(), holds: &holds })
        };
        struck.fired.iter().for_each(|fired| self.tell(lane, fired.clone()));
        let mut faults = AnswerFaults { asked, ..AnswerFaults::of(&struck) };
        if struck.moments.iter().any(|moment| matches!(moment, Moment::Restart(_))) {
            // It goes down with the server that took it.
            faults.resets = Some(Side::Request);
        }
        inner.moments.extend(struck.moments);
        self.act_all(&mut inner, Vec::new());
        faults
    }

    /// Somebody connects: what happens at the door.
    pub(crate) fn at_the_door(self: &Arc<Self>, lane: &str) -> Option<DoorWord> {
        if self.faults.is_empty() {
            return None;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (door, struck) = {
            let performer = &inner.performer;
            let holds = |during| performer.holds(during);
            self.faults.accept(lane, &Facts { now_ms: self.now_since_start(), holds: &holds })
        };
        struck.fired.into_iter().for_each(|fired| self.tell(lane, fired));
        inner.moments.extend(struck.moments);
        self.act_all(&mut inner, Vec::new());
        door
    }

    /// What is due by time alone. It is no client's.
    fn strike_by_time(&self, inner: &mut Inner) {
        let struck = {
            let performer = &inner.performer;
            let holds = |during| performer.holds(during);
            self.faults.time(&Facts { now_ms: self.now_since_start(), holds: &holds })
        };
        struck.fired.into_iter().for_each(|fired| self.tell("", fired));
        inner.moments.extend(struck.moments);
    }

    /// Wakes up when a fault is due by time alone. Logical time is looked at when a request comes.
    pub(crate) fn wait_for_times(self: &Arc<Self>) {
        if self.clock.is_logical() {
            return;
        }
        for due in self.faults.due_times() {
            let (core, clock) = (Arc::downgrade(self), self.clock.clone());
            let wait = Duration::from_millis(due.saturating_sub(self.now_since_start()));
            tokio::spawn(async move {
                clock.wait(wait).await;
                if let Some(core) = core.upgrade() {
                    let mut inner = core.inner.lock().unwrap_or_else(PoisonError::into_inner);
                    core.strike_by_time(&mut inner);
                    core.act_all(&mut inner, Vec::new());
                }
            });
        }
    }

    /// Arms more faults; none when there would be too many.
    pub(crate) fn arm(self: &Arc<Self>, faults: Vec<Fault>) -> Result<Vec<usize>, TooMany> {
        let words: Vec<String> = faults.iter().map(Fault::to_string).collect();
        let numbers = self.faults.arm(faults, self.now_since_start())?;
        {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.performer.take_steps(self.faults.strike_between_events());
        }
        for (number, words) in numbers.iter().zip(words) {
            let text = format!("fault {number} is armed: it {words}");
            self.journal.push(|at_us| Line::Note(Note { at_us, text }));
        }
        self.wait_for_times();
        Ok(numbers)
    }

    /// Hands a frame to all who hear it.
    pub(super) fn send(self: &Arc<Self>, inner: &mut Inner, to: &Audience, frame: &Frame) {
        let struck = {
            let Inner { performer, bus, .. } = inner;
            let holds = |during| performer.holds(during);
            bus.send(to, frame, &Facts { now_ms: self.now_since_start(), holds: &holds })
        };
        self.struck(inner, struck);
        // What is sent at all is sent there.
        if to.stream == StreamName::GlobalEvent {
            self.count(inner, &frame.kind);
        }
    }

    /// One more event of this type was sent: who waits for it looks again.
    pub(super) fn count(&self, inner: &mut Inner, kind: &Arc<str>) {
        if self.control.is_some() {
            *inner.sent.entry(kind.clone()).or_default() += 1;
            self.journal.touch();
        }
    }

    /// A heartbeat for one stream.
    pub(crate) fn beat(self: &Arc<Self>, exchange: u64, stream: StreamName) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (kind, struck) = {
            let Inner { performer, bus, .. } = &mut *inner;
            let frame = performer.heartbeat(stream, &|| self.clock.now_ms());
            let holds = |during| performer.holds(during);
            let facts = Facts { now_ms: self.now_since_start(), holds: &holds };
            let struck = bus.send_one(exchange, &frame, &facts);
            (frame.kind, struck)
        };
        self.struck(&mut inner, struck);
        self.count(&mut inner, &kind);
        self.act_all(&mut inner, Vec::new());
    }

    /// What faults did to frames.
    pub(super) fn struck(self: &Arc<Self>, inner: &mut Inner, struck: Struck) {
        for (lane, fired) in struck.fired {
            self.tell(&lane, fired);
        }
        inner.moments.extend(struck.moments);
        for exchange in struck.full {
            self.note(format!(
                "the reader of #{exchange} is too far behind: it is let go, and misses what follows"
            ));
        }
        for (exchange, ms, bytes) in struck.later {
            if self.clock.is_logical() {
                inner.bus.give(exchange, bytes);
                continue;
            }
            let (core, clock) = (Arc::downgrade(self), self.clock.clone());
            tokio::spawn(async move {
                clock.wait(Duration::from_millis(ms)).await;
                if let Some(core) = core.upgrade() {
                    core.inner.lock().unwrap_or_else(PoisonError::into_inner).bus.give(exchange, bytes);
                }
            });
        }
    }

    /// Does what a fault does at the server; returns what follows.
    pub(super) fn moment(self: &Arc<Self>, inner: &mut Inner, moment: Moment) -> Vec<Act> {
        match moment {
            Moment::Refuse(lane, refuse) => {
                let shut = Shut { duration: Duration::from_millis(refuse.refuse_ms), moves: false };
                self.doors.shut(lane.as_deref(), shut);
                Vec::new()
            }
            Moment::Password(password) => {
                *self.access.password.write().unwrap_or_else(PoisonError::into_inner) = Some(password);
                Vec::new()
            }
            Moment::Restart(restart) => self.restarted(inner, &restart),
            Moment::Reply(reply, asked) => self.another_replies(inner, &reply, asked.as_deref()),
        }
    }

    fn restarted(&self, inner: &mut Inner, restart: &Restart) -> Vec<Act> {
        let moves = restart.port == Port::New;
        if moves || restart.down_ms > 0 {
            self.doors.shut(None, Shut { duration: Duration::from_millis(restart.down_ms), moves });
        }
        let ending = match restart.restart {
            RestartWord::Killed => Ending::Kill,
            RestartWord::Term => Ending::Term,
        };
        let now = || self.clock.now_ms();
        match restart.state {
            StateWord::Kept => vec![Act::HangUp { politely: ending == Ending::Term }],
            StateWord::Stored => inner.performer.restart(ending, &now),
            StateWord::Lost => {
                let mut acts = inner.performer.restart(ending, &now);
                acts.extend(inner.performer.forget(&now));
                acts
            }
        }
    }

    fn another_replies(self: &Arc<Self>, inner: &mut Inner, reply: &Reply, asked: Option<&str>) -> Vec<Act> {
        let word = match reply.reply {
            ReplyWord::Once => "once",
            ReplyWord::Always => "always",
            ReplyWord::Reject => "reject",
        };
        let meant =
            inner.performer.asks().into_iter().filter(|one| asked.is_none_or(|asked| asked == one.id));
        let mut acts = Vec::new();
        for asked in meant.collect::<Vec<_>>() {
            let (ticket, path) = (self.next_ticket(), format!("/permission/{}/reply", asked.id));
            let body = serde_json::json!({"reply": word}).to_string();
            self.journal.push(|at_us| {
                Line::Request(Request {
                    at_us,
                    exchange: ticket,
                    lane: Some(ANOTHER_CLIENT.to_owned()),
                    method: "POST".to_owned(),
                    path: path.clone(),
                    query: String::new(),
                    headers: Vec::new(),
                    body: Body::from_bytes(body.as_bytes()),
                })
            });
            // Nobody waits for the answer; the journal has it.
            let (sender, _) = oneshot::channel();
            let lane = Arc::from(ANOTHER_CLIENT);
            let waiting = Waiting {
                lane,
                headers: Vec::new(),
                ends_with_a_turn: false,
                faults: AnswerFaults::default(),
                sender,
            };
            inner.waiting.insert(ticket, waiting);
            let request = ApiRequest {
                ticket,
                method: "POST".to_owned(),
                path,
                query: vec![("directory".to_owned(), target::folder_named(&asked.directory))],
                host: "localhost".to_owned(),
                directory_header: None,
                content_type: Some("application/json".to_owned()),
                body: body.into(),
                knock: Knock::default(),
            };
            acts.extend(inner.performer.take(request, &|| self.clock.now_ms()));
        }
        acts
    }
}
