//! The adapter without input or output: an input in, outputs out, no clock, no socket.

use super::commands::Call;
use super::event::{self, Event, Read};
use super::io::{Input, Output};
use super::refresh::{Fetch, Refresh};
use super::strategy::{Gap, OnGap, OnUnknown, Strategies};
use super::task::Task;
use crate::protocol::{Connect, ConnectionState, Done, Id, LogLevel, Notification, RpcError, Update};
use serde_json::Value;
use std::collections::BTreeMap;

/// So many attempts in a row may fail before the person is told (about five seconds).
const ATTEMPTS_BEFORE_COMPLAINT: u32 = 8;

/// Where the event stream is.
#[derive(Debug, Default)]
pub(super) enum Phase {
    /// No server, or no sense in trying again.
    #[default]
    Off,
    /// Being opened, or open without a sign of life yet.
    Opening,
    /// Waits before it is opened again.
    Waiting,
    /// Events are shown as they come.
    Live,
    /// Events wait until everything was fetched anew.
    Refreshing(Refresh),
    /// What is shown can't be brought up to date: nothing more is shown until a refresh succeeds.
    Stale,
}

/// The adapter.
pub struct Core {
    pub(super) strategies: Strategies,
    pub(super) time_scale: f64,
    pub(super) server: Option<Connect>,
    pub(super) phase: Phase,
    pub(super) stream: u64,
    /// Attempts in a row that brought no stream.
    pub(super) failures: u32,
    pub(super) connecting: Option<Id>,
    /// Requests of the harness that wait for the server.
    pub(super) calls: BTreeMap<u64, Call>,
    pub(super) last_request: u64,
    pub(super) tasks: BTreeMap<String, Task>,
    /// Fences that wait for a refresh: its events were read, but not processed.
    pub(super) fences: Vec<Id>,
    /// Answers to questions that the server took and has sent no event about: question → path and body.
    pub(super) unconfirmed: BTreeMap<String, (String, Value)>,
    counters: BTreeMap<&'static str, u64>,
    pub(super) out: Vec<Output>,
}

impl Core {
    /// An adapter that has heard nothing yet.
    #[must_use]
    pub fn new(strategies: Strategies) -> Self {
        Self {
            strategies,
            time_scale: 1.0,
            server: None,
            phase: Phase::Off,
            stream: 0,
            failures: 0,
            connecting: None,
            calls: BTreeMap::new(),
            last_request: 0,
            tasks: BTreeMap::new(),
            fences: Vec::new(),
            unconfirmed: BTreeMap::new(),
            counters: BTreeMap::new(),
            out: Vec::new(),
        }
    }

    /// Takes in what happened; returns what shall happen, in order.
    pub fn step(&mut self, input: Input) -> Vec<Output> {
        match input {
            Input::Command(id, request) => self.command(id, request),
            Input::HttpDone { request, answer } => self.http_done(request, answer),
            Input::StreamOpened { stream }
            | Input::StreamRefused { stream, .. }
            | Input::StreamEvent { stream, .. }
            | Input::StreamEnded { stream, .. }
            | Input::TimerFired { stream }
                if stream != self.stream => {}
            Input::StreamOpened { .. } => self.failures = 0,
            Input::StreamRefused { status, .. } if self.strategies.backoff.gives_up_on(status) => {
                self.give_up(status)
            }
            Input::StreamRefused { status, .. } => {
                self.stream_ended(&format!("the server answered {status}"))
            }
            Input::StreamEvent { data, .. } => self.stream_event(&data),
            Input::StreamEnded { reason, .. } => self.stream_ended(&reason),
            Input::TimerFired { .. } => {
                self.count("kilo.cli.sse.reconnect_count");
                self.emit(Update::Connection { state: ConnectionState::Reconnecting });
                self.open_stream();
            }
        }
        std::mem::take(&mut self.out)
    }

    pub(super) fn open_stream(&mut self) {
        self.stream += 1;
        self.phase = Phase::Opening;
        let path = self.path("/event");
        self.out.push(Output::OpenStream { stream: self.stream, path });
    }

