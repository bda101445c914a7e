//! An agent in text: its screen is read until it waits for the person, which is known by a prompt on the last line and
//! nothing behind it for a while.

use super::Quirk;
use super::client::Client;
use super::process::{Heard, Process, Spec};
use super::screen::{Screen as Terminal, Waits};
use crate::adapter::Screen;
use harness::clock::within;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Nothing comes behind a prompt for this part of the patience.
const QUIET: u32 = 20;

/// A chat with an agent in text.
pub(super) struct Texting {
    process: Arc<Process>,
    terminal: Mutex<Terminal>,
    /// Grows with what comes.
    news: watch::Sender<u64>,
    gone: watch::Sender<Option<String>>,
    is_at_work: AtomicBool,
}

/// What came of waiting.
enum Came {
    Prompt(Waits),
    Silence,
    End(String),
}

impl Texting {
    fn start(spec: &Spec, quirk: Quirk) -> Result<Arc<Self>, String> {
        let (process, mut heard) = Process::start(spec, quirk)?;
        let texting = Arc::new(Self {
            process,
            terminal: Mutex::default(),
            news: watch::Sender::new(0),
            gone: watch::Sender::new(None),
            is_at_work: AtomicBool::new(false),
        });
        let listens = Arc::clone(&texting);
        tokio::spawn(async move {
            while let Some(heard) = heard.recv().await {
                match heard {
                    Heard::Bytes(bytes) => listens.terminal().feed(&bytes, quirk),
                    Heard::Gone(how) => drop(listens.gone.send_replace(Some(how))),
                }
                listens.news.send_modify(|count| *count += 1);
            }
        });
        Ok(texting)
    }

    fn terminal(&self) -> MutexGuard<'_, Terminal> {
        self.terminal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn end(&self) {
        self.process.end().await;
    }

    /// Waits until the agent waits.
    async fn wait(&self, patience: Duration, quirk: Quirk) -> Came {
        let mut news = self.news.subscribe();
        let mut silences = 0;
        loop {
            let gone = self.gone.borrow().clone();
            if let Some(how) = gone {
                return Came::End(how);
            }
            if within(patience / QUIET, news.changed()).await.is_some() {
                silences = 0;
                continue;
            }
            silences += 1;
            let waits = self.terminal().waits(quirk);
            match waits {
                Some(waits) => return Came::Prompt(waits),
                None if quirk.is("ends-at-a-pause") => return Came::Prompt(Waits::ForWords),
                None if silences >= QUIET && !quirk.is("waits-for-ever") => return Came::Silence,
                None => {}
            }
        }
    }
}

impl Client {
    pub(super) async fn open_text(&self, id: &str, cwd: &Path, screen: &Screen) -> Result<Value, RpcError> {
        let spec = {
            let state = self.state();
            Spec { args: state.text_args.clone(), cwd: cwd.to_owned(), ..state.spec.clone() }
        };
        let texting = Texting::start(&spec, self.quirk).map_err(RpcError::failed)?;
        match texting.wait(self.patience, self.quirk).await {
            Came::Prompt(_) => {}
            Came::Silence => {
                let text = "the agent does not say when it waits; its answers may come late";
                screen.show(json!({"kind": "chatNotice", "chatId": id, "text": text}));
            }
            Came::End(how) => return Err(RpcError::failed(how)),
        }
        // What it says by way of greeting is no answer.
        texting.terminal().take("", self.quirk);
        self.state().texts.insert(id.to_owned(), texting);
        Ok(json!({"sessionId": ""}))
    }

    fn texting(&self, id: &str) -> Result<Arc<Texting>, RpcError> {
        let texting = self.state().texts.get(id).cloned();
        texting.ok_or_else(|| RpcError::invalid_params(format!("chatId: there is no chat {id}")))
    }

    pub(super) fn send_text(
        self: Arc<Self>,
        id: &str,
        said: &str,
        screen: Screen,
    ) -> Result<Value, RpcError> {
        let texting = self.texting(id)?;
        if texting.is_at_work.swap(true, Ordering::AcqRel) {
            return Err(RpcError::failed("the agent is at work in this chat"));
        }
        let (id, said) = (id.to_owned(), said.to_owned());
        tokio::spawn(async move {
            let (answer, error) = self.converse(&texting, &id, &said, &screen).await;
            texting.is_at_work.store(false, Ordering::Release);
            screen.show(json!({"kind": "chatText", "chatId": id, "delta": answer}));
            let mut done = json!({"kind": "chatDone", "chatId": id, "stop": "end_turn"});
            if let Some(error) = error {
                done["stop"] = json!("error");
                done["error"] = json!(error);
            }
            screen.show(done);
        });
        Ok(json!({}))
    }

    /// One prompt and its answer, with every question for trust in between.
    async fn converse(
        &self,
        texting: &Texting,
        id: &str,
        said: &str,
        screen: &Screen,
    ) -> (String, Option<String>) {
        let mut parts: Vec<String> = Vec::new();
        // A line is a line: what a person says in several would be several prompts.
        let line = said.replace('\n', " ");
        if let Err(why) = texting.process.write(format!("{line}\n").as_bytes(), self.patience).await {
            return (String::new(), Some(why));
        }
        let error = loop {
            match texting.wait(self.patience, self.quirk).await {
                Came::Prompt(Waits::ForWords) => break None,
                Came::Silence => break Some("the agent does not say when it waits".to_owned()),
                Came::End(_) if self.quirk.is("swallows-errors") => break None,
                Came::End(how) => break Some(how),
                Came::Prompt(Waits::ForTrust) => {
                    let questions = texting.terminal().questions();
                    let before = texting.terminal().take(said, self.quirk);
                    let asked = before.lines().position(|line| line.to_lowercase().contains("y/n"));
                    parts.extend(before.lines().take(asked.unwrap_or_default()).map(str::to_owned));
                    screen.show(json!({"kind": "chatPermission", "chatId": id, "title": "a tool"}));
                    let letter = if self.state().leave == "allow" { "y\n" } else { "n\n" };
                    let times = if self.quirk.is("a-letter-for-each") { questions } else { 1 };
                    if let Err(why) =
                        texting.process.write(letter.repeat(times).as_bytes(), self.patience).await
                    {
                        break Some(why);
                    }
                }
            }
        };
        parts.push(texting.terminal().take(said, self.quirk));
        (parts.join("\n").trim().to_owned(), error)
    }

    /// As a terminal has it.
    pub(super) async fn stop_text(&self, id: &str) -> Result<Value, RpcError> {
        let texting = self.texting(id)?;
        let told = texting.process.write(b"\x03", self.patience).await;
        told.map(|()| json!({})).map_err(RpcError::failed)
    }
}
