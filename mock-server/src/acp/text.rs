//! An agent in front of people: what it says is text with colours, where the person may write stands a prompt, and a tool
//! is trusted by a letter. Behind it is the same agent, asked over its protocol, so scenarios and models are the same.

use super::agent::{Agent, Left, Whole};
use super::pieces::{self, Unread};
use super::watch::{Seen, Watcher};
use crate::clock::{Clock, ClockKind};
use fixtures::fault_plan::TextManner;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::io::{BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::mpsc;

/// How it speaks with people.
#[derive(Clone, Default)]
pub struct Text {
    /// What is unusual about it.
    pub manner: TextManner,
    /// It never asks whether a tool is trusted.
    pub trusts_all: bool,
    /// Who sees what it reads and writes, if anybody.
    pub watcher: Option<Watcher>,
    /// What waits to be read, where that can be known.
    pub unread: Option<Unread>,
}

/// By which it asks whether a tool is trusted.
const TRUST: &str = "Allow this action? Use 't' to trust (always allow) this tool for the session. [y/n/t]:";
const GREETING: &str = "Welcome. Ask me to do something, or end with /quit.";
/// As terminals have it: the person wants the agent to stop.
const CONTROL_C: u8 = 3;
const PIPE: usize = 1 << 16;

/// What the person does.
enum Does {
    Says(String),
    Stops,
}

impl Agent {
    /// Speaks with a person until they leave.
    pub async fn chat(
        &self,
        text: Text,
        stdin: impl AsyncRead + Send + Unpin + 'static,
        stdout: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Left {
        let (says, words) = tokio::io::duplex(PIPE);
        let (said, hears) = tokio::io::duplex(PIPE);
        let behind = self.speak(words, said, Box::new(Whole));
        let cwd = self.stand_in().workspace().to_owned();
        let (does, person) = mpsc::unbounded_channel();
        let watcher = text.watcher.clone();
        let chat = Chat {
            says: tokio::io::split(says).1,
            hears: BufReader::new(tokio::io::split(hears).0).lines(),
            stdout,
            person,
            ahead: VecDeque::new(),
            text,
            session: String::new(),
            pieces: 0,
        };
        tokio::select! {
            left = chat.hold(&cwd) => left,
            left = behind => left,
            () = listen(stdin, does, watcher) => Left::Quietly,
        }
    }
}

/// Tells what the person does; when they have left, so does it.
async fn listen(
    mut stdin: impl AsyncRead + Unpin,
    does: mpsc::UnboundedSender<Does>,
    watcher: Option<Watcher>,
) {
    let see = |seen: Seen<'_>| watcher.iter().for_each(|watcher| watcher(seen));
    let (mut buffer, mut line) = (vec![0; PIPE], Vec::new());
    while let Ok(count @ 1..) = stdin.read(&mut buffer).await {
        see(Seen::Stdin(&buffer[..count]));
        for byte in &buffer[..count] {
            match *byte {
                b'\n' => {
                    let said = String::from_utf8_lossy(&line).trim_end().to_owned();
                    line.clear();
                    does.send(Does::Says(said)).ok();
                }
                CONTROL_C => drop(does.send(Does::Stops)),
                byte => line.push(byte),
            }
        }
    }
    see(Seen::StdinEnd);
    // What was said before is still done.
    drop(does);
    std::future::pending().await
}

struct Chat<W> {
    says: WriteHalf<DuplexStream>,
    hears: Lines<BufReader<ReadHalf<DuplexStream>>>,
    stdout: W,
    person: mpsc::UnboundedReceiver<Does>,
    /// What was written before anybody asked for it.
    ahead: VecDeque<String>,
    text: Text,
    session: String,
    /// Of the answer that is told.
    pieces: usize,
}

/// What comes next while an answer is told.
enum News {
    Told(Option<String>),
    Did(Option<Does>),
}

impl<W: AsyncWrite + Unpin> Chat<W> {
    async fn hold(mut self, cwd: &str) -> Left {
        self.hold_until_left(cwd).await.unwrap_or_else(|left| left)
    }

    async fn hold_until_left(&mut self, cwd: &str) -> Result<Left, Left> {
        let begin = json!({"protocolVersion": 1, "clientCapabilities": {}});
        self.ask(1, "initialize", begin).await?;
        let made = self.ask(2, "session/new", json!({"cwd": cwd, "mcpServers": []})).await?;
        self.session = made["result"]["sessionId"].as_str().unwrap_or_default().to_owned();
        if !self.text.manner.plain {
            // A title, and a cursor that is hidden: neither is text.
            self.write("\u{1b}]0;kiro-cli\u{7}\u{1b}[?25l").await?;
        }
        let greeting = self.coloured("36", GREETING);
        self.write(&format!("{greeting}\n\n")).await?;
        for number in 3.. {
            self.show_prompt().await?;
            let said = loop {
                match self.next_of_person().await {
                    None => return Ok(Left::Quietly),
                    Some(Does::Says(said)) if !said.is_empty() => break said,
                    Some(_) => {}
                }
            };
            if said == "/quit" {
                return Ok(Left::Quietly);
            }
            if self.text.manner.echo {
                self.write(&format!("{said}\n")).await?;
            }
            self.turn(number, &said).await?;
        }
        Ok(Left::Quietly)
    }

    async fn show_prompt(&mut self) -> Result<(), Left> {
        let usual = || self.coloured("35", "> ");
        let prompt = self.text.manner.prompt.clone().unwrap_or_else(usual);
        self.write(&prompt).await
    }

    /// One prompt and its answer.
    async fn turn(&mut self, number: u64, said: &str) -> Result<(), Left> {
        let prompt = json!({"sessionId": self.session, "prompt": [{"type": "text", "text": said}]});
        self.say(&request(number, "session/prompt", &prompt)).await?;
        self.pieces = 0;
        loop {
            let message = match self.news().await {
                News::Told(None) => return Err(Left::Quietly),
                News::Told(Some(line)) => serde_json::from_str::<Value>(&line).unwrap_or_default(),
                News::Did(Some(Does::Stops)) => {
                    let stop = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": self.session}});
                    self.say(&stop).await?;
                    continue;
                }
                News::Did(Some(Does::Says(said))) => {
                    self.ahead.push_back(said);
                    continue;
                }
                News::Did(None) => continue,
            };
            if message["id"] == number && message.get("method").is_none() {
                let wrong = message["error"]["message"].as_str().map(|why| format!("\nError: {why}"));
                return self.write(&format!("{}\n\n", wrong.unwrap_or_default())).await;
            }
            self.tell(&message).await?;
        }
    }

    async fn next_of_person(&mut self) -> Option<Does> {
        match self.ahead.pop_front() {
            Some(said) => Some(Does::Says(said)),
            None => self.person.recv().await,
        }
    }

    /// What is told comes first; who has left is not waited for.
    async fn news(&mut self) -> News {
        if self.person.is_closed() && self.person.is_empty() {
            return News::Told(self.hears.next_line().await.ok().flatten());
        }
        tokio::select! {
            biased;
            line = self.hears.next_line() => News::Told(line.ok().flatten()),
            does = self.person.recv() => News::Did(does),
        }
    }

    async fn tell(&mut self, message: &Value) -> Result<(), Left> {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("session/request_permission") => self.ask_for_trust(&message["id"], params).await,
            Some("session/update") => {
                let update = &params["update"];
                match (update["sessionUpdate"].as_str(), update["status"].as_str()) {
                    (Some("agent_message_chunk"), _) => {
                        let text = update["content"]["text"].as_str().unwrap_or_default().to_owned();
                        self.piece(&text).await
                    }
                    (Some("tool_call_update"), Some(status @ ("completed" | "failed"))) => {
                        let told = self.coloured("2", &format!(" - {status}"));
                        self.write(&format!("\n{told}\n")).await
                    }
                    _ => Ok(()),
                }
            }
            Some(_) if message.get("id").is_some() => {
                let refused = json!({"code": -32601, "message": "not offered"});
                let refusal = json!({"jsonrpc": "2.0", "id": message["id"], "error": refused});
                self.say(&refusal).await
            }
            _ => Ok(()),
        }
    }

    /// A piece of an answer; colours end bare, as they do with programs that forget what they were told about colours.
    async fn piece(&mut self, text: &str) -> Result<(), Left> {
        self.pieces += 1;
        if self.pieces == 2 {
            if let Some(code) = self.text.manner.exit {
                return Err(Left::Exit(code));
            }
            if let Some(ms) = self.text.manner.pause_ms {
                Clock::new(ClockKind::Real).pass(Duration::from_millis(ms)).await;
            }
        }
        let text = if self.text.manner.plain { text.to_owned() } else { format!("{text}\u{1b}[0m") };
        self.write(&text).await
    }

    async fn ask_for_trust(&mut self, id: &Value, params: &Value) -> Result<(), Left> {
        let mut chosen = if self.text.trusts_all { "once" } else { "reject" };
        if !self.text.trusts_all {
            let title = params["toolCall"]["title"].as_str().unwrap_or("a tool").to_owned();
            let tool = self.coloured("36", &format!("\nUsing tool: {title}"));
            let question = self.text.manner.trust.clone().unwrap_or_else(|| TRUST.to_owned());
            for _ in 0..self.text.manner.trust_times.unwrap_or(1) {
                self.write(&format!("{tool}\n\n{question}\n\n")).await?;
                self.show_prompt().await?;
            }
            while let Some(does) = self.next_of_person().await {
                chosen = match does {
                    Does::Stops => break,
                    Does::Says(letter) => match letter.trim() {
                        "y" | "Y" | "yes" => "once",
                        "t" | "T" => "always",
                        "n" | "N" | "no" => "reject",
                        _ => continue,
                    },
                };
                break;
            }
        }
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": chosen}});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "result": outcome})).await
    }

    fn coloured(&self, colour: &str, text: &str) -> String {
        if self.text.manner.plain { text.to_owned() } else { format!("\u{1b}[{colour}m{text}\u{1b}[0m") }
    }

    async fn write(&mut self, text: &str) -> Result<(), Left> {
        let size = self.text.manner.cut_into.unwrap_or(usize::MAX).max(1);
        let see = |piece: &[u8]| self.text.watcher.iter().for_each(|watcher| watcher(Seen::Stdout(piece)));
        let pieces = text.as_bytes().chunks(size);
        let written = pieces::write(&mut self.stdout, pieces, self.text.unread.as_ref(), see);
        written.await.map_err(|_| Left::Unread)
    }

    async fn say(&mut self, message: &Value) -> Result<(), Left> {
        self.says.write_all(format!("{message}\n").as_bytes()).await.map_err(|_| Left::Quietly)
    }

    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Result<Value, Left> {
        self.say(&request(id, method, &params)).await?;
        while let Ok(Some(line)) = self.hears.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["id"] == id && message.get("method").is_none() {
                return Ok(message);
            }
        }
        Err(Left::Quietly)
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
