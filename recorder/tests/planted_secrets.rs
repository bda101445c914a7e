//! Goal: no secret reaches the disk. Method: ten thousand secrets of all shapes are planted wherever a recording has
//! room, whole and split, plain and wrapped; the file that is kept must hold none of them, in any wrapping.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use aho_corasick::AhoCorasick;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use fixtures::recording::{Body, Chunk, Line, ModelCall, ModelPurpose, Note, Recording, Request, Response};
use fixtures::redact::planting::Dice;
use fixtures::redact::{SHAPES, Secrets, clean};
use fixtures::{ServerKind, catalog, sse};
use recorder::keep::keep;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PLANTED: usize = 10_000;

/// A text with a secret in it, and the part of it that must not stay.
struct Plant {
    text: String,
    secret: String,
}

/// Names under which a password is found whatever it looks like.
const NAMES: &[&str] =
    &["token", "apiKey", "API_KEY", "client-secret", "accessToken", "password", "refresh", "x-api-key"];

fn plant(dice: &mut Dice, number: usize) -> Plant {
    let shape = &SHAPES[number % SHAPES.len()];
    // Of an example, what is cooked is the secret: the longest run of it.
    let text = dice.cook(shape.example);
    let runs = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-_+/=".contains(c)));
    let secret = runs.max_by_key(|run| run.len()).unwrap().to_owned();
    Plant { text, secret }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn escaped(text: &str) -> String {
    text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect()
}

/// Cuts a text into pieces of one to seven letters.
fn pieces(dice: &mut Dice, text: &str) -> Vec<String> {
    let mut rest: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let length = (1 + dice.roll(7)).min(rest.len());
        pieces.push(rest.drain(..length).collect());
    }
    pieces
}

struct Garden {
    dice: Dice,
    lines: Vec<Line>,
    exchange: u64,
    secrets: Vec<String>,
}

impl Garden {
    fn request(&mut self, path: String, query: String, body: Body) {
        self.exchange += 1;
        let headers = vec![("accept".to_owned(), "application/json".to_owned())];
        let (exchange, method) = (self.exchange, "POST".to_owned());
        self.lines.push(Line::Request(Request {
            at_us: 1,
            exchange,
            lane: None,
            method,
            path,
            query,
            headers,
            body,
        }));
    }

    fn response(&mut self, headers: Vec<(String, String)>, body: Body) {
        self.exchange += 1;
        self.lines.push(Line::Response(Response {
            at_us: 1,
            exchange: self.exchange,
            status: 200,
            headers,
            body,
        }));
    }

    /// A stream whose chunks end anywhere.
    fn stream(&mut self, bytes: &[u8]) {
        self.response(vec![("content-type".to_owned(), "text/event-stream".to_owned())], Body::Empty);
        let mut at = 0;
        while at < bytes.len() {
            let end = (at + 1 + self.dice.roll(40)).min(bytes.len());
            self.lines.push(Line::Chunk(Chunk::new(1, self.exchange, &bytes[at..end])));
            at = end;
        }
    }

    fn deltas(&mut self, text: &str) {
        let part = format!("prt_{:026}", self.exchange);
        let event = |delta: &String| json!({"type": "message.part.delta", "properties": {"partID": part, "field": "text", "delta": delta}});
        let frames: Vec<Vec<u8>> =
            pieces(&mut self.dice, text).iter().map(|piece| sse::encode(&event(piece).to_string())).collect();
        self.stream(&frames.concat());
    }

    fn arguments(&mut self, text: &str) {
        let arguments = json!({"command": format!("echo {text}")}).to_string();
        let event = |piece: &String| {
            let call = json!({"index": 0, "function": {"arguments": piece}});
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        };
        let frames: Vec<Vec<u8>> = pieces(&mut self.dice, &arguments)
            .iter()
            .map(|piece| sse::encode(&event(piece).to_string()))
            .collect();
        self.stream(&frames.concat());
    }