    fn stream_ended(&mut self, reason: &str) {
        if !matches!(self.phase, Phase::Opening | Phase::Waiting) {
            self.emit(Update::Connection { state: ConnectionState::Disconnected });
        }
        self.log(LogLevel::Info, format!("the event stream ended: {reason}"));
        self.phase = Phase::Waiting;
        // A refresh of this stream is over; what it had read is thrown away, as the next one fetches everything.
        self.pass_fences();
        let ms = self.strategies.backoff.delay_ms(self.failures);
        self.failures = self.failures.saturating_add(1);
        if self.failures == ATTEMPTS_BEFORE_COMPLAINT {
            let message = format!("no event stream after {ATTEMPTS_BEFORE_COMPLAINT} attempts: {reason}");
            if let Some(id) = self.connecting.take() {
                self.phase = Phase::Off;
                self.fail(id, RpcError::failed(format!("{message}; check the url and connect again")));
                return;
            }
            let message = format!("{message}; trying on");
            self.emit(Update::Error { task_id: None, message, retry: true });
        }
        match ms {
            Some(ms) => {
                let ms = self.scaled(ms);
                self.out.push(Output::StartTimer { stream: self.stream, ms });
            }
            None => {
                self.phase = Phase::Off;
                if let Some(id) = self.connecting.take() {
                    self.fail(id, RpcError::failed(format!("no event stream: {reason}; connect again")));
                }
            }
        }
    }

    /// Wrong credentials stay wrong: say so, and leave the server alone.
    fn give_up(&mut self, status: u16) {
        self.phase = Phase::Off;
        self.count("kilo.cli.sse.auth_failures");
        let message = format!(
            "the server refused the credentials (status {status}): check username and password, then connect again"
        );
        self.emit(Update::Connection { state: ConnectionState::Disconnected });
        self.emit(Update::Error { task_id: None, message: message.clone(), retry: true });
        if let Some(id) = self.connecting.take() {
            self.fail(id, RpcError::failed(message));
        }
    }

    fn stream_event(&mut self, data: &str) {
        // Any event proves that the server has subscribed this stream, even if the first one was damaged.
        if matches!(self.phase, Phase::Opening) {
            self.phase = Phase::Live;
            self.emit(Update::Connection { state: ConnectionState::Connected });
            if let Some(id) = self.connecting.take() {
                self.answer(id, Done {});
            }
            self.on_gap(Gap::Reconnected);
        }
        let parsed: Result<Value, String> =
            serde_json::from_str(data).map_err(|error| format!("bad JSON: {error}"));
        match parsed.and_then(|value| event::read(&value).map(|read| (value, read))) {
            Ok((value, Read::Event(event))) => {
                let ours: Vec<&str> = self.tasks.values().map(Task::session_id).collect();
                for session in self.strategies.routing.sessions_of(&value, &ours) {
                    self.session_event(&session, event.clone());
                }
            }
            Ok((_, Read::Ignored)) => {}
            Ok((_, Read::Unknown(kind))) => {
                self.count("kilo.cli.adapter.unknown_event_type");
                // The type is the server's text: a strange one must not flood the log.
                let kind: String = kind.chars().take(64).collect();
                self.log(LogLevel::Debug, format!("unknown event type {kind:?}, {} bytes", data.len()));
                if self.strategies.unknown.on_unknown(&kind) == OnUnknown::Die {
                    self.out.push(Output::Exit);
                }
            }
            Err(why) => {
                self.log(
                    LogLevel::Warn,
                    format!("an event of {} bytes could not be read: {why}", data.len()),
                );
                self.on_gap(Gap::UnreadableEvent);
            }
        }
    }

    fn session_event(&mut self, session: &str, event: Event) {
        match &mut self.phase {
            Phase::Refreshing(refresh) => refresh.buffered.push((session.to_owned(), event)),
            Phase::Live => self.show(session, event),
            Phase::Off | Phase::Opening | Phase::Waiting | Phase::Stale => {}
        }
    }

