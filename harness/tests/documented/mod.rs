//! What crossed the wire, held against what the release documents of itself: an answer against the schema of its
//! operation and status, an event against the one variant that has its type.
//!
//! By a validator that is not ours: the stand-in's own reader of `/doc` must not judge the stand-in.

mod broken;

use broken::Schema;
use fixtures::ServerKind;
use fixtures::catalog;
use fixtures::recording::{Line, Request, Response};
use fixtures::sse::Parser;
use jsonschema::Registry;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Something that is not as documented.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Breach {
    /// `GET /agent 200`, `event todo.updated`.
    pub(crate) at: String,
    /// `/[]/color can't be null`.
    pub(crate) broken: String,
}

fn breach(at: &str, broken: impl Into<String>) -> Breach {
    Breach { at: at.to_owned(), broken: broken.into() }
}

/// A release's own description.
pub(crate) struct Documented {
    operations: Vec<Operation>,
    /// By the path of a stream.
    events: HashMap<&'static str, BTreeMap<String, Schema>>,
    registry: &'static Registry<'static>,
}

struct Operation {
    method: String,
    path: String,
    segments: Vec<String>,
    /// By status, then by type of content.
    answers: BTreeMap<u16, BTreeMap<String, Schema>>,
}

/// Streams of events, and where `/doc` has the variants of what they send.
const STREAMS: &[(&str, &str, &str)] = &[
    ("/event", "/components/schemas/Event", ""),
    ("/global/event", "/components/schemas/GlobalEvent", "payload"),
    ("/api/event", "/components/schemas/V2Event", ""),
    ("/api/session/{sessionID}/event", "/components/schemas/SessionDurableEvent", ""),
];

impl Documented {
    pub(crate) fn by(server: ServerKind) -> Self {
        let doc: Value = serde_json::from_slice(catalog::doc(&server.release()).unwrap()).unwrap();
        let mut operations = Vec::new();
        for (path, methods) in doc["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                operations.push(Operation::read(method, path, operation));
            }
        }
        // A word in a path beats a parameter at its place.
        operations.sort_by_key(|operation| {
            operation.segments.iter().map(|segment| segment.starts_with('{')).collect::<Vec<_>>()
        });
        let events = STREAMS
            .iter()
            .map(|&(path, place, inner)| (path, broken::variants(&doc, place, inner)))
            .collect();
        Self { operations, events, registry: broken::registry(doc) }
    }

    /// All that is otherwise than documented in the lines of a file.
    pub(crate) fn breaches(&self, lines: &[Line]) -> BTreeSet<Breach> {
        let mut breaches = BTreeSet::new();
        let mut asked: HashMap<u64, &Request> = HashMap::new();
        let mut streams: HashMap<u64, (&str, Parser)> = HashMap::new();
        for line in lines {
            match line {
                Line::Request(request) => {
                    asked.insert(request.exchange, request);
                }
                Line::Response(response) => {
                    let Some(operation) =
                        asked.get(&response.exchange).and_then(|request| self.operation(request))
                    else {
                        continue;
                    };
                    breaches.extend(operation.breaches(response, self.registry));
                    let is_stream = content_type(response) == "text/event-stream";
                    let stream = self.events.get_key_value(operation.path.as_str());
                    if let Some((path, _)) = stream.filter(|_| is_stream) {
                        streams.insert(response.exchange, (path, Parser::new()));
                    }
                }
                Line::Chunk(chunk) => {
                    let Some((path, parser)) = streams.get_mut(&chunk.exchange) else { continue };
                    for frame in parser.feed(&chunk.bytes()) {
                        breaches.extend(self.of_event(path, &frame.data));
                    }
                }
                _ => {}
            }
        }
        breaches
    }

    fn operation(&self, request: &Request) -> Option<&Operation> {
        let path = request.path.split(['?', '#']).next().unwrap_or_default();
        let given: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        self.operations.iter().find(|operation| operation.is_at(&request.method, &given))
    }

    fn of_event(&self, path: &str, data: &str) -> Vec<Breach> {
        let stream = path.trim_start_matches('/');
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            return vec![breach(stream, "no JSON")];
        };
        let kind = broken::kind(event.get("payload").unwrap_or(&event));
        let at = format!("{stream} {kind}");
        match self.events[path].get(&kind) {
            Some(schema) => {
                schema.breaches(&event, self.registry).map(|broken| breach(&at, broken)).collect()
            }
            None => vec![breach(&at, "this event is not documented")],
        }
    }
}

impl Operation {
    fn read(method: &str, path: &str, operation: &Value) -> Self {
        let mut answers: BTreeMap<u16, BTreeMap<String, Schema>> = BTreeMap::new();
        for (status, answer) in operation["responses"].as_object().into_iter().flatten() {
            let by_type = answer["content"].as_object().into_iter().flatten().map(|(kind, _)| {
                let place = ["paths", path, method, "responses", status, "content", kind, "schema"];
                (kind.clone(), Schema::new(broken::at(&pointer(&place))))
            });
            answers.insert(status.parse().unwrap(), by_type.collect());
        }
        Self {
            method: method.to_uppercase(),
            path: path.to_owned(),
            segments: path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect(),
            answers,
        }
    }

    fn is_at(&self, method: &str, given: &[&str]) -> bool {
        self.method == method
            && self.segments.len() == given.len()
            && self
                .segments
                .iter()
                .zip(given)
                .all(|(segment, given)| segment.starts_with('{') || segment == given)
    }

    fn breaches(&self, response: &Response, registry: &Registry<'_>) -> Vec<Breach> {
        let at = format!("{} {} {}", self.method, self.path, response.status);
        let one = |broken: &str| vec![breach(&at, broken)];
        let Some(answers) = self.answers.get(&response.status) else {
            return one("this status is not documented");
        };
        let kind = content_type(response);
        if kind == "text/event-stream" {
            return Vec::new();
        }
        if answers.is_empty() {
            return if response.body.is_empty() { Vec::new() } else { one("this body is not documented") };
        }
        let Some(schema) = answers.get(&kind) else {
            return one(&format!("the type '{kind}' is not documented"));
        };
        match response.body.json() {
            Some(value) => schema.breaches(&value, registry).map(|broken| breach(&at, broken)).collect(),
            None if kind == "application/json" => one("no JSON"),
            None => Vec::new(),
        }
    }
}

/// A JSON pointer, as a part of an address.
fn pointer(words: &[&str]) -> String {
    let escaped =
        |word: &&str| word.replace('~', "~0").replace('/', "~1").replace('{', "%7B").replace('}', "%7D");
    words.iter().map(|word| format!("/{}", escaped(word))).collect()
}

/// Without its parameters.
fn content_type(response: &Response) -> String {
    let header = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let value = header.map_or("", |(_, value)| value.as_str());
    value.split(';').next().unwrap_or_default().trim().to_owned()
}

/// Those that nobody knows of, in the words of an entry for the list.
pub(crate) fn unknown(server: ServerKind, breaches: &BTreeSet<Breach>) -> Vec<String> {
    let known = catalog::deviations(server).unwrap();
    let is_unknown = |breach: &&Breach| known.entry(&breach.at, &breach.broken).is_none();
    breaches
        .iter()
        .filter(is_unknown)
        .map(|breach| format!("at {:?} breaks {:?}", breach.at, breach.broken))
        .collect()
}
