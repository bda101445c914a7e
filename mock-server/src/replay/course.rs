//! A recording as a course of moments, each of which knows what it waits for.

use super::asks::Asks;
use super::listening::Opened;
use super::lives::{self, Death};
use super::notices::Notice;
use super::order;
use super::resource::{Resource, other_folder, telling};
use super::threads::{Thread, Threads};
use crate::doc::Operations;
use crate::performer::{Audience, Frame, WireReply};
use bytes::Bytes;
use fixtures::fault_plan::StreamName;
use fixtures::recording::{End, HowEnded, Line, Recording, Request, Response};
use fixtures::sse;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The status of an answer to somebody without credentials.
const UNAUTHORIZED: u16 = 401;
/// The status of an answer to a request that is not one.
pub(super) const BAD_REQUEST: u16 = 400;
/// Headers that belong to one answer, not to all.
const OWN_HEADERS: &[&str] =
    &["access-control-expose-headers", "content-security-policy", "link", "x-next-cursor"];

/// What a recorded server did and was asked, in order.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) moments: Vec<Moment>,
    /// The requests that cause something.
    pub(super) causes: Vec<Cause>,
    pub(super) reads: Vec<Read>,
    pub(super) notices: Vec<Notice>,
    /// The first frame of each stream.
    pub(super) hello: BTreeMap<&'static str, Frame>,
    /// The sessions that are told from their beginning.
    pub(super) created: BTreeSet<String>,
    /// All sessions that are told of.
    pub(super) mentioned: BTreeSet<String>,
    /// The folders beside the agent's that were asked about.
    pub(super) folders: BTreeSet<String>,
    /// The questions, and the sessions that ask.
    pub(super) questions: BTreeMap<String, String>,
}

/// Something at its place.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) thread: Thread,
    /// When it was recorded: milliseconds since the client had first asked for a stream or caused something.
    pub(super) at_ms: u64,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// A request arrived: its index among the causes.
    Cause(usize),
    /// Its answer.
    Answer(usize),
    /// A read was answered: its index among the reads. It waits for all that came before, and nothing for it.
    Read(usize),
    /// Somebody began to listen.
    Opened(Opened),
    /// A frame on a stream.
    Sent(Sent),
    /// The server ended its streams of this audience.
    Closed(Closed),
    /// The server was gone; what follows was another one's.
    Gone {
        /// Its streams were ended, not broken.
        politely: bool,
    },
}

#[derive(Debug)]
pub(super) struct Closed {
    pub(super) audience: Audience,
    at_us: u64,
}

#[derive(Debug)]
pub(super) struct Sent {
    at_us: u64,
    pub(super) audience: Audience,
    pub(super) frame: Frame,
    /// The event, without its wrapper.
    pub(super) event: Value,
}

#[derive(Debug)]
pub(super) struct Cause {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) asks: Asks,
    pub(super) body: Vec<u8>,
    pub(super) answer: Option<WireReply>,
    /// Whoever asked was not let in.
    pub(super) is_refused: bool,
    asked_us: u64,
    answered_us: u64,
}

#[derive(Debug)]
pub(super) struct Read {
    pub(super) path: String,
    /// The part of the query that can change the answer.
    pub(super) query: Vec<(String, String)>,
    /// What events tell of it.
    pub(super) resource: Option<Resource>,
    pub(super) reply: WireReply,
}

impl Sent {
    pub(super) fn kind(&self) -> &str {
        &self.frame.kind
    }

    /// The session that the event names.
    pub(super) fn session(&self) -> Option<&str> {
        let event = &self.event;
        event["properties"]["sessionID"].as_str().or_else(|| event["syncEvent"]["aggregateID"].as_str())
    }

    /// The session whose birth this tells, be it as an event or as its `sync` twin.
    pub(super) fn born(&self) -> Option<&str> {
        let is_birth =
            self.kind() == "session.created" || self.event["syncEvent"]["type"] == "session.created.1";
        self.session().filter(|_| is_birth)
    }

    pub(super) fn parent(&self) -> Option<&str> {
        self.event["properties"]["info"]["parentID"].as_str().filter(|_| self.kind().starts_with("session."))
    }
}

impl Cause {
    /// The session that the answer names: the one that was created.
    pub(super) fn made(&self) -> Option<Value> {
        let answer = self.answer.as_ref().filter(|answer| answer.status == 200)?;
        let made: Value = serde_json::from_slice(&answer.body).ok()?;
        (self.asks == Asks::NewSession && made["id"].is_string()).then_some(made)
    }
}

