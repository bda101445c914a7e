//! A history of a kit's case, put in order for the checks: what was asked and answered, what the adapter showed, what it
//! asked of stand-ins, and what the harness itself has seen.

use crate::scene::SAID;
use fixtures::recording::{AdapterLine, Line, Note, Speaker};
use harness::protocol::RpcError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A note that begins so is something that the harness has seen. What an adapter writes on its stderr begins otherwise.
pub(crate) const WITNESS: &str = "witness ";
/// What is seen under this name is the adapter's time.
pub(crate) const CLOCK: &str = "clock";

/// A history, put in order.
#[derive(Debug, Default)]
pub struct Story<'a> {
    /// The history itself.
    pub lines: &'a [Line],
    /// What was asked of the adapter, in order.
    pub calls: Vec<Call>,
    /// What the adapter showed, in order.
    pub updates: Vec<Told>,
    /// What the adapter asked of stand-ins over HTTP, in order.
    pub exchanges: Vec<Exchange>,
    /// What the harness has seen by itself, in order.
    pub seen: Vec<Seen>,
    /// What the adapter says that it can do.
    pub can: BTreeSet<String>,
    /// What it declares of itself.
    pub declares: BTreeMap<String, String>,
    /// How its time passes.
    pub clock: AdapterClock,
    /// What its waits are multiplied by, if its clock is scaled.
    pub time_scale: f64,
    /// Its time, if it is virtual.
    virtual_ms: f64,
}

/// How an adapter's time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AdapterClock {
    /// As it is told: it says that it waits, and goes on when `clock/advance` says that the time is over.
    Virtual,
    /// All its waits are multiplied by the `timeScale` of `initialize`.
    Scaled,
    /// As everybody's.
    #[default]
    Real,
}

/// Where and when.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct At {
    /// The line in the history.
    pub line: usize,
    /// Milliseconds of the adapter's time since the case began.
    pub ms: f64,
}

/// Something that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// When.
    pub at: At,
    /// What.
    pub method: String,
    /// With which parameters.
    pub params: Value,
    /// What was answered, and when.
    pub answer: Option<(At, Result<Value, RpcError>)>,
}

/// Something that the adapter showed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// When.
    pub at: At,
    /// Its kind.
    pub kind: String,
    /// All of it.
    pub update: Value,
}

/// A request of the adapter to a stand-in.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// When it came.
    pub at: At,
    /// On which lane of which stand-in.
    pub lane: Option<String>,
    /// Its method.
    pub method: String,
    /// Its path, with the query.
    pub path: String,
    /// Its headers, names in small letters.
    pub headers: Vec<(String, String)>,
    /// Its body, if it is JSON.
    pub body: Value,
    /// The status of the answer, and when it was sent.
    pub answer: Option<(At, u16)>,
}

/// Something that the harness has seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// When.
    pub at: At,
    /// What it is about.
    pub name: String,
    /// What.
    pub value: Value,
}

impl Told {
    /// Is the person told of a trouble? What is only mentioned has a level of its own.
    #[must_use]
    pub fn warns(&self) -> bool {
        matches!(self.update["level"].as_str(), None | Some("warning" | "warn" | "error"))
    }
}

impl Call {
    /// The result, if it was answered with one.
    #[must_use]
    pub fn result(&self) -> Option<&Value> {
        self.answer.as_ref()?.1.as_ref().ok()
    }

    /// What was answered, as a person reads it.
    #[must_use]
    pub fn answer_in_words(&self) -> String {
        match &self.answer {
            None => "nothing".to_owned(),
            Some((_, Ok(said))) => said.to_string(),
            Some((_, Err(error))) => format!("the error {:?}", error.message),
        }
    }
}

impl<'a> Story<'a> {
    /// Puts a history in order.
    #[must_use]
    pub fn of(lines: &'a [Line]) -> Self {
        let mut story = Self { lines, time_scale: 1.0, ..Self::default() };
        let mut waiting: BTreeMap<String, usize> = BTreeMap::new();
        let mut open: BTreeMap<u64, usize> = BTreeMap::new();
        for (line, entry) in lines.iter().enumerate() {
            let at = |story: &Self, at_us: u64| At { line, ms: story.adapter_ms(at_us) };
            match entry {
                Line::Adapter(said) => story.talk(at(&story, said.at_us), said, &mut waiting),
                Line::Note(note) => {
                    if let Some((name, value)) = witnessed(note) {
                        if name == CLOCK {
                            story.virtual_ms = value.as_f64().unwrap_or(story.virtual_ms);
                        }
                        let at = at(&story, note.at_us);
                        story.seen.push(Seen { at, name, value });
                    }
                }
                Line::Request(request) => {
                    open.insert(request.exchange, story.exchanges.len());
                    let at = at(&story, request.at_us);
                    story.exchanges.push(Exchange {
                        at,
                        lane: request.lane.clone(),
                        method: request.method.clone(),
                        path: match &request.query {
                            query if query.is_empty() => request.path.clone(),
                            query => format!("{}?{query}", request.path),
                        },
                        headers: request.headers.clone(),
                        body: request.body.json().unwrap_or_default(),
                        answer: None,
                    });
                }
                Line::Response(response) => {
                    if let Some(place) = open.get(&response.exchange) {
                        let at = at(&story, response.at_us);
                        story.exchanges[*place].answer = Some((at, response.status));
                    }
                }
                _ => {}
            }
        }
        story
    }

