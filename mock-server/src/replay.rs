//! A recording, played again to any client.
//!
//! Causal: what the server sent after a request waits until that request comes again. Nothing here knows a
//! scenario or a server; requests are matched by method and path, and the ids fit because the client learns them
//! from the recorded answers. Reads may come at any time and get what was recorded nearest to that time.

use crate::performer::{Act, Audience, Frame, Performer, WireReply};
use crate::world::{ApiRequest, Ticket};
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{Line, Recording};
use fixtures::sse;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A recording and how far it has been played.
#[derive(Debug)]
pub struct Replay {
    version: String,
    doc: Option<&'static [u8]>,
    moments: Vec<Moment>,
    /// Recorded requests that cause something, in order; the ticket of whoever repeated it.
    causes: Vec<Cause>,
    reads: Vec<Read>,
    /// The next moment to be played.
    at: usize,
    hello: BTreeMap<&'static str, Frame>,
    heartbeat: Frame,
}

/// Something that the recorded server did, at its place among the others.
#[derive(Debug)]
enum Moment {
    /// A request arrived: its index among the causes.
    Cause(usize),
    /// Its answer.
    Answer(usize, WireReply),
    /// A frame on a stream.
    Sent(Audience, Frame),
}

#[derive(Debug)]
struct Cause {
    method: String,
    path: String,
    repeated_by: Option<Ticket>,
}

/// A recorded read: it waits for nothing and causes nothing.
#[derive(Debug)]
struct Read {
    path: String,
    /// How many moments came before it.
    at: usize,
    reply: WireReply,
}

