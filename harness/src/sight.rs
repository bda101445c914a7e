//! What is known of a history while it grows. Each line is looked at once: whoever waits looks whenever one has come.

use crate::course::Sent;
use crate::history;
use crate::protocol::{Screen, ServerState, Update};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{AdapterLine, Line, Speaker};
use fixtures::sse;
use mock_server::standin::MAIN_LANE;
use parity_specs::case::ADAPTER_LANE;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the servers call a heartbeat.
const HEARTBEAT: &str = "\"server.heartbeat\"";

/// What was seen so far.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    seen: usize,
    /// So many lines were no heartbeats.
    pub(crate) news: usize,
    /// What the screen says.
    pub(crate) screen: Screen,
    /// All that the server has sent, to eyes that no fault touches.
    pub(crate) events: Vec<Sent>,
    /// Those eyes' connections, and which of them are open.
    eyes: BTreeMap<u64, sse::Parser>,
    watching: BTreeSet<u64>,
    /// The adapter's streams, in the order in which it asked for them.
    streams: Vec<Stream>,
    /// The adapter's readings of a conversation since its latest stream, and whether one of them was answered.
    readings: BTreeSet<u64>,
    has_loaded: bool,
    /// Where any stream ended last, and where the person was told last of an error with Retry beside it.
    lost: Option<usize>,
    told: Option<usize>,
    /// The server that the adapter starts by itself will not come back.
    gone: bool,
    /// Task → the prompt of which the person has learnt nothing; its answer may have been a refusal.
    owed: BTreeMap<String, String>,
    /// The same of those whose end the person has not learnt: that something went wrong is no end yet.
    unended: BTreeMap<String, String>,
    /// Requests that begin tasks, and the tasks that are not the server's.
    begun: BTreeMap<String, String>,
    local: BTreeSet<String>,
    /// The errors with Retry beside them: where, and of which task, all when none.
    pub(crate) errors: Vec<(usize, Option<String>)>,
}

/// A stream that the adapter has asked for.
#[derive(Debug)]
struct Stream {
    exchange: u64,
    parser: sse::Parser,
    is_open: bool,
    has_event: bool,
}

impl Sight {
    /// Looks at what has come since the last time.
    pub(crate) fn see(&mut self, lines: &[Line]) {
        for (at, line) in lines.iter().enumerate().skip(self.seen) {
            self.line(at, line);
        }
        self.seen = lines.len();
    }

    fn line(&mut self, at: usize, line: &Line) {
        let is_heartbeat = matches!(line, Line::Chunk(chunk) if chunk.text.as_deref().is_some_and(|text| text.contains(HEARTBEAT)));
        self.news += usize::from(!is_heartbeat);
        match line {
            Line::Adapter(said) => self.said(at, said, history::update_of(line)),
            Line::Request(request)
                if request.lane.as_deref() == Some(ADAPTER_LANE)
                    && StreamName::from_path(&request.path).is_some() =>
            {
                let parser = sse::Parser::new();
                let (exchange, is_open, has_event) = (request.exchange, false, false);
                self.streams.push(Stream { exchange, parser, is_open, has_event });
                self.readings.clear();
                self.has_loaded = false;
            }
            Line::Request(request)
                if request.lane.as_deref() == Some(ADAPTER_LANE)
                    && request.method == "GET"
                    && request.path.ends_with("/message") =>
            {
                self.readings.insert(request.exchange);
            }
            Line::Request(request)
                if request.lane.as_deref() == Some(MAIN_LANE)
                    && request.path == StreamName::GlobalEvent.path() =>
            {
                self.eyes.insert(request.exchange, sse::Parser::new());
            }
            Line::Response(response) if response.status == 200 => self.opened(response.exchange),
            Line::Chunk(chunk) => {
                if let Some(parser) = self.eyes.get_mut(&chunk.exchange) {
                    let frames = parser.feed(&chunk.bytes());
                    let read = frames.iter().filter_map(|frame| serde_json::from_str(&frame.data).ok());
                    self.events.extend(read.map(|event| Sent::new(at, chunk.at_us, event)));
                } else if let Some(stream) =
                    self.streams.iter_mut().find(|stream| stream.exchange == chunk.exchange)
                    && !stream.has_event
                {
                    let frames = stream.parser.feed(&chunk.bytes());
                    let is_event = |data: &str| serde_json::from_str::<Value>(data).is_ok();
                    stream.has_event = frames.iter().any(|frame| is_event(&frame.data));
                }
            }
            Line::End(end) => {
                let is_stream = self.streams.iter().any(|stream| stream.exchange == end.exchange);
                if is_stream || self.eyes.contains_key(&end.exchange) {
                    self.lost = Some(at);
                }
                self.closed(end.exchange);
            }
            _ => {}
        }
    }

