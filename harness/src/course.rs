//! A history, put in order for the checks: what harness and adapter said to each other, and what the adapter and the
//! server did. Each thing knows its line, so that before and after can be told, and its time.

mod exchange;

pub use exchange::{Answer, Exchange, Sent};

use crate::history;
use crate::net::RetryAfter;
use crate::protocol::{Capability, LogLine, Notification, Request, RpcError, Signal, TaskStart, Update};
use exchange::exchange;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{AdapterLine, Line, Speaker};
use fixtures::sse;
use parity_specs::case::ADAPTER_LANE;
use serde_json::Value;
use std::collections::BTreeMap;

/// A history, put in order.
#[derive(Debug, Default)]
pub struct Course<'a> {
    /// The history itself.
    pub lines: &'a [Line],
    /// What harness and adapter said.
    pub said: Vec<Said>,
    /// What the adapter asked of the server.
    pub exchanges: Vec<Exchange>,
    /// What the server sent, to eyes that no fault touches.
    pub events: Vec<Sent>,
    /// What the adapter says that it can do.
    pub can: Vec<Capability>,
    /// What its waits are multiplied by.
    pub time_scale: f64,
    /// The tasks that were started.
    pub tasks: Vec<Started>,
    /// Those that are over for good, and where the adapter has said so.
    pub closed: BTreeMap<String, usize>,
    /// The folder that `connect` named.
    pub folder: String,
    /// The port that `connect` named.
    pub port: Option<u16>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The harness's name of it.
    pub task: String,
    /// The server's session.
    pub session: String,
    /// Its folder.
    pub folder: String,
    /// Where in the history it was started.
    pub line: usize,
}

/// One thing that was said.
#[derive(Debug)]
pub struct Said {
    /// Where in the history.
    pub line: usize,
    /// When.
    pub at_us: u64,
    /// What.
    pub what: What,
}

/// What was said.
#[derive(Debug)]
pub enum What {
    /// The harness asks.
    Asks(String, Request),
    /// The adapter answers.
    Answers(String, Result<Value, RpcError>),
    /// The adapter shows something.
    Shows(Update),
    /// The adapter counts or measures something.
    Signals(Signal),
    /// The adapter logs a line.
    Logs(LogLine),
}

impl<'a> Course<'a> {
    /// Puts a history in order.
    #[must_use]
    pub fn of(lines: &'a [Line]) -> Self {
        Self::with_events(lines, history::server_events_at(lines))
    }