impl Replay {
    /// Prepares a recording. `doc` is the `/doc` of its release, which recordings do not repeat.
    #[must_use]
    pub fn new(recording: &Recording, doc: Option<&'static [u8]>) -> Self {
        let mut replay = Self {
            version: recording.header.version.clone(),
            doc,
            moments: Vec::new(),
            causes: Vec::new(),
            reads: Vec::new(),
            at: 0,
            hello: BTreeMap::new(),
            heartbeat: Frame {
                kind: Arc::from("server.heartbeat"),
                bytes: Bytes::from(sse::encode(r#"{"type":"server.heartbeat","properties":{}}"#)),
            },
        };
        let mut streams: HashMap<u64, (StreamName, sse::Parser)> = HashMap::new();
        let mut waiting: HashMap<u64, Result<usize, String>> = HashMap::new();
        for line in &recording.lines {
            match line {
                Line::Request(request) => match StreamName::from_path(&request.path) {
                    Some(stream) => {
                        streams.insert(request.exchange, (stream, sse::Parser::new()));
                    }
                    None if request.method == "GET" => {
                        waiting.insert(request.exchange, Err(request.path.clone()));
                    }
                    None => {
                        let index = replay.causes.len();
                        let (method, path) = (request.method.clone(), request.path.clone());
                        replay.causes.push(Cause { method, path, repeated_by: None });
                        replay.moments.push(Moment::Cause(index));
                        waiting.insert(request.exchange, Ok(index));
                    }
                },
                Line::Response(response) => {
                    let kind =
                        response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
                    let reply = WireReply {
                        status: response.status,
                        content_type: kind.map(|(_, value)| value.clone()),
                        body: Bytes::from(response.body.to_bytes()),
                    };
                    match waiting.remove(&response.exchange) {
                        Some(Ok(index)) => replay.moments.push(Moment::Answer(index, reply)),
                        Some(Err(path)) => replay.reads.push(Read { path, at: replay.moments.len(), reply }),
                        None => {}
                    }
                }
                Line::Chunk(chunk) => {
                    if let Some((stream, parser)) = streams.get_mut(&chunk.exchange) {
                        let frames = parser.feed(&chunk.bytes());
                        let stream = *stream;
                        frames.iter().for_each(|frame| replay.sent(stream, &frame.data));
                    }
                }
                _ => {}
            }
        }
        replay
    }

    fn sent(&mut self, stream: StreamName, data: &str) {
        let event = serde_json::from_str::<Value>(data).unwrap_or_default();
        let inner = event.get("payload").unwrap_or(&event);
        let kind = inner.get("type").and_then(Value::as_str).unwrap_or_default();
        let frame = Frame { kind: Arc::from(kind), bytes: Bytes::from(sse::encode(data)) };
        match kind {
            // Each connection has its own.
            "server.connected" => {
                self.hello.entry(stream.path()).or_insert(frame);
            }
            "server.heartbeat" => {}
            _ => self.moments.push(Moment::Sent(Audience { stream, directory: None }, frame)),
        }
    }

    /// Plays on until a request is missing.
    fn play(&mut self, acts: &mut Vec<Act>) {
        while let Some(moment) = self.moments.get(self.at) {
            match moment {
                Moment::Cause(index) if self.causes[*index].repeated_by.is_none() => return,
                Moment::Cause(_) => {}
                Moment::Answer(index, reply) => {
                    if let Some(ticket) = self.causes[*index].repeated_by {
                        acts.push(Act::Reply(ticket, reply.clone()));
                    }
                }
                Moment::Sent(audience, frame) => acts.push(Act::Send(audience.clone(), frame.clone())),
            }
            self.at += 1;
        }
    }

    /// What a server sends before anybody asks for anything waits for a subscriber.
    fn has_begun(&self) -> bool {
        self.causes.iter().any(|cause| cause.repeated_by.is_some())
    }

    fn open(&mut self, ticket: Ticket, stream: StreamName, acts: &mut Vec<Act>) {
        let hello = self.hello.get(stream.path()).cloned().unwrap_or_else(|| Frame {
            kind: Arc::from("server.connected"),
            bytes: Bytes::from(sse::encode(r#"{"type":"server.connected","properties":{}}"#)),
        });
        let audience = Audience { stream, directory: None };
        acts.push(Act::Open(ticket, audience.clone(), hello));
        if !self.has_begun() {
            let early = self.moments.iter().take_while(|moment| !matches!(moment, Moment::Cause(_)));
            acts.extend(early.filter_map(|moment| match moment {
                Moment::Sent(to, frame) if audience.hears(to) => Some(Act::Send(to.clone(), frame.clone())),
                _ => None,
            }));
        }
    }

    fn read(&self, request: &ApiRequest) -> WireReply {
        match request.path.as_str() {
            "/global/health" => return json_reply(200, &json!({"healthy": true, "version": self.version})),
            "/doc" => {
                if let Some(doc) = self.doc {
                    let content_type = Some("application/json".to_owned());
                    return WireReply { status: 200, content_type, body: Bytes::from_static(doc) };
                }
            }
            _ => {}
        }
        let same = |read: &&Read| read.path == request.path;
        let before = self.reads.iter().rfind(|read| same(read) && read.at <= self.at);
        match before.or_else(|| self.reads.iter().find(same)) {
            Some(read) => read.reply.clone(),
            None => {
                let known: Vec<&str> = self.reads.iter().map(|read| read.path.as_str()).collect();
                near_miss(&format!(
                    "the recording has no GET {}; it has GET {}",
                    request.path,
                    known.join(", ")
                ))
            }
        }
    }
}

impl Performer for Replay {
    fn take(&mut self, request: ApiRequest, _now: &dyn Fn() -> u64) -> Vec<Act> {
        let mut acts = Vec::new();
        if request.method == "GET" {
            match StreamName::from_path(&request.path) {
                Some(stream) => self.open(request.ticket, stream, &mut acts),
                None => acts.push(Act::Reply(request.ticket, self.read(&request))),
            }
            return acts;
        }
        let fits = |cause: &&mut Cause| {
            cause.repeated_by.is_none() && cause.method == request.method && cause.path == request.path
        };
        if !self.has_begun() {
            // Its subscribers have had these already.
            self.at = self.moments.iter().position(|moment| matches!(moment, Moment::Cause(_))).unwrap_or(0);
        }
        match self.causes.iter_mut().find(fits) {
            Some(cause) => {
                cause.repeated_by = Some(request.ticket);
                self.play(&mut acts);
            }
            None => {
                let next = self.causes.iter().find(|cause| cause.repeated_by.is_none());
                let expected = next.map_or_else(
                    || "nothing more".to_owned(),
                    |cause| format!("{} {}", cause.method, cause.path),
                );
                let why = format!(
                    "{} {} does not come next in the recording; {expected} does",
                    request.method, request.path
                );
                acts.push(Act::Reply(request.ticket, near_miss(&why)));
            }
        }
        acts
    }

    fn heartbeat(&mut self, stream: StreamName, _now: &dyn Fn() -> u64) -> Frame {
        match stream {
            StreamName::Event => self.heartbeat.clone(),
            StreamName::GlobalEvent => Frame {
                kind: self.heartbeat.kind.clone(),
                bytes: Bytes::from(sse::encode(r#"{"payload":{"type":"server.heartbeat","properties":{}}}"#)),
            },
        }
    }
}

/// 501 and not 404: a client's own "not found" must not hide that the recording lacks something.
fn near_miss(why: &str) -> WireReply {
    json_reply(501, &json!({"error": format!("standin replay: {why}")}))
}

fn json_reply(status: u16, body: &Value) -> WireReply {
    let content_type = Some("application/json".to_owned());
    WireReply { status, content_type, body: Bytes::from(body.to_string()) }
}