    fn opened(&mut self, exchange: u64) {
        self.has_loaded |= self.readings.contains(&exchange);
        let is_it = |stream: &&mut Stream| stream.exchange == exchange;
        self.streams.iter_mut().filter(is_it).for_each(|stream| stream.is_open = true);
        if self.eyes.contains_key(&exchange) {
            self.watching.insert(exchange);
        }
    }

    fn closed(&mut self, exchange: u64) {
        self.watching.remove(&exchange);
        self.streams
            .iter_mut()
            .filter(|stream| stream.exchange == exchange)
            .for_each(|stream| stream.is_open = false);
    }

    fn said(&mut self, at: usize, said: &AdapterLine, update: Option<Update>) {
        let message = &said.message;
        let task = message["params"]["taskId"].as_str().unwrap_or_default().to_owned();
        let prompts = message["method"] == "task/send" || message["method"] == "task/edit";
        match (said.from, update) {
            (Speaker::Harness, _) if prompts && !self.local.contains(&task) => {
                let id = message["id"].to_string();
                self.owed.insert(task.clone(), id.clone());
                self.unended.insert(task, id);
            }
            // Of a task that is over for good, nothing is owed.
            (Speaker::Harness, _) if message["method"] == "task/close" => {
                self.owed.remove(&task);
                self.unended.remove(&task);
            }
            (Speaker::Harness, _) if message["method"] == "task/start" => {
                self.begun.insert(message["id"].to_string(), task);
            }
            (_, Some(update)) => {
                self.screen.apply(&update);
                if let Update::Terminal { task_id, .. } | Update::Error { task_id: Some(task_id), .. } =
                    &update
                {
                    self.owed.remove(task_id);
                }
                if let Update::Terminal { task_id, .. } = &update {
                    self.unended.remove(task_id);
                }
                if let Update::Server { state, .. } = &update {
                    self.gone = matches!(state, ServerState::Failed | ServerState::Disabled);
                }
                if let Update::Error { task_id, retry: true, .. } = update {
                    self.told = Some(at);
                    self.errors.push((at, task_id));
                }
            }
            (Speaker::Adapter, None)
                if message["result"].is_object() && message["result"]["sessionId"].is_null() =>
            {
                self.local.extend(self.begun.remove(&message["id"].to_string()));
            }
            (Speaker::Adapter, None) if message.get("error").is_some() => {
                let id = message["id"].to_string();
                self.owed.retain(|_, asked| *asked != id);
                self.unended.retain(|_, asked| *asked != id);
            }
            _ => {}
        }
    }

    /// Is the adapter connected, or does the person know that it is not?
    pub(crate) fn knows_connection(&self) -> bool {
        let is_connected = self.streams.iter().any(|stream| stream.is_open);
        is_connected || self.gone || self.told.is_some_and(|told| self.lost.is_none_or(|lost| lost < told))
    }

    /// Is there a prompt of which the person has learnt neither an end nor that something went wrong?
    pub(crate) fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Has every prompt come to an end that the person has learnt?
    pub(crate) fn has_ended(&self) -> bool {
        self.unended.is_empty()
    }

    /// Has the adapter read a conversation since it asked for its latest stream?
    pub(crate) fn has_loaded(&self) -> bool {
        self.has_loaded
    }

    /// Are there eyes that see what the server sends?
    pub(crate) fn watches(&self) -> bool {
        !self.watching.is_empty()
    }

    /// Has the adapter asked for so many streams, and has the last of them an event?
    pub(crate) fn has_stream(&self, count: usize) -> bool {
        count.checked_sub(1).and_then(|at| self.streams.get(at)).is_some_and(|stream| stream.has_event)
    }
}