impl Course {
    pub(super) fn of(recording: &Recording) -> Self {
        let header = &recording.header;
        let mut reader = Reader {
            workspace: header.workspace.clone(),
            directory_header: format!("x-{}-directory", header.server.word()),
            operations: Some(Operations::of(header.server)),
            ..Reader::default()
        };
        let mut deaths = lives::deaths(&recording.lines).into_iter().peekable();
        for (at, line) in recording.lines.iter().enumerate() {
            if deaths.peek().is_some_and(|death| death.wanted_at == at) {
                reader.end_is_wanted(line.at_us());
            }
            if let Some(Death { politely, .. }) = deaths.next_if(|death| death.next_at == at) {
                reader.whats.push(What::Gone { politely });
            }
            reader.line(line);
        }
        let Reader { mut course, whats, begun_us, .. } = reader;
        let whats = order::mended(whats, &course.causes);
        course.note_sessions(&whats);
        course.moments = Threads::new(&course, &whats).tie(whats, &course);
        course.tell_times(begun_us.unwrap_or_default());
        course
    }

    /// What was mended has not kept its time: nothing comes before what stands before it.
    fn tell_times(&mut self, begun_us: u64) {
        let mut latest = 0;
        for moment in &mut self.moments {
            let at_us = match &moment.what {
                What::Cause(index) => self.causes[*index].asked_us,
                What::Answer(index) => self.causes[*index].answered_us,
                What::Read(_) | What::Gone { .. } => 0,
                What::Opened(opened) => opened.at_us,
                What::Sent(sent) => sent.at_us,
                What::Closed(closed) => closed.at_us,
            };
            latest = latest.max(at_us.saturating_sub(begun_us) / 1000);
            moment.at_ms = latest;
        }
    }

    /// Where those moments from `at` on end that come before anybody asks for anything.
    pub(super) fn prologue(&self, at: usize) -> usize {
        let mut later = self.moments[at..].iter();
        let first = later.position(|moment| matches!(moment.what, What::Cause(_)));
        first.map_or(self.moments.len(), |first| at + first)
    }

    fn note_sessions(&mut self, whats: &[What]) {
        self.created.extend(self.causes.iter().filter_map(Cause::made).filter_map(|made| id_of(&made)));
        for sent in whats.iter().filter_map(What::sent) {
            self.mentioned.extend(sent.session().map(str::to_owned));
            self.created.extend(sent.born().map(str::to_owned));
            if let ("permission.asked" | "question.asked", Some(id), Some(session)) =
                (sent.kind(), sent.event["properties"]["id"].as_str(), sent.session())
            {
                self.questions.insert(id.to_owned(), session.to_owned());
            }
        }
        self.mentioned.extend(self.created.iter().cloned());
        let named = self.causes.iter().filter_map(|cause| cause.asks.session());
        self.mentioned.extend(named.map(str::to_owned));
    }
}

impl What {
    pub(super) fn read(&self) -> Option<usize> {
        match self {
            Self::Read(index) => Some(*index),
            _ => None,
        }
    }

    pub(super) fn sent(&self) -> Option<&Sent> {
        match self {
            Self::Sent(sent) => Some(sent),
            _ => None,
        }
    }
}

/// Those who listen to a stream in a folder; `/global/event` tells of all of them.
pub(super) fn audience(stream: StreamName, folder: &str) -> Audience {
    let directory = matches!(stream, StreamName::Event).then(|| Arc::from(folder));
    Audience { stream, directory }
}

pub(super) fn id_of(session: &Value) -> Option<String> {
    session["id"].as_str().map(str::to_owned)
}

/// The path and the telling part of the query of a read.
type Asked = (String, Vec<(String, String)>);

/// Lines → causes, reads, and what happened in order.
#[derive(Default)]
struct Reader {
    workspace: String,
    directory_header: String,
    operations: Option<&'static Operations>,
    course: Course,
    whats: Vec<What>,
    /// When the client first asked for a stream or caused something.
    begun_us: Option<u64>,
    streams: HashMap<u64, (Audience, sse::Parser)>,
    /// How often each stream was opened.
    opened: HashMap<StreamName, usize>,
    /// Exchange → the cause or the read that waits for its answer.
    waiting: HashMap<u64, Result<usize, Asked>>,
    /// Exchange → the notice that does.
    noticed: HashMap<u64, Cause>,
}

impl Reader {
    fn line(&mut self, line: &Line) {
        match line {
            Line::Request(request) => self.request(request),
            Line::Response(response) => self.response(response),
            Line::Chunk(chunk) => {
                let Some((audience, parser)) = self.streams.get_mut(&chunk.exchange) else { return };
                let (audience, frames) = (audience.clone(), parser.feed(&chunk.bytes()));
                frames.iter().for_each(|frame| self.sent(&audience, &frame.data, chunk.at_us));
            }
            Line::End(End { exchange, how: HowEnded::ClosedByServer, at_us }) => {
                let Some((audience, _)) = self.streams.remove(exchange) else { return };
                self.whats.push(What::Closed(Closed { audience, at_us: *at_us }));
            }
            _ => {}
        }
    }

