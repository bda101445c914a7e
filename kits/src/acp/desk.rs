//! Where agents report to: each that a client starts tells here what it reads and writes, and it becomes facts of the
//! case's one time line. A line that is closed is an agent that is gone, however it went.

use crate::scene::witness;
use fixtures::recording::{Line, PipeName};
use mock_server::Journal;
use serde_json::{Deserializer, Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Longer texts are told by their length: a history is no place for pictures and floods.
const LONGEST_TEXT: usize = 2000;
/// Bytes that are no line yet are kept so far.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// The desk. When it is gone, so are the agents that reported to it.
pub(super) struct Desk {
    pub(super) address: SocketAddr,
    /// Who is there, by number.
    there: watch::Receiver<Vec<usize>>,
    journal: Journal,
    _listens: JoinSet<()>,
}

/// Tells something about an agent.
fn tell(journal: &Journal, number: usize, what: &str, value: &Value) {
    witness(journal, "agent", &json!({"agent": number, what: value}));
}

impl Desk {
    pub(super) async fn open(journal: Journal) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (arrives, there) = watch::channel(Vec::new());
        let mut listens = JoinSet::new();
        listens.spawn(listen(listener, journal.clone(), Arc::new(arrives)));
        Ok(Self { address, there, journal, _listens: listens })
    }

    /// Waits until all are gone, and writes down who is left.
    pub(super) async fn see_who_is_left(&mut self, limit: Duration) {
        let gone = async { self.there.wait_for(Vec::is_empty).await.is_ok() };
        let _in_time = harness::clock::within(limit, gone).await;
        for number in self.there.borrow().iter() {
            tell(&self.journal, *number, "left", &json!(true));
        }
        witness(&self.journal, "stopped", &json!(true));
    }
}

async fn listen(listener: TcpListener, journal: Journal, there: Arc<watch::Sender<Vec<usize>>>) {
    let mut guests = JoinSet::new();
    for number in 1.. {
        let Ok((stream, _)) = listener.accept().await else { return };
        there.send_modify(|there| there.push(number));
        let (journal, there) = (journal.clone(), Arc::clone(&there));
        guests.spawn(async move {
            hear(stream, number, &journal).await;
            there.send_modify(|there| there.retain(|other| *other != number));
        });
    }
}

/// Hears one agent out.
async fn hear(stream: TcpStream, number: usize, journal: &Journal) {
    let mut lines = BufReader::new(stream).lines();
    let (mut read, mut wrote, mut total) = (Vec::new(), Vec::new(), 0);
    while let Ok(Some(line)) = lines.next_line().await {
        match serde_json::from_str::<Line>(&line) {
            Ok(Line::Pipe(pipe)) => {
                let bytes = pipe.bytes();
                let (buffer, word) = match pipe.of {
                    PipeName::Stdin => (&mut read, "read"),
                    _ => (&mut wrote, "wrote"),
                };
                if word == "wrote" {
                    total += bytes.len();
                }
                take(buffer, &bytes, |message| tell(journal, number, word, &message));
            }
            Ok(Line::PipeEnd(_)) => tell(journal, number, "stdinEnd", &json!(true)),
            Ok(Line::Exit(exit)) => {
                tell(journal, number, "exit", &json!({"code": exit.code, "signal": exit.signal}));
            }
            Ok(Line::Note(note)) => {
                let told = note.text.strip_prefix("agent ").and_then(|text| text.split_once(' '));
                if let Some(("blanks", count)) = told {
                    total += count.parse::<usize>().unwrap_or_default();
                } else if let Some((word, value)) = told {
                    tell(journal, number, word, &serde_json::from_str(value).unwrap_or_default());
                }
            }
            _ => {}
        }
    }
    for (rest, word) in [(&read, "read"), (&wrote, "wrote")] {
        meant(rest).into_iter().for_each(|message| tell(journal, number, word, &message));
    }
    tell(journal, number, "gone", &json!({"wrote": total}));
}

/// Takes bytes, and tells what stands on each whole line.
fn take(buffer: &mut Vec<u8>, bytes: &[u8], mut told: impl FnMut(Value)) {
    let mut from = buffer.len();
    if from + bytes.len() <= LONGEST_LINE {
        buffer.extend_from_slice(bytes);
    }
    while let Some(at) = buffer[from.min(buffer.len())..].iter().position(|byte| *byte == b'\n') {
        let line: Vec<u8> = buffer.drain(..=from + at).collect();
        from = 0;
        meant(&line).into_iter().for_each(&mut told);
    }
}

/// What a line means: messages, wherever on it they begin; else its text.
fn meant(line: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(line);
    let Some(start) = text.find('{') else {
        let text = text.trim_end().to_owned();
        return if text.is_empty() { Vec::new() } else { vec![shortened(Value::String(text))] };
    };
    let read = Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let messages: Vec<Value> = read.map_while(Result::ok).filter(Value::is_object).map(shortened).collect();
    if messages.is_empty() { vec![shortened(json!(text.trim_end()))] } else { messages }
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > LONGEST_TEXT => json!(format!("<{} bytes>", text.len())),
        Value::Array(items) => items.into_iter().map(shortened).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, shortened(value))).collect(),
        other => other,
    }
}
