//! A history as a time line for people: who did what, and what the person saw.

mod words;

use crate::protocol::Notification;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{
    AdapterLine, Chunk, End, HowEnded, Line, ModelPurpose, Recording, Request, Response, Speaker,
};
use fixtures::sse;
use mock_server::standin::MAIN_LANE;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
pub use words::{changed, seen};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Milliseconds since the run began.
    pub at_ms: f64,
    /// Who did it.
    pub who: Who,
    /// What, in few words.
    pub what: String,
}

/// Who does things. Each is a column of a time line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Who {
    /// The person of the scenario.
    Person,
    /// The adapter: what it answers, what it logs and what it counts. Since format 3.
    Adapter,
    /// What the person sees.
    Screen,
    /// The adapter's requests to the server.
    Rest,
    /// The server's events to the adapter.
    Stream,
    /// The server's questions to its model.
    Model,
    /// What was broken on purpose.
    Fault,
    /// What went wrong with the run itself.
    Trouble,
}

/// The time line of a history. The harness's own reads are left out.
#[must_use]
pub fn of(history: &Recording) -> Vec<Entry> {
    let mut weaver = Weaver::of(&history.lines);
    history.lines.iter().for_each(|line| weaver.line(line));
    weaver.entries
}

/// How long an answer may take before it is worth a word.
const AT_ONCE_US: u64 = 50_000;

/// How much of an answer or of a delta is told.
const SAID: usize = 160;

/// Weaves the lines of a history into one time line.
struct Weaver<'a> {
    entries: Vec<Entry>,
    open: BTreeMap<u64, Exchange>,
    /// The requests that the server has answered, whether or not the answer arrived.
    answered: BTreeSet<u64>,
    /// The exchanges that ended in another way than by a whole answer.
    ended: BTreeSet<u64>,
    /// What the adapter was asked, and has not answered yet.
    asked: Vec<(&'a Value, &'a str)>,
    /// The numbers of all that the adapter answers at some time.
    replied: Vec<&'a Value>,
}

struct Exchange {
    what: String,
    at_us: u64,
    /// It is an event stream.
    stream: Option<sse::Parser>,
}

impl<'a> Weaver<'a> {
    fn of(lines: &'a [Line]) -> Self {
        let mut weaver = Self {
            entries: Vec::new(),
            open: BTreeMap::new(),
            answered: BTreeSet::new(),
            ended: BTreeSet::new(),
            asked: Vec::new(),
            replied: Vec::new(),
        };
        for line in lines {
            match line {
                Line::Response(response) => _ = weaver.answered.insert(response.exchange),
                Line::End(end) => _ = weaver.ended.insert(end.exchange),
                Line::Adapter(line) if line.from == Speaker::Adapter => {
                    weaver.replied.extend(line.message.get("id"));
                }
                _ => {}
            }
        }
        weaver
    }

    fn push(&mut self, at_us: u64, who: Who, what: String) {
        #[expect(clippy::cast_precision_loss, reason = "a run takes seconds, not centuries")]
        let at_ms = at_us as f64 / 1000.0;
        self.entries.push(Entry { at_ms, who, what });
    }

    fn line(&mut self, line: &'a Line) {
        match line {
            Line::User(line) => self.push(line.at_us, Who::Person, line.does.clone()),
            Line::Adapter(line) => self.adapter(line),
            Line::Request(request) if request.lane.as_deref() != Some(MAIN_LANE) => self.request(request),
            Line::Response(response) => self.response(response),
            Line::Chunk(chunk) => self.chunk(chunk),
            Line::End(end) => self.end(end),
            Line::Model(call) => {
                let purpose = match call.purpose {
                    ModelPurpose::Title => "a title",
                    ModelPurpose::Summary => "a summary",
                    ModelPurpose::Turn => "the agent's part",
                };
                self.push(call.at_us, Who::Model, format!("asked for {purpose}: {}", call.answered));
            }
            Line::Fault(fault) => {
                self.push(fault.at_us, Who::Fault, format!("fault {} {}", fault.fault, fault.did));
            }
            Line::Trouble(trouble) => self.push(trouble.at_us, Who::Trouble, trouble.what.clone()),
            _ => {}
        }
    }

    fn adapter(&mut self, line: &'a AdapterLine) {
        let message = &line.message;
        let method = message["method"].as_str();
        match (line.from, method) {
            (Speaker::Harness, Some(method)) if !is_machinery(method) => {
                self.asked.push((&message["id"], method));
                if !self.replied.contains(&&message["id"]) {
                    self.push(line.at_us, Who::Adapter, format!("{method}: it never answers"));
                }
            }
            (Speaker::Adapter, Some(method)) => {
                match message.get("params").map(|params| Notification::from_call(method, params)) {
                    Some(Ok(Notification::Update(update))) => {
                        let what = seen(&update);
                        let what = update.task_id().map_or(what.clone(), |task| format!("{task}: {what}"));
                        self.push(line.at_us, Who::Screen, what);
                    }
                    _ => self.push(line.at_us, Who::Adapter, noted(method, &message["params"])),
                }
            }
            (Speaker::Adapter, None) => {
                let asked =
                    self.asked.iter().find(|(id, _)| **id == message["id"]).map(|(_, method)| *method);
                if let Some(method) = asked {
                    self.push(line.at_us, Who::Adapter, answer(method, message));
                }
            }
            _ => {}
        }
    }

    /// A request is told with its answer, in one row; one that never gets an answer is told where it was sent.
    fn request(&mut self, request: &Request) {
        let what = format!("{} {}", request.method, short(&request.path));
        let stream = StreamName::from_path(&request.path).map(|_| sse::Parser::new());
        if stream.is_some() {
            self.push(request.at_us, Who::Stream, format!("{} is asked for", request.path));
        } else if !self.answered.contains(&request.exchange) {
            self.push(request.at_us, Who::Rest, format!("{what}: no answer"));
        }
        self.open.insert(request.exchange, Exchange { what, at_us: request.at_us, stream });
    }

