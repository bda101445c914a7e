//! Questions to a history: what was shown, what the server sent and what it said when it was asked.

use crate::course::Sent;
use crate::protocol::{Capability, Notification, Screen, Update};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{AdapterLine, Line, Speaker, Trouble, TroubleKind};
use fixtures::sse;
use mock_server::standin::MAIN_LANE;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the adapter showed, in order.
#[must_use]
pub fn updates(lines: &[Line]) -> Vec<Update> {
    lines.iter().filter_map(update_of).collect()
}

/// The update that a line carries.
#[must_use]
pub fn update_of(line: &Line) -> Option<Update> {
    let Line::Adapter(line) = line else { return None };
    if line.from != Speaker::Adapter {
        return None;
    }
    let method = line.message.get("method")?.as_str()?;
    match Notification::from_call(method, line.message.get("params")?) {
        Ok(Notification::Update(update)) => Some(update),
        _ => None,
    }
}

/// What the screen says after all updates.
#[must_use]
pub fn screen(lines: &[Line]) -> Screen {
    let mut screen = Screen::default();
    updates(lines).iter().for_each(|update| screen.apply(update));
    screen
}

/// What the adapter says that it can do.
#[must_use]
pub fn capabilities(lines: &[Line]) -> Vec<Capability> {
    let said = lines.iter().find_map(|line| match line {
        Line::Adapter(AdapterLine { from: Speaker::Adapter, message, .. }) => {
            message["result"].get("capabilities")
        }
        _ => None,
    });
    said.and_then(|said| serde_json::from_value(said.clone()).ok()).unwrap_or_default()
}

/// The tasks that the adapter has started, in order, each with the session that it named.
#[must_use]
pub fn tasks(lines: &[Line]) -> Vec<(String, String)> {
    let mut asked: Vec<(&Value, &str)> = Vec::new();
    let mut tasks = Vec::new();
    for line in lines {
        let Line::Adapter(AdapterLine { from, message, .. }) = line else { continue };
        match from {
            Speaker::Harness if message["method"] == "task/start" => {
                if let Some(task) = message["params"]["taskId"].as_str() {
                    asked.push((&message["id"], task));
                }
            }
            Speaker::Adapter if message.get("result").is_some() => {
                let answered = asked.iter().find(|(id, _)| **id == message["id"]);
                if let (Some((_, task)), Some(session)) = (answered, message["result"]["sessionId"].as_str())
                {
                    tasks.push(((*task).to_owned(), session.to_owned()));
                }
            }
            _ => {}
        }
    }
    tasks
}

/// The events that a lane was sent on a stream, over all its connections, as the stand-in wrote them.
fn events_at(lines: &[Line], lane: &str, stream: StreamName) -> Vec<Sent> {
    let mut parsers: BTreeMap<u64, sse::Parser> = BTreeMap::new();
    let mut events = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match line {
            Line::Request(request)
                if request.lane.as_deref() == Some(lane) && request.path == stream.path() =>
            {
                parsers.insert(request.exchange, sse::Parser::new());
            }
            Line::Chunk(chunk) => {
                if let Some(parser) = parsers.get_mut(&chunk.exchange) {
                    let frames = parser.feed(&chunk.bytes());
                    let read =
                        frames.iter().filter_map(|frame| serde_json::from_str::<Value>(&frame.data).ok());
                    events.extend(read.map(|event| Sent::new(at, chunk.at_us, event)));
                }
            }
            _ => {}
        }
    }
    events
}

/// The events that a lane was sent on a stream.
#[must_use]
pub fn events(lines: &[Line], lane: &str, stream: StreamName) -> Vec<Value> {
    events_at(lines, lane, stream).into_iter().map(|sent| sent.event).collect()
}

/// All that the server has sent, to eyes that no fault touches, each with its place.
#[must_use]
pub fn server_events_at(lines: &[Line]) -> Vec<Sent> {
    events_at(lines, MAIN_LANE, StreamName::GlobalEvent)
}

/// All that the server has sent, to eyes that no fault touches.
#[must_use]
pub fn server_events(lines: &[Line]) -> Vec<Value> {
    events(lines, MAIN_LANE, StreamName::GlobalEvent)
}

/// What the harness read of a path in the end; of several folders all that they say, put together.
#[must_use]
pub fn last_read(lines: &[Line], path: &str) -> Option<Value> {
    let mut asked = BTreeSet::new();
    let mut said: Option<Value> = None;
    for line in lines {
        match line {
            Line::Request(request)
                if request.method == "GET"
                    && request.lane.as_deref() == Some(MAIN_LANE)
                    && request.path == path =>
            {
                asked.insert(request.exchange);
            }
            Line::Response(response) if response.status == 200 && asked.contains(&response.exchange) => {
                let more = response.body.json();
                match (&mut said, more) {
                    (Some(Value::Array(all)), Some(Value::Array(more))) => all.extend(more),
                    (Some(Value::Object(all)), Some(Value::Object(more))) => all.extend(more),
                    (_, more) => said = more,
                }
            }
            _ => {}
        }
    }
    said
}

/// All good answers to reads, on any lane, whose path fits; in order.
#[must_use]
pub fn reads(lines: &[Line], fits: impl Fn(&str) -> bool) -> Vec<Value> {
    let mut asked = BTreeSet::new();
    let mut answers = Vec::new();
    for line in lines {
        match line {
            Line::Request(request) if request.method == "GET" && fits(&request.path) => {
                asked.insert(request.exchange);
            }
            Line::Response(response) if response.status == 200 && asked.contains(&response.exchange) => {
                answers.extend(response.body.json());
            }
            _ => {}
        }
    }
    answers
}

/// How a note begins that tells what an adapter has said on its stderr.
pub(crate) const STDERR: &str = "the adapter's stderr: ";

/// The last words of an adapter on its stderr, as they are told to people: where it died at once, they say why.
#[must_use]
pub fn last_words(lines: &[Line]) -> Option<String> {
    const MOST: usize = 6;
    let words = lines.iter().filter_map(|line| match line {
        Line::Note(note) => note.text.strip_prefix(STDERR).filter(|words| !words.trim().is_empty()),
        _ => None,
    });
    let words: Vec<&str> = words.collect();
    let last = &words[words.len().saturating_sub(MOST)..];
    (!last.is_empty()).then(|| format!("its last words on stderr:\n  {}", last.join("\n  ")))
}

/// What went wrong, whose trouble it is, in order.
pub fn troubles(lines: &[Line]) -> impl Iterator<Item = (TroubleKind, &str)> {
    lines.iter().filter_map(|line| match line {
        Line::Trouble(Trouble { kind, what, .. }) => Some((*kind, what.as_str())),
        _ => None,
    })
}
