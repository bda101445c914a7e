//! The adapter without input or output: an input in, outputs out, no clock, no socket.

use super::answer_all::Batch;
use super::call::Call;
use super::channel::{Channel, Phase};
use super::cutover::Local;
use super::family::Family;
use super::guard::{Disk, Files};
use super::io::{Input, Output, Timer};
use super::life::Life;
use super::publish::Publisher;
use super::strategy::{Gap, Strategies, Went};
use super::task::Task;
use crate::protocol::{Connect, ConnectionState, Done, Id, Settings, TaskEdit};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The adapter.
pub struct Core {
    pub(super) strategies: Strategies,
    /// What is looked at on the disk: links, and a file of keys.
    pub(super) disk: Box<dyn Files + Send>,
    pub(super) time_scale: f64,
    pub(super) settings: Settings,
    pub(super) server: Option<Connect>,
    pub(super) life: Life,
    /// Folder → its stream.
    pub(super) channels: BTreeMap<String, Channel>,
    pub(super) last_stream: u64,
    pub(super) connecting: Option<Id>,
    /// Requests of the harness that wait for the server.
    pub(super) calls: BTreeMap<u64, Call>,
    pub(super) last_request: u64,
    pub(super) tasks: BTreeMap<String, Task>,
    pub(super) family: Family,
    /// Fences that wait for a refresh: its events were read, but not processed.
    pub(super) fences: Vec<Id>,
    /// Answers to questions that the server took and has sent no event about: question → folder, path and body.
    pub(super) unconfirmed: BTreeMap<String, (String, String, Value)>,
    /// Requests for leave that no rule may answer: the person has said so.
    pub(super) held: BTreeSet<String>,
    /// Tasks whose agent the person has stopped, until they prompt again: nobody answers for the person in them.
    pub(super) stopped: BTreeSet<String>,
    /// Questions to which the person has begun to type an answer.
    pub(super) typed: BTreeSet<String>,
    /// Questions whose countdown has begun.
    pub(super) counting: BTreeSet<String>,
    /// Answers that are under way together.
    pub(super) batches: BTreeMap<u64, Batch>,
    /// Edits that wait for the agent to rest.
    pub(super) edits: BTreeMap<String, (Id, TaskEdit)>,
    /// Copies whose messages are being fetched: task → who waits for it, and its session.
    pub(super) copies: BTreeMap<String, (Id, String)>,
    /// What went with the last prompt of each task; only a mutant sends it again.
    pub(super) went_along: BTreeMap<String, Went>,
    /// Servers of tools of its own; only a mutant has any.
    pub(super) own_tools: BTreeMap<String, String>,
    /// The tasks that are the old backend's.
    pub(super) local: Local,
    pub(super) publisher: Publisher,
    pub(super) counters: BTreeMap<(&'static str, Option<String>), u64>,
    /// Since the adapter began.
    pub(super) now_ms: u64,
    pub(super) out: Vec<Output>,
}

impl Core {
    /// An adapter that has heard nothing yet.
    #[must_use]
    pub fn new(strategies: Strategies) -> Self {
        Self {
            strategies,
            disk: Box::new(Disk),
            time_scale: 1.0,
            settings: Settings::default(),
            server: None,
            life: Life::default(),
            channels: BTreeMap::new(),
            last_stream: 0,
            connecting: None,
            calls: BTreeMap::new(),
            last_request: 0,
            tasks: BTreeMap::new(),
            family: Family::default(),
            fences: Vec::new(),
            unconfirmed: BTreeMap::new(),
            held: BTreeSet::new(),
            stopped: BTreeSet::new(),
            typed: BTreeSet::new(),
            counting: BTreeSet::new(),
            batches: BTreeMap::new(),
            edits: BTreeMap::new(),
            copies: BTreeMap::new(),
            went_along: BTreeMap::new(),
            own_tools: BTreeMap::new(),
            local: Local::default(),
            publisher: Publisher::default(),
            counters: BTreeMap::new(),
            now_ms: 0,
            out: Vec::new(),
        }
    }