    /// The same for who knows already what the server has sent.
    pub(crate) fn with_events(lines: &'a [Line], events: Vec<Sent>) -> Self {
        let mut course = Self { lines, time_scale: 1.0, ..Self::default() };
        course.can = history::capabilities(lines);
        let mut open: BTreeMap<u64, (usize, Option<sse::Parser>)> = BTreeMap::new();
        for (at, line) in lines.iter().enumerate() {
            match line {
                Line::Adapter(said) => course.talk(at, said),
                Line::Request(request) if request.lane.as_deref() == Some(ADAPTER_LANE) => {
                    let is_stream = StreamName::from_path(&request.path).is_some();
                    open.insert(request.exchange, (course.exchanges.len(), is_stream.then(sse::Parser::new)));
                    course.exchanges.push(exchange(at, request));
                }
                Line::Response(response) => {
                    if let Some((place, _)) = open.get(&response.exchange) {
                        let header = |name: &str| {
                            response.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value)
                        };
                        course.exchanges[*place].answer = Some(Answer {
                            line: at,
                            at_us: response.at_us,
                            status: response.status,
                            retry_after_s: header("retry-after").and_then(|value| {
                                let asked = RetryAfter::of(value, header("date").map(String::as_str))?;
                                Some(asked.seconds.saturating_sub(u64::from(asked.by_date)))
                            }),
                            body: response.body.json().unwrap_or_default(),
                        });
                    }
                }
                Line::Chunk(chunk) => {
                    if let Some((place, Some(parser))) = open.get_mut(&chunk.exchange) {
                        course.exchanges[*place].bytes_us = Some(chunk.at_us);
                        let frames = parser.feed(&chunk.bytes());
                        let read = frames.iter().filter_map(|frame| serde_json::from_str(&frame.data).ok());
                        let sent = read.map(|event| Sent::new(at, chunk.at_us, event));
                        course.exchanges[*place].events.extend(sent);
                    }
                }
                Line::End(end) => {
                    if let Some((place, _)) = open.get(&end.exchange) {
                        course.exchanges[*place].end = Some((at, end.at_us));
                        course.exchanges[*place].how = Some(end.how);
                    }
                }
                _ => {}
            }
        }
        course.events = events;
        course
    }

    fn talk(&mut self, line: usize, said: &AdapterLine) {
        let (message, at_us) = (&said.message, said.at_us);
        let id = message["id"].to_string();
        let method = message["method"].as_str();
        let what = match (said.from, method) {
            (Speaker::Harness, Some(method)) => {
                let Ok(request) = Request::from_call(method, &message["params"]) else { return };
                match &request {
                    Request::Initialize(initialize) => self.time_scale = initialize.time_scale,
                    Request::ServerSpawn(spawn) => self.folder.clone_from(&spawn.directory),
                    Request::Connect(connect) => {
                        self.folder.clone_from(&connect.directory);
                        self.port = connect.url.rsplit(':').next().and_then(|port| port.parse().ok());
                    }
                    _ => {}
                }
                What::Asks(id, request)
            }
            (Speaker::Adapter, Some(method)) => match Notification::from_call(method, &message["params"]) {
                Ok(Notification::Update(update)) => What::Shows(update),
                Ok(Notification::Telemetry(signal)) => What::Signals(signal),
                Ok(Notification::Log(line)) => What::Logs(line),
                Err(_) => return,
            },
            (Speaker::Adapter, None) => {
                let outcome = match message.get("error") {
                    Some(error) => Err(serde_json::from_value(error.clone())
                        .unwrap_or_else(|_| RpcError::failed("an error without words"))),
                    None => Ok(message["result"].clone()),
                };
                self.note_start(line, &id, &outcome);
                What::Answers(id, outcome)
            }
            (Speaker::Harness, None) => return,
        };
        self.said.push(Said { line, at_us, what });
    }

    fn note_start(&mut self, line: usize, id: &str, outcome: &Result<Value, RpcError>) {
        let closes = self.said.iter().find_map(|said| match &said.what {
            What::Asks(asked, Request::TaskClose(task)) if asked == id => Some(task.task_id.clone()),
            _ => None,
        });
        if outcome.is_ok() {
            self.closed.extend(closes.map(|task| (task, line)));
        }
        let asked = self.said.iter().find_map(|said| match &said.what {
            What::Asks(asked, Request::TaskStart(start)) if asked == id => Some(start.clone()),
            What::Asks(asked, Request::TaskFork(fork)) if asked == id => {
                let from = self.tasks.iter().find(|started| started.task == fork.task_id);
                let directory = from.map(|started| started.folder.clone());
                Some(TaskStart { task_id: fork.new_task_id.clone(), directory })
            }
            _ => None,
        });
        if let (Some(start), Ok(result)) = (asked, outcome)
            && let Some(session) = result["sessionId"].as_str()
        {
            let folder = start.directory.unwrap_or_else(|| self.folder.clone());
            let (task, session) = (start.task_id, session.to_owned());
            self.tasks.push(Started { task, session, folder, line });
        }
    }

    /// What the adapter showed, with its place.
    pub fn shown(&self) -> impl Iterator<Item = (&Said, &Update)> {
        self.said.iter().filter_map(|said| match &said.what {
            What::Shows(update) => Some((said, update)),
            _ => None,
        })
    }

    /// What the harness asked, with its place and the name of the request.
    pub fn asked(&self) -> impl Iterator<Item = (&Said, &str, &Request)> {
        self.said.iter().filter_map(|said| match &said.what {
            What::Asks(id, request) => Some((said, id.as_str(), request)),
            _ => None,
        })
    }

    /// The adapter's answer to a request.
    #[must_use]
    pub fn answer_to(&self, id: &str) -> Option<(&Said, &Result<Value, RpcError>)> {
        self.said.iter().find_map(|said| match &said.what {
            What::Answers(to, outcome) if to == id => Some((said, outcome)),
            _ => None,
        })
    }

    /// From this line on everything is over.
    #[must_use]
    pub fn shutdown(&self) -> usize {
        let told = self.asked().find(|(_, _, request)| matches!(request, Request::Shutdown));
        told.map_or(usize::MAX, |(said, ..)| said.line)
    }

    /// The adapter's event streams.
    pub fn streams(&self) -> impl Iterator<Item = &Exchange> {
        self.exchanges.iter().filter(|exchange| exchange.is_stream())
    }

    /// The folder that an exchange is about; that of `connect` when it names none.
    #[must_use]
    pub fn folder_of<'b>(&'b self, exchange: &'b Exchange) -> &'b str {
        exchange.folder.as_deref().unwrap_or(&self.folder)
    }

    /// Has the agent said, thought or done anything, as the server tells it?
    #[must_use]
    pub fn has_answer(&self, wanted: impl Fn(&Value) -> bool) -> bool {
        let is_agents = |message: &Value| {
            let mut told = self.events.iter().map(|sent| &sent.event["properties"]["info"]);
            told.any(|info| info["id"] == *message && info["role"] == "assistant")
        };
        let mut parts = self.events.iter().map(|sent| &sent.event["properties"]["part"]);
        parts.any(|part| {
            // Kilo shows progress as a text, and takes it away again.
            let is_progress =
                part["synthetic"] == true || part["metadata"]["kilocode.lifecycle"] == "transient";
            matches!(part["type"].as_str(), Some("text" | "reasoning" | "tool"))
                && !is_progress
                && wanted(part)
                && is_agents(&part["messageID"])
        })
    }

    /// The session, the one whose agent has created it, and so on.
    #[must_use]
    pub fn family_of(&self, session: &str) -> Vec<String> {
        let parent = |of: &str| {
            self.events.iter().find_map(|sent| {
                let info = &sent.event["properties"]["info"];
                let is_of = info["id"] == of && matches!(sent.kind(), "session.created" | "session.updated");
                info["parentID"].as_str().filter(|_| is_of).map(str::to_owned)
            })
        };
        let mut line = vec![session.to_owned()];
        while let Some(next) = line.last().and_then(|last| parent(last)).filter(|next| !line.contains(next)) {
            line.push(next);
        }
        line
    }

    /// The task whose session, or whose session's agent, this session is.
    #[must_use]
    pub fn task_of(&self, session: &str) -> Option<&Started> {
        self.family_of(session).iter().find_map(|of| self.tasks.iter().find(|started| started.session == *of))
    }
}