    fn sow(&mut self, number: usize) {
        let Plant { text, secret } = plant(&mut self.dice, number);
        let name = NAMES[number % NAMES.len()];
        let weak = self.dice.cook("pw.{a9}!");
        // One place in sixteen each, in an order that meets every shape with every place.
        match (number / SHAPES.len()) % 16 {
            0 => self.response(vec![], Body::Json(json!({"log": [{"line": text}]}))),
            1 => self.response(vec![], Body::Text(format!("{{ \"a\" : \"{}\" }}", escaped(&text)))),
            2 => self.response(vec![], Body::Json(json!({"packed": BASE64_STANDARD.encode(&text)}))),
            3 => {
                let packed = BASE64_URL_SAFE_NO_PAD.encode(json!({"a": text}).to_string());
                self.response(vec![], Body::Text(format!("result: {packed}\n")));
            }
            4 => self.request("/find".into(), format!("q={}&limit=3", percent(&text)), Body::Empty),
            5 => self.request(format!("/file/{}/x.txt", percent(&text)), String::new(), Body::Empty),
            6 => self.response(vec![("link".into(), format!("</s>; title=\"{text}\""))], Body::Empty),
            7 => self.stream(&sse::encode(&json!({"properties": {"output": text}}).to_string())),
            8 => self.deltas(&format!("It is {text} as you see")),
            9 => self.arguments(&text),
            10 => self.lines.push(Line::Note(Note { at_us: 1, text: format!("said: {text}") })),
            11 => {
                let messages = vec![json!({"role": "tool", "content": json!({"out": text}).to_string()})];
                let (purpose, answered) = (ModelPurpose::Turn, "turn 1".to_owned());
                self.lines.push(Line::Model(ModelCall {
                    at_us: 1,
                    call: 1,
                    purpose,
                    messages,
                    tools: vec![],
                    terms: json!({"effort": text}).as_object().cloned(),
                    answered,
                }));
            }
            12 => {
                self.secrets.push(weak.clone());
                self.response(
                    vec![],
                    Body::Json(json!({"a": {name: weak}, "b": {"shown": format!("with {weak} it works")}})),
                );
            }
            13 => {
                self.secrets.push(weak.clone());
                self.deltas(&format!(
                    "{}={weak}\nNEXT=1\n",
                    name.to_uppercase().replace('-', "_").replace("REFRESH", "TOKEN")
                ));
            }
            14 => {
                self.secrets.push(weak.clone());
                self.request(
                    "/cb".into(),
                    format!("a=1&{name}={}", percent(&weak)),
                    Body::Text(format!("{name}={weak}&b=2")),
                );
            }
            _ => {
                // A text that grows: its earlier states hold the beginning of the secret only.
                let grown = |end: usize| sse::encode(&json!({"part": {"text": &text[..end]}}).to_string());
                let ends: Vec<usize> =
                    (1..=text.len()).filter(|at| at % 16 == 0 || *at == text.len()).collect();
                let frames: Vec<Vec<u8>> = ends.into_iter().map(grown).collect();
                self.stream(&frames.concat());
            }
        }
        self.secrets.push(secret);
    }
}

/// Everything that a reader could put together from the file: its text, streams joined, deltas joined, all unwrapped.
fn readable(kept: &Recording, text: &str) -> Vec<String> {
    let mut streams: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for line in &kept.lines {
        if let Line::Chunk(chunk) = line {
            streams.entry(chunk.exchange).or_default().extend(chunk.bytes());
        }
    }
    let mut all = vec![text.to_owned()];
    for stream in streams.values() {
        let mut joined = String::new();
        for frame in sse::parse(stream) {
            let event: Value = serde_json::from_str(&frame.data).expect("what was JSON is JSON");
            let chat = &event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"];
            joined += event["properties"]["delta"].as_str().or_else(|| chat.as_str()).unwrap_or_default();
        }
        all.push(joined);
        all.push(String::from_utf8_lossy(stream).into_owned());
    }
    for line in &kept.lines {
        if let Line::Response(response) = line {
            let body = String::from_utf8(response.body.to_bytes()).unwrap();
            all.extend(body.split(['"', ' ', '\n']).filter_map(|word| {
                let packed =
                    BASE64_STANDARD.decode(word).or_else(|_| BASE64_URL_SAFE_NO_PAD.decode(word)).ok()?;
                String::from_utf8(packed).ok()
            }));
            all.extend(response.body.json().map(|value| value.to_string()));
        }
    }
    all
}

#[test]
fn ten_thousand_planted_secrets_leave_no_trace() {
    let mut garden = Garden { dice: Dice::new(2026), lines: Vec::new(), exchange: 0, secrets: Vec::new() };
    (0..PLANTED).for_each(|number| garden.sow(number));
    let Garden { lines, secrets, .. } = garden;
    assert!(secrets.len() >= PLANTED);
    // That of a real one.
    let header = catalog::recording(&ServerKind::Kilo.release(), "text/plain").unwrap().header;
    let recording = Recording { header, lines, torn: false };

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    keep(&recording, &Secrets::default(), &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let kept = Recording::read(&path).unwrap();
    assert_eq!(kept.lines.len(), recording.lines.len());
    for (old, new) in recording.lines.iter().zip(&kept.lines) {
        if let (Line::Chunk(old), Line::Chunk(new)) = (old, new) {
            assert_eq!(old.bytes().len(), new.bytes().len(), "the cuts stay");
        }
    }

    let wrappings = secrets.iter().flat_map(|secret| [secret.clone(), percent(secret), escaped(secret)]);
    let wrappings: Vec<String> = wrappings.collect();
    let finder = AhoCorasick::new(&wrappings).unwrap();
    let sown = finder.find_iter(&recording.render().unwrap()).count();
    assert!(sown > PLANTED / 3, "the search finds what is planted in the open: {sown}");
    let mut found: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for text in readable(&kept, &text) {
        for hit in finder.find_iter(&text) {
            let shape = SHAPES[hit.pattern().as_usize() / 3 % SHAPES.len()].name;
            let from = text.floor_char_boundary(hit.start().saturating_sub(80));
            let to = text.ceil_char_boundary(hit.end() + 20);
            found.entry(shape).or_insert((0, text[from..to].to_owned())).0 += 1;
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_message_shows_a_planted_secret() {
    let mut dice = Dice::new(7);
    for number in 0..PLANTED / 10 {
        let Plant { text, secret } = plant(&mut dice, number);
        let message = clean(&format!("GET http://127.0.0.1:1/x was refused with 500: {text}"));
        assert!(!message.contains(&secret), "{}: {message}", SHAPES[number % SHAPES.len()].name);
    }
}