    /// Applies an event to the task that it belongs to; one of a session without a task is nobody's.
    fn show(&mut self, session: &str, event: Event) {
        if let Event::Replied(id) = &event {
            self.unconfirmed.remove(id);
        }
        let deltas = self.strategies.deltas.as_ref();
        let task = self.tasks.values_mut().find(|task| task.session_id() == session);
        for update in task.map(|task| task.apply(event, deltas)).unwrap_or_default() {
            self.emit(update);
        }
    }

    fn on_gap(&mut self, gap: Gap) {
        if gap == Gap::Reconnected {
            let again = self.strategies.questions.answers_again();
            for (path, body) in std::mem::take(&mut self.unconfirmed).into_values().filter(|_| again) {
                self.http("POST", &path, Some(body));
            }
        }
        if self.tasks.is_empty() || self.strategies.gap.on_gap(gap) == OnGap::Resume {
            return;
        }
        let mut fetches: Vec<(String, Fetch)> = self
            .tasks
            .iter()
            .map(|(task_id, task)| {
                let path = format!("/session/{}/message", task.session_id());
                (path, Fetch::Messages { task_id: task_id.clone() })
            })
            .collect();
        fetches.push(("/session/status".to_owned(), Fetch::Status));
        fetches.push(("/permission".to_owned(), Fetch::Permissions));
        let mut refresh = Refresh::default();
        for (path, fetch) in fetches {
            refresh.expect(self.http("GET", &path, None), fetch);
        }
        self.phase = Phase::Refreshing(refresh);
    }

    /// The answer to a request that a refresh made.
    pub(super) fn fetched(&mut self, request: u64, answer: Result<(u16, String), String>) {
        let Phase::Refreshing(refresh) = &mut self.phase else {
            return;
        };
        let body = match &answer {
            Ok((200..=299, body)) => Ok(body.as_str()),
            Ok((status, _)) => Err(format!("the server answered {status}")),
            Err(why) => Err(why.clone()),
        };
        match refresh.take(request, body) {
            Ok(false) => {}
            Ok(true) => {
                let refresh = std::mem::take(refresh);
                self.phase = Phase::Live;
                self.rehydrate(refresh);
                self.pass_fences();
            }
            Err((task_id, why)) => {
                self.phase = Phase::Stale;
                self.count("kilo.cli.session.rehydrate_fail_count");
                let message = format!("the conversation could not be loaded again ({why}); retry");
                self.emit(Update::Error { task_id, message, retry: true });
                self.pass_fences();
            }
        }
    }

    fn rehydrate(&mut self, mut refresh: Refresh) {
        for (task_id, task) in &mut self.tasks {
            if let Some((timeline, status, permissions)) = refresh.of(task_id, task.session_id()) {
                let permissions = self.strategies.questions.after_refresh(permissions, task.questions());
                let update = task.rehydrated(timeline, status, permissions);
                self.out.push(Output::Emit(Notification::Update(update)));
            }
            for (session, event) in &refresh.buffered {
                if let (Event::Replied(id), true) = (event, session == task.session_id()) {
                    task.will_be_replied(id);
                }
            }
        }
        for (session, event) in refresh.buffered {
            self.show(&session, event);
        }
        let settled: Vec<Update> = self.tasks.values_mut().flat_map(Task::settle).collect();
        for update in settled {
            self.emit(update);
        }
    }

    pub(super) fn emit(&mut self, update: Update) {
        if matches!(update, Update::PermissionRequest { .. }) {
            self.count("kilo.cli.permissions.prompt_count");
        }
        self.out.push(Output::Emit(Notification::Update(update)));
    }

    fn log(&mut self, level: LogLevel, text: String) {
        self.out.push(Output::Emit(Notification::Log { level, text }));
    }

    fn count(&mut self, name: &'static str) {
        let count = self.counters.entry(name).or_default();
        *count += 1;
        let value = *count;
        self.out.push(Output::Emit(Notification::Telemetry { name: name.to_owned(), value }));
    }

    /// Time as the harness wants it; fractions of a millisecond do not matter.
    pub(super) fn scaled(&self, ms: u64) -> u64 {
        (ms as f64 * self.time_scale).round() as u64
    }
}
