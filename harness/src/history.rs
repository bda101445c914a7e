//! Questions to a history: what was shown, what the server sent and what it said when it was asked.

use crate::protocol::{Notification, Screen, Update};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{AdapterLine, Line, Speaker, Trouble, TroubleKind};
use fixtures::sse;
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
#[must_use]
pub fn events(lines: &[Line], lane: &str, stream: StreamName) -> Vec<Value> {
    let mut parsers: BTreeMap<u64, sse::Parser> = BTreeMap::new();
    let mut events = Vec::new();
    for line in lines {
        match line {
            Line::Request(request)
                if request.lane.as_deref() == Some(lane) && request.path == stream.path() =>
            {
                parsers.insert(request.exchange, sse::Parser::new());
            }
            Line::Chunk(chunk) => {
                if let Some(parser) = parsers.get_mut(&chunk.exchange) {
                    let frames = parser.feed(&chunk.bytes());
                    events.extend(
                        frames.iter().filter_map(|frame| serde_json::from_str::<Value>(&frame.data).ok()),
                    );
                }
            }
            _ => {}
        }
    }
    events
}

/// Is a connection of this lane to this stream open at the end of the lines?
#[must_use]
pub fn is_connected(lines: &[Line], lane: &str, stream: StreamName) -> bool {
    let mut open = Vec::new();
    for line in lines {
        match line {
            Line::Request(request)
                if request.lane.as_deref() == Some(lane) && request.path == stream.path() =>
            {
                open.push(request.exchange);
            }
            Line::End(end) => open.retain(|exchange| *exchange != end.exchange),
            Line::Response(response) if response.status != 200 => {
                open.retain(|exchange| *exchange != response.exchange);
            }
            _ => {}
        }
    }
    !open.is_empty()
}

/// The last answer to a read of `path` on a lane; `None` when it was not read or not answered well.
#[must_use]
pub fn last_read(lines: &[Line], lane: &str, fits: impl Fn(&str) -> bool) -> Option<Value> {
    let exchange = lines.iter().rev().find_map(|line| match line {
        Line::Request(request)
            if request.method == "GET" && request.lane.as_deref() == Some(lane) && fits(&request.path) =>
        {
            Some(request.exchange)
        }
        _ => None,
    })?;
    lines.iter().find_map(|line| match line {
        Line::Response(response) if response.exchange == exchange && response.status == 200 => {
            response.body.json()
        }
        _ => None,
    })
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

/// What went wrong, whose trouble it is, in order.
pub fn troubles(lines: &[Line]) -> impl Iterator<Item = (TroubleKind, &str)> {
    lines.iter().filter_map(|line| match line {
        Line::Trouble(Trouble { kind, what, .. }) => Some((*kind, what.as_str())),
        _ => None,
    })
}
