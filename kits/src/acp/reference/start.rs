//! How an agent is found and begun: is there one that speaks ACP at all? If not, there may be one that speaks text.

use super::agent::{Agent, News};
use super::client::{Client, text};
use super::process::{Heard, Process, Spec};
use super::turn::done;
use crate::adapter::Screen;
use harness::clock::{pause, within};
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The newest version of the protocol that is spoken here.
const VERSION: u64 = 1;

impl Client {
    /// Starts an agent: `mode` is `acp`, `text`, or `auto`, which finds out.
    pub(super) async fn start(self: Arc<Self>, params: &Value, screen: Screen) -> Result<Value, RpcError> {
        let words = |name: &str| -> Vec<String> {
            let words = params[name].as_array().into_iter().flatten();
            words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
        };
        let spec = Spec {
            command: PathBuf::from(text(params, "command")?),
            args: words("args"),
            env: serde_json::from_value(params["env"].clone()).unwrap_or_default(),
            cwd: PathBuf::from(text(params, "cwd")?),
        };
        {
            let mut state = self.state();
            state.spec = spec.clone();
            state.text_args = words("textArgs");
            params["leave"].as_str().unwrap_or("allow").clone_into(&mut state.leave);
            state.is_text = false;
        }
        let mode = text(params, "mode")?;
        let speaks = match mode {
            "acp" => true,
            "text" => false,
            _ => match self.is_there_acp(&spec).await {
                Err(_) if self.quirk.is("text-at-any-rate") => false,
                found => found?,
            },
        };
        let begun = if speaks { Arc::clone(&self).begin(&spec, screen).await } else { Err(String::new()) };
        match begun {
            Ok(()) => Ok(json!({"mode": "acp"})),
            Err(why) if mode == "acp" => Err(RpcError::failed(why)),
            // There is no ACP after all.
            Err(_) => {
                self.state().is_text = true;
                Ok(json!({"mode": "text"}))
            }
        }
    }

    /// Asks for the help of `acp`. Help about everything with exit code 0 is no help about this.
    async fn is_there_acp(&self, spec: &Spec) -> Result<bool, RpcError> {
        let mut args = spec.args.clone();
        args.push("--help".to_owned());
        let (process, mut heard) =
            Process::start(&Spec { args, ..spec.clone() }, self.quirk).map_err(RpcError::failed)?;
        let mut help = Vec::new();
        let said = async {
            while let Some(heard) = heard.recv().await {
                match heard {
                    Heard::Bytes(bytes) => help.extend(bytes),
                    Heard::Gone(how) => {
                        return how.contains("exit status: 0") || self.quirk.is("help-by-words");
                    }
                }
            }
            false
        };
        let waits = self.quirk.is("detects-for-ever") || self.quirk.is("to-the-letter");
        let holds = if waits { Some(said.await) } else { within(self.patience, said).await };
        process.end().await;
        let text = String::from_utf8_lossy(&help).to_lowercase();
        let is_about_it = text.contains("agent client protocol") || self.quirk.is("any-help");
        Ok(holds == Some(true) && is_about_it && !self.quirk.is("never-acp"))
    }

    async fn begin(self: Arc<Self>, spec: &Spec, screen: Screen) -> Result<(), String> {
        let (agent, news) = Agent::start(spec, self.patience, self.quirk)?;
        self.state().agent = Some(Arc::clone(&agent));
        tokio::spawn(Arc::clone(&self).follow(Arc::clone(&agent), news, screen));
        let who = json!({"name": "reference", "version": env!("CARGO_PKG_VERSION")});
        let asked = json!({"protocolVersion": VERSION, "clientCapabilities": {}, "clientInfo": who});
        if self.quirk.is("introduced-once") && self.state().offers.is_object() {
            return Ok(());
        }
        let begun = agent.ask("initialize", &asked).await;
        let begun = match begun {
            Ok(begun) if begun["protocolVersion"] == VERSION || self.quirk.is("any-version") => Ok(begun),
            Ok(begun) => Err(format!(
                "the agent speaks version {} of the protocol, and I {VERSION}",
                begun["protocolVersion"]
            )),
            Err(refused) => Err(refused.why),
        };
        match begun {
            Ok(begun) => {
                self.state().offers = begun["agentCapabilities"].clone();
                Ok(())
            }
            Err(why) => {
                self.state().agent = None;
                agent.end().await;
                Err(why)
            }
        }
    }

    /// Handles what an agent says, in its order.
    async fn follow(
        self: Arc<Self>,
        agent: Arc<Agent>,
        mut news: mpsc::UnboundedReceiver<News>,
        screen: Screen,
    ) {
        while let Some(news) = news.recv().await {
            match news {
                News::Answers(id, answer) => {
                    let is_ours = agent.answered(&id, answer);
                    if self.quirk.is("drops-late") {
                        // It is done with the turn before it reads on.
                        pause(self.patience / 120).await;
                    }
                    if !is_ours && self.quirk.is("any-answer-ends") {
                        let chats: Vec<_> = self.state().chats.values().cloned().collect();
                        chats.iter().for_each(|chat| done(chat, "end_turn", None, &screen));
                    }
                }
                News::Tells(method, params) => self.told(&method, params, &screen),
                News::Asks(id, method, params) => {
                    let asked = Arc::clone(&self).asked(&agent, id, &method, &params, &screen);
                    let Some(asked) = asked else { continue };
                    if self.quirk.is("handles-on-the-line") || self.quirk.is("to-the-letter") {
                        asked.await;
                    } else {
                        tokio::spawn(asked);
                    }
                }
                News::Gone(why) => {
                    if self.quirk.is("starts-again-and-again") && self.state().agent.is_some() {
                        self.start_again().await;
                    }
                    agent.leave(why);
                    let chats: Vec<_> = self.state().chats.values().cloned().collect();
                    chats.iter().for_each(|chat| chat.stir());
                }
            }
        }
    }

    /// As often as it can, without asking why.
    async fn start_again(&self) {
        let spec = self.state().spec.clone();
        let started: Vec<_> = (0..8).filter_map(|_| Process::start(&spec, self.quirk).ok()).collect();
        pause(self.patience / 3).await;
        for (process, _heard) in started {
            process.end().await;
        }
    }
}