    /// The calls of a method.
    pub fn calls_of<'s>(&'s self, method: &'s str) -> impl Iterator<Item = &'s Call> {
        self.calls.iter().filter(move |call| call.method == method)
    }

    /// The updates of a kind.
    pub fn updates_of<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Told> {
        self.updates.iter().filter(move |told| told.kind == kind)
    }

    /// What was seen under a name.
    pub fn seen_of<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Seen> {
        self.seen.iter().filter(move |seen| seen.name == name)
    }

    /// What the adapter wrote on its stderr, line by line, without secrets.
    pub fn stderr(&self) -> impl Iterator<Item = &'a str> {
        const BEGINS: &str = "the adapter's stderr: ";
        self.lines.iter().filter_map(|line| match line {
            Line::Note(note) => note.text.strip_prefix(BEGINS),
            _ => None,
        })
    }

    /// The secrets that the adapter has said: which, and where.
    pub fn said_secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.seen_of(SAID).map(|seen| {
            (
                seen.value["secret"].as_str().unwrap_or_default(),
                seen.value["where"].as_str().unwrap_or_default(),
            )
        })
    }

    fn adapter_ms(&self, at_us: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a run takes seconds, not centuries")]
        let ms = at_us as f64 / 1000.0;
        match self.clock {
            AdapterClock::Virtual => self.virtual_ms,
            AdapterClock::Scaled => ms / self.time_scale,
            AdapterClock::Real => ms,
        }
    }

    fn talk(&mut self, at: At, said: &AdapterLine, waiting: &mut BTreeMap<String, usize>) {
        let AdapterLine { from, message, .. } = said;
        let id = message["id"].to_string();
        let method = message["method"].as_str();
        match (from, method) {
            (Speaker::Harness, Some(method)) => {
                if method == "initialize" {
                    self.time_scale = message["params"]["timeScale"].as_f64().unwrap_or(1.0);
                }
                waiting.insert(id, self.calls.len());
                let (method, params) = (method.to_owned(), message["params"].clone());
                self.calls.push(Call { at, method, params, answer: None });
            }
            (Speaker::Adapter, None) => {
                let Some(place) = waiting.remove(&id) else { return };
                let outcome = match message.get("error") {
                    Some(error) => Err(serde_json::from_value(error.clone())
                        .unwrap_or_else(|_| RpcError::failed(error.to_string()))),
                    None => Ok(message["result"].clone()),
                };
                if let (true, Ok(said)) = (self.calls[place].method == "initialize", &outcome) {
                    self.introduced(said);
                }
                self.calls[place].answer = Some((at, outcome));
            }
            (Speaker::Adapter, Some("update")) => {
                let update = message["params"]["update"].clone();
                let kind = update["kind"].as_str().unwrap_or_default().to_owned();
                self.updates.push(Told { at, kind, update });
            }
            _ => {}
        }
    }

    fn introduced(&mut self, said: &Value) {
        let read = |name: &str| said.get(name).cloned().unwrap_or_default();
        self.can = serde_json::from_value(read("capabilities")).unwrap_or_default();
        self.declares = serde_json::from_value(read("declares")).unwrap_or_default();
        self.clock = serde_json::from_value(read("clock")).unwrap_or_default();
    }
}

/// Words, as a person reads them, where there are any.
pub(crate) fn quoted(words: Option<&str>) -> String {
    words.map_or_else(|| "nothing".to_owned(), |words| format!("{words:?}"))
}

/// Has the harness seen this, by its name?
pub(crate) fn is_seen(note: &Note, name: &str) -> bool {
    witnessed(note).is_some_and(|(seen, _)| seen == name)
}

fn witnessed(note: &Note) -> Option<(String, Value)> {
    let words = note.text.strip_prefix(WITNESS)?;
    let (name, value) = words.split_once(' ')?;
    Some((name.to_owned(), serde_json::from_str(value).ok()?))
}