    /// The person has the server ended: what it says then waits for that.
    fn end_is_wanted(&mut self, at_us: u64) {
        self.whats.push(What::Cause(self.course.causes.len()));
        self.course.causes.push(Cause {
            asks: Asks::End,
            method: "the server's end,".to_owned(),
            path: "and another beginning".to_owned(),
            body: Vec::new(),
            answer: None,
            is_refused: false,
            asked_us: at_us,
            answered_us: at_us,
        });
    }

    fn request(&mut self, request: &Request) {
        // As the servers' routers read it, so that whoever spells it otherwise asks for the same.
        let read = self.operations.and_then(|known| known.path(&request.method, &request.path).ok());
        let path = read.unwrap_or_else(|| request.path.clone());
        let stream = StreamName::from_path(&path);
        let is_notice = Asks::of(&request.method, &path).is_notice();
        if stream.is_some() || request.method != "GET" && !is_notice {
            self.begun_us.get_or_insert(request.at_us);
        }
        if request.method == "GET" {
            let header =
                request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(&self.directory_header));
            let query = crate::http::decode_query(&request.query);
            let folder = other_folder(&query, header.map(|(_, value)| value.as_str()), &self.workspace);
            self.course.folders.extend(folder.clone());
            if let Some(stream) = stream {
                let audience = audience(stream, folder.as_deref().unwrap_or(&self.workspace));
                self.streams.insert(request.exchange, (audience, sse::Parser::new()));
                return;
            }
            self.waiting.insert(request.exchange, Err((path, telling(&query, folder))));
        } else {
            let cause = Cause {
                asks: Asks::of(&request.method, &path),
                method: request.method.clone(),
                path,
                body: request.body.to_bytes(),
                answer: None,
                is_refused: false,
                asked_us: request.at_us,
                answered_us: request.at_us,
            };
            if is_notice {
                self.noticed.insert(request.exchange, cause);
                return;
            }
            self.whats.push(What::Cause(self.course.causes.len()));
            self.waiting.insert(request.exchange, Ok(self.course.causes.len()));
            self.course.causes.push(cause);
        }
    }

    fn response(&mut self, response: &Response) {
        let has = |name: &str| response.headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
        let kind = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let own = |name: &&'static str| {
            let found = response.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
            found.map(|(_, value)| (*name, value.clone()))
        };
        let body = Bytes::from(response.body.to_bytes());
        let reply = WireReply {
            headers: OWN_HEADERS.iter().filter_map(own).map(|(name, value)| (name.into(), value)).collect(),
            ..WireReply::new(response.status, kind.map(|(_, value)| value.clone()), body)
        };
        if let Some(cause) = self.noticed.remove(&response.exchange) {
            return self.course.notices.push(Notice::from(Cause { answer: Some(reply), ..cause }));
        }
        match self.waiting.remove(&response.exchange) {
            // Who may ask is decided before it is looked at what for.
            Some(Err(_)) if response.status == UNAUTHORIZED && has("www-authenticate") => {}
            Some(Ok(index)) if response.status == UNAUTHORIZED && has("www-authenticate") => {
                self.course.causes[index].is_refused = true;
                self.whats.retain(|what| !matches!(what, What::Cause(at) if *at == index));
            }
            Some(Ok(index)) => {
                let cause = &mut self.course.causes[index];
                cause.answer = Some(reply);
                cause.answered_us = response.at_us;
                self.whats.push(What::Answer(index));
            }
            Some(Err((path, query))) => {
                let resource = Resource::of(&path, &query).filter(|_| response.status != BAD_REQUEST);
                self.whats.push(What::Read(self.course.reads.len()));
                self.course.reads.push(Read { path, query, resource, reply });
            }
            None => {}
        }
    }

    fn sent(&mut self, audience: &Audience, data: &str, at_us: u64) {
        let stream = audience.stream;
        let mut event = serde_json::from_str::<Value>(data).unwrap_or_default();
        if let Some(inner) = event.get_mut("payload") {
            event = inner.take();
        }
        let kind = event["type"].as_str().unwrap_or_default();
        let frame = Frame { kind: Arc::from(kind), bytes: Bytes::from(sse::encode(data)) };
        match kind {
            // Each connection has its own.
            "server.connected" => {
                self.course.hello.entry(stream.path()).or_insert(frame);
                let opened = self.opened.entry(stream).or_default();
                *opened += 1;
                self.whats.push(What::Opened(Opened { at_us, stream, count: *opened }));
            }
            "server.heartbeat" => {}
            _ => {
                self.whats.push(What::Sent(Sent { at_us, audience: audience.clone(), frame, event }));
            }
        }
    }
}