    /// What is told here is what the server has sent. That an exchange ended otherwise than by a whole answer is the
    /// only thing that tells of an answer that was lost on the way.
    fn response(&mut self, response: &Response) {
        let Some(exchange) = self.open.get(&response.exchange) else { return };
        let (what, status) = (&exchange.what, response.status);
        let took = response.at_us.saturating_sub(exchange.at_us);
        let took = if took < AT_ONCE_US { String::new() } else { format!(" after {} ms", took / 1000) };
        match (exchange.stream.is_some(), self.ended.contains(&response.exchange)) {
            (true, _) if status == 200 => {}
            (true, _) => self.push(response.at_us, Who::Stream, format!("{what} → {status}{took}")),
            (false, false) => self.push(response.at_us, Who::Rest, format!("{what} → {status}{took}")),
            (false, true) => {
                let told = format!("{what}: the server's {status}{took} does not arrive whole");
                self.push(response.at_us, Who::Rest, told);
            }
        }
    }

    fn chunk(&mut self, chunk: &Chunk) {
        let exchange = self.open.get_mut(&chunk.exchange);
        let Some(parser) = exchange.and_then(|exchange| exchange.stream.as_mut()) else { return };
        let frames = parser.feed(&chunk.bytes());
        let is_mid_frame = parser.is_mid_frame();
        // A twin says what the event before it said.
        let told = frames.into_iter().map(|frame| event(&frame.data));
        for what in told.filter(|what| !what.starts_with("sync ")) {
            self.push(chunk.at_us, Who::Stream, what);
        }
        if is_mid_frame {
            self.push(chunk.at_us, Who::Stream, format!("{} bytes of a frame", chunk.bytes().len()));
        }
    }

    fn end(&mut self, end: &End) {
        let Some(exchange) = self.open.get(&end.exchange) else { return };
        if exchange.stream.is_some() {
            self.push(end.at_us, Who::Stream, ended(end.how).to_owned());
        } else {
            let what = format!("{}: {}", exchange.what, ended(end.how));
            self.push(end.at_us, Who::Rest, what);
        }
    }
}

/// What only the harness wants to know, and no person ever asks for.
fn is_machinery(method: &str) -> bool {
    matches!(method, "fence" | "shutdown") || method.starts_with("probe/")
}

/// What the adapter answers to a call.
fn answer(method: &str, message: &Value) -> String {
    if let Some(error) = message.get("error") {
        let words = error["message"].as_str().map_or_else(|| error.to_string(), ToOwned::to_owned);
        return format!("{method} → error: {}", cut(&words));
    }
    let result = &message["result"];
    match (method, result["sessionId"].as_str()) {
        ("initialize", _) => {
            let name = result["name"].as_str().unwrap_or("?");
            format!("{method} → {name} {}", result["version"].as_str().unwrap_or_default())
        }
        (_, Some(session)) => format!("{method} → {}", short(session)),
        _ if result.as_object().is_none_or(serde_json::Map::is_empty) => format!("{method} → done"),
        _ => format!("{method} → {}", cut(&result.to_string())),
    }
}

/// A line of the adapter's log, or something that it counts.
fn noted(method: &str, params: &Value) -> String {
    let of = params["taskId"].as_str().map(|task| format!(" · {task}")).unwrap_or_default();
    let said = |key: &str| params[key].as_str().unwrap_or("?").to_owned();
    match method {
        "log" => format!("log {}: {}{of}", said("level"), cut(&said("text"))),
        "telemetry" => format!("{} = {}{of}", said("name"), params["value"]),
        _ => format!("{method} {}", cut(&params.to_string())),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SAID) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn ended(how: HowEnded) -> &'static str {
    match how {
        HowEnded::ClosedByClient => "the adapter leaves",
        HowEnded::ClosedByServer => "the server ends it",
        HowEnded::Cut => "it is cut off",
        HowEnded::Reset => "it is reset",
        HowEnded::Broken => "it breaks",
    }
}

/// A path whose ids show their kind and their end only.
fn short(path: &str) -> String {
    let segment = |segment: &str| match segment.split_once('_') {
        Some((kind, id)) if id.len() > 8 && id.is_ascii() => format!("{kind}_…{}", &id[id.len() - 4..]),
        _ => segment.to_owned(),
    };
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn event(data: &str) -> String {
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    let event = event.get("payload").unwrap_or(&event);
    let kind = event["type"].as_str().unwrap_or("?").to_owned();
    let properties = &event["properties"];
    let detail = ["/status/type", "/delta", "/part/state/status", "/part/type", "/info/role", "/reply"]
        .into_iter()
        .find_map(|pointer| properties.pointer(pointer).and_then(Value::as_str));
    let of = session(properties).map(|session| format!(" · {}", short(session))).unwrap_or_default();
    match (kind.as_str(), detail) {
        ("sync", _) => format!("sync {}", event["syncEvent"]["type"].as_str().unwrap_or_default()),
        (_, Some(detail)) => format!("{kind}: {detail}{of}"),
        (_, None) => format!("{kind}{of}"),
    }
}

/// The session that an event is about: its own word for it, or that of what it carries.
fn session(properties: &Value) -> Option<&str> {
    ["/sessionID", "/part/sessionID", "/info/sessionID", "/info/id"]
        .into_iter()
        .find_map(|pointer| properties.pointer(pointer).and_then(Value::as_str))
        .filter(|id| id.starts_with("ses_"))
}

#[cfg(test)]
mod tests;
