//! A recording as a list of facts: JSON values that a question can look at, each with the lines that show it.
//!
//! | `kind` | what it is | fields |
//! |---|---|---|
//! | `did` | the person did a step | `does` |
//! | `answer` | a response, with its request | `does` `method` `path` `query` `asked` `status` `headers` `body` `took_ms` `of` |
//! | `event` | a frame of a stream | `stream` `raw` `frame` `event` `index` `at_ms` `of` |
//! | `end` | a stream ended | `stream` `how` `of` |
//! | `model` | the server asked its model | `purpose` `answered` `tools` `messages` |
//!
//! The answer to `GET /doc` is kept beside the recordings and not in them; what of it can be asked for is `operations`: each
//! operation (`POST /session`), with the names that its body may have.
//!
//! `of` is the number of the exchange, the same for all facts of one stream. `event` is what is in the frame, without
//! the envelope of `/global/event`. What the person did last before a request is its `does`.

use fixtures::recording::{Body, Line, Recording, Request};
use fixtures::{ServerKind, catalog};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The kinds of facts that there are.
pub(super) const KINDS: [&str; 5] = ["did", "answer", "event", "end", "model"];

/// Something that a recording shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// What it is.
    pub value: Value,
    /// The lines of the file that show it, from 1.
    pub lines: Vec<usize>,
}

/// What is known of an exchange that has begun.
struct Exchange {
    request: Request,
    does: String,
    line: usize,
    stream: Stream,
}

/// The bytes of a stream that are no whole frame yet, and from which lines they came.
#[derive(Default)]
struct Stream {
    rest: Vec<u8>,
    lines: Vec<usize>,
    frames: usize,
}

/// The facts of a recording, in the order of its lines.
#[must_use]
pub fn facts(recording: &Recording) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut exchanges: BTreeMap<u64, Exchange> = BTreeMap::new();
    let mut does = String::new();
    for (index, line) in recording.lines.iter().enumerate() {
        // The first line of a file is its header.
        let number = index + 2;
        let mut push = |value, lines| facts.push(Fact { value, lines });
        match line {
            Line::User(user) => {
                does.clone_from(&user.does);
                push(json!({"kind": "did", "does": user.does}), vec![number]);
            }
            Line::Request(request) => {
                let (request, does) = (request.clone(), does.clone());
                let stream = Stream::default();
                exchanges.insert(request.exchange, Exchange { request, does, line: number, stream });
            }
            Line::Response(response) => {
                let Some(exchange) = exchanges.get(&response.exchange) else { continue };
                let request = &exchange.request;
                let took_ms = response.at_us.saturating_sub(request.at_us) / 1000;
                let mut value = json!({
                    "kind": "answer", "of": request.exchange, "does": exchange.does,
                    "method": request.method, "path": request.path, "query": request.query,
                    "asked": body(&request.body), "asked_headers": headers(&request.headers),
                    "status": response.status, "headers": headers(&response.headers),
                    "body": body(&response.body), "took_ms": took_ms,
                });
                if request.path == "/doc" {
                    value["operations"] = operations(recording);
                }
                push(value, vec![exchange.line, number]);
            }
            Line::Chunk(chunk) => {
                let Some(exchange) = exchanges.get_mut(&chunk.exchange) else { continue };
                for (raw, index, lines) in exchange.stream.take(&chunk.bytes(), number) {
                    let path = &exchange.request.path;
                    push(event(raw, index, path, chunk.exchange, chunk.at_us / 1000), lines);
                }
            }
            Line::End(end) => {
                let Some(exchange) = exchanges.get(&end.exchange) else { continue };
                let stream = &exchange.request.path;
                push(
                    json!({"kind": "end", "of": end.exchange, "stream": stream, "how": end.how}),
                    vec![number],
                );
            }
            Line::Model(call) => push(
                json!({
                    "kind": "model", "purpose": call.purpose, "answered": call.answered,
                    "tools": call.tools, "messages": call.messages,
                }),
                vec![number],
            ),
            Line::Pipe(_) | Line::PipeEnd(_) | Line::Exit(_) => {}
            Line::Header(_) | Line::Fault(_) | Line::Adapter(_) | Line::Trouble(_) | Line::Note(_) => {}
        }
    }
    facts
}