    /// Takes in what happened, and when; returns what shall happen, in order.
    pub fn step(&mut self, input: Input, now_ms: u64) -> Vec<Output> {
        self.now_ms = now_ms;
        match input {
            Input::Command(id, request) => self.command(id, request),
            Input::HttpDone { request, answer } => self.http_done(request, answer),
            Input::TimerFired { timer } => self.timer(timer),
            Input::ServerStarted { start, password } => self.server_started(start, password),
            Input::ServerNotStarted { start, why } => self.server_not_started(start, &why),
            Input::ServerSaid { start, line } => self.server_said(start, &line),
            Input::ServerEnded { start, how, words, port_taken } => {
                self.server_ended(start, &how, &words, port_taken);
            }
            Input::StreamOpened { stream } => {
                if let Some(folder) = self.folder_of(stream) {
                    self.stream_alive(&folder);
                    if self.strategies.liveness.is_live_at_head() {
                        self.stream_live(&folder);
                    }
                }
            }
            Input::StreamAlive { stream } => {
                if let Some(folder) = self.folder_of(stream)
                    && self.strategies.liveness.hears_bytes()
                {
                    self.stream_alive(&folder);
                }
            }
            Input::StreamEvent { stream, data } => {
                if let Some(folder) = self.folder_of(stream) {
                    self.stream_alive(&folder);
                    self.stream_event(&folder, &data);
                }
            }
            Input::StreamRefused { stream, status, retry_after } => {
                if let Some(folder) = self.folder_of(stream) {
                    let backoff = &self.strategies.backoff;
                    let heard = retry_after.filter(|asked| !asked.by_date || backoff.reads_dates());
                    self.stream_refused(
                        &folder,
                        status,
                        heard.map(|asked| asked.seconds.saturating_mul(1000)),
                    );
                }
            }
            Input::StreamEnded { stream, reason } => {
                if let Some(folder) = self.folder_of(stream) {
                    self.stream_ended(&folder, &reason, None);
                }
            }
        }
        std::mem::take(&mut self.out)
    }

    /// What is read of a chunk of a stream.
    pub(super) fn bytes(&self) -> fn(&[u8]) -> Vec<u8> {
        self.strategies.bytes
    }

    /// The page that asks the server for this path.
    pub(super) fn origin(&self, path: &str) -> Option<&'static str> {
        self.strategies.features.origin(path)
    }

    /// Whose stream this is; news of a stream that was left is not heard.
    fn folder_of(&self, stream: u64) -> Option<String> {
        let channel = self.channels.iter().find(|(_, channel)| channel.stream == stream);
        channel
            .filter(|(_, channel)| !matches!(channel.phase, Phase::Off | Phase::Waiting))
            .map(|(folder, _)| folder.clone())
    }

    fn timer(&mut self, timer: Timer) {
        match timer {
            Timer::Reconnect(stream) => {
                let waits =
                    |channel: &Channel| channel.stream == stream && matches!(channel.phase, Phase::Waiting);
                let folder = self.channels.iter().find(|(_, channel)| waits(channel));
                if let Some(folder) = folder.map(|(folder, _)| folder.clone()) {
                    self.count("kilo.cli.sse.reconnect_count", None);
                    self.show_connection(ConnectionState::Reconnecting);
                    self.open_stream(&folder);
                }
            }
            Timer::Silence(stream) => {
                if let Some(folder) = self.folder_of(stream) {
                    self.look_for_life(&folder);
                }
            }
            Timer::Turn(task) => self.look_at_turn(&task),
            Timer::Publish(task) => self.publish_due(&task),
            Timer::Start(start) => self.start_due(start),
            Timer::Health(start) => self.health_due(start),
            Timer::Again(start) => self.start_again(start),
            Timer::Fetch(folder) => self.on_gap(&folder, Gap::Retry),
            Timer::Look(request) => self.look_for_prompt(request),
            Timer::Approve(task, permission) => self.approve_in_time(&task, &permission),
            Timer::Suggest(task, question) => self.suggest_in_time(&task, &question),
        }
    }

    /// A turn is open: is it forgotten?
    fn look_at_turn(&mut self, task_id: &str) {
        let Some(limit) = self.strategies.turns.quiet_limit_ms() else { return };
        let limit = self.scaled(limit);
        let now = self.now_ms;
        let Some(task) = self.tasks.get_mut(task_id) else { return };
        let quiet = now.saturating_sub(task.heard_ms);
        let Some(turn) = task.turn() else { return };
        let again = if quiet >= limit {
            turn.asked_about += 1;
            task.heard_ms = now;
            self.on_doubt(task_id);
            limit
        } else {
            limit - quiet
        };
        self.start_timer(Timer::Turn(task_id.to_owned()), again);
    }

    /// A wait that is scaled already.
    pub(super) fn start_timer(&mut self, timer: Timer, ms: u64) {
        self.out.push(Output::StartTimer { timer, ms });
    }

    /// The main stream is live: `connect` is done.
    pub(super) fn connected(&mut self, folder: &str) {
        if self.server.as_ref().is_some_and(|server| server.directory == folder)
            && let Some(id) = self.connecting.take()
        {
            self.answer(id, Done {});
        }
    }

    /// Time as the harness wants it; fractions of a millisecond do not matter, but no wait becomes none.
    pub(super) fn scaled(&self, ms: u64) -> u64 {
        let scaled = (ms as f64 * self.time_scale).round() as u64;
        if ms == 0 { 0 } else { scaled.max(1) }
    }
}