impl Stream {
    /// The frames that are whole now: each as it stands on the wire, its place in the stream, and its lines.
    fn take(&mut self, bytes: &[u8], line: usize) -> Vec<(String, usize, Vec<usize>)> {
        self.rest.extend_from_slice(bytes);
        self.lines.push(line);
        let mut frames = Vec::new();
        while let Some(end) = self.rest.windows(2).position(|two| two == b"\n\n") {
            let raw = self.rest.drain(..end + 2).collect::<Vec<_>>();
            frames.push((String::from_utf8_lossy(&raw[..end]).into_owned(), self.frames, self.lines.clone()));
            self.frames += 1;
            // What is left came with this chunk.
            self.lines = vec![line];
        }
        if self.rest.is_empty() {
            self.lines.clear();
        }
        frames
    }
}

/// What the document of a recording's release has; nothing of releases that are not pinned.
fn operations(recording: &Recording) -> Value {
    static READ: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    let read = READ.get_or_init(|| {
        let of = |server: ServerKind| {
            let document = serde_json::from_slice(catalog::doc(&server.release())?).ok()?;
            Some((server.release(), operations_of(&document)))
        };
        ServerKind::ALL.into_iter().filter_map(of).collect()
    });
    let release = format!("{}-{}", recording.header.server, recording.header.version);
    read.get(&release).cloned().unwrap_or_default()
}

fn operations_of(document: &Value) -> Value {
    let mut operations = Map::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let names = &operation["requestBody"]["content"]["application/json"]["schema"]["properties"];
            let mut names: Vec<&String> = names.as_object().into_iter().flat_map(Map::keys).collect();
            names.sort();
            operations.insert(format!("{} {path}", method.to_uppercase()), json!(names));
        }
    }
    operations.into()
}

fn event(raw: String, index: usize, stream: &str, of: u64, at_ms: u64) -> Value {
    let frame: Value =
        raw.strip_prefix("data: ").and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
    let event = frame.get("payload").unwrap_or(&frame).clone();
    let mut fact = json!({"kind": "event", "of": of, "stream": stream, "index": index, "at_ms": at_ms});
    fact["raw"] = Value::String(raw);
    fact["frame"] = frame;
    fact["event"] = event;
    fact
}

fn body(body: &Body) -> Value {
    match body {
        Body::Empty => Value::Null,
        Body::Text(text) | Body::Base64(text) => body.json().unwrap_or_else(|| Value::String(text.clone())),
        Body::Json(value) => value.clone(),
    }
}

fn headers(headers: &[(String, String)]) -> Value {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), Value::String(value.clone())))
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_frame_that_came_in_pieces_is_one_fact_with_all_of_its_lines() {
        let header = concat!(
            r#"{"header":{"format":1,"kind":"recording","server":"kilo","version":"7.7.7","performer":"real","#,
            r#""scenario":"a/b","workspace":"/w","by":"standin 0.1.0"}}"#
        );
        let lines = [
            header,
            r#"{"user":{"at_us":1,"step":1,"does":"looks"}}"#,
            r#"{"request":{"at_us":2,"exchange":1,"method":"GET","path":"/global/event"}}"#,
            r#"{"response":{"at_us":3000,"exchange":1,"status":200,"headers":[["vary","Origin"]]}}"#,
            r#"{"chunk":{"at_us":4000,"exchange":1,"text":"data: {\"payload\":{\"type\":\"a\"}}\n\ndata: {\"ty"}}"#,
            r#"{"chunk":{"at_us":5000,"exchange":1,"text":"pe\":\"b\"}\n"}}"#,
            r#"{"chunk":{"at_us":6000,"exchange":1,"text":"\n: half"}}"#,
            r#"{"end":{"at_us":7000,"exchange":1,"how":"closed_by_server"}}"#,
        ];
        let recording = Recording::parse(Path::new("x.jsonl"), &(lines.join("\n") + "\n")).unwrap();
        let facts = facts(&recording);
        let shown: Vec<_> =
            facts.iter().map(|fact| (fact.value["kind"].as_str().unwrap(), &fact.lines[..])).collect();
        let expected: Vec<(&str, &[usize])> =
            vec![("did", &[2]), ("answer", &[3, 4]), ("event", &[5]), ("event", &[5, 6, 7]), ("end", &[8])];
        assert_eq!(shown, expected);
        assert_eq!((&facts[1].value["does"], &facts[1].value["took_ms"]), (&json!("looks"), &json!(2)));
        assert_eq!((&facts[2].value["event"]["type"], &facts[2].value["index"]), (&json!("a"), &json!(0)));
        assert_eq!((&facts[3].value["event"]["type"], &facts[3].value["at_ms"]), (&json!("b"), &json!(6)));
    }
}
