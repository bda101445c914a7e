//! Chats and their sessions. Which chat an agent speaks of is decided in one place, under one lock, so that what comes
//! before its session is known is shown behind it, in its order.

use super::Quirk;
use super::agent::Agent;
use super::chat::Chat;
use super::keep::{self, Kept};
use super::process::Spec;
use super::texting::Texting;
use crate::adapter::Screen;
use crate::scene::TIME_SCALE;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An agent may be silent for so long.
const PATIENCE_S: f64 = 600.0;
/// What comes for sessions that nobody knows is kept so far.
const MOST_EARLY: usize = 1000;

/// A client of agents.
pub(super) struct Client {
    pub(super) quirk: Quirk,
    pub(super) patience: Duration,
    state: Mutex<State>,
}

/// How it stands.
#[derive(Default)]
pub(super) struct State {
    pub(super) spec: Spec,
    /// What is started where there is no ACP.
    pub(super) text_args: Vec<String>,
    /// What the person says when an agent asks for permission: allow, refuse or wait.
    pub(super) leave: String,
    pub(super) agent: Option<Arc<Agent>>,
    /// There is no ACP: agents are read as text.
    pub(super) is_text: bool,
    /// What the agent offers.
    pub(super) offers: Value,
    pub(super) chats: BTreeMap<String, Arc<Chat>>,
    pub(super) texts: BTreeMap<String, Arc<Texting>>,
    /// What came for sessions that nobody knew.
    early: Vec<(String, Value)>,
    /// The chat that was opened last.
    pub(super) latest: Option<String>,
    /// A list that chats should not share.
    shared_servers: Vec<Value>,
}

/// A parameter that is a text.
pub(super) fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, RpcError> {
    params[name].as_str().ok_or_else(|| RpcError::invalid_params(format!("{name}: a text is missing")))
}

impl Client {
    pub(super) fn new(quirk: Quirk) -> Self {
        let patience = Duration::from_secs_f64(PATIENCE_S * TIME_SCALE);
        Self { quirk, patience, state: Mutex::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn agent(&self) -> Result<Arc<Agent>, RpcError> {
        self.state().agent.clone().ok_or_else(|| RpcError::failed("no agent is started"))
    }

    pub(super) fn chat(&self, params: &Value) -> Result<Arc<Chat>, RpcError> {
        let id = text(params, "chatId")?;
        let chat = self.state().chats.get(id).cloned();
        chat.ok_or_else(|| RpcError::invalid_params(format!("chatId: there is no chat {id}")))
    }

    /// Opens a chat: a session of its own.
    pub(super) async fn open(&self, params: &Value, screen: &Screen) -> Result<Value, RpcError> {
        let id = text(params, "chatId")?;
        let cwd = PathBuf::from(text(params, "cwd")?);
        if self.state().is_text {
            return self.open_text(id, &cwd, screen).await;
        }
        let servers = self.servers(&params["mcpServers"]);
        let chat = Arc::new(Chat::new(id, cwd));
        self.begin_session(&chat, servers, screen).await?;
        Ok(json!({"sessionId": chat.session()}))
    }

    fn servers(&self, wanted: &Value) -> Value {
        let wanted = wanted.as_array().cloned().unwrap_or_default();
        if self.quirk.is("shared-servers") || self.quirk.is("to-the-letter") {
            let mut state = self.state();
            state.shared_servers.extend(wanted);
            return json!(state.shared_servers);
        }
        json!(wanted)
    }

    pub(super) async fn begin_session(
        &self,
        chat: &Arc<Chat>,
        servers: Value,
        screen: &Screen,
    ) -> Result<(), RpcError> {
        let agent = self.agent()?;
        let is_first = self.state().latest.is_none();
        let cwd = if !is_first && self.quirk.is("opens-elsewhere") { Path::new("/") } else { &chat.cwd };
        let asked = json!({"cwd": cwd, "mcpServers": servers});
        let made = agent.ask("session/new", &asked).await;
        let made = made.map_err(|refused| RpcError::failed(refused.why))?;
        let Some(session) = made["sessionId"].as_str() else {
            return Err(RpcError::failed("the agent makes a session without an id"));
        };
        self.offered(chat, &made);
        self.know(chat, session, screen);
        Ok(())
    }

    /// What a session offers.
    fn offered(&self, chat: &Chat, made: &Value) {
        let options = made["configOptions"].as_array().into_iter().flatten();
        let mut state = chat.state();
        state.options = options.filter_map(|option| option["id"].as_str().map(str::to_owned)).collect();
        state.has_models = made["models"].is_object();
    }

    /// From now on the session is this chat's; what came for it before is shown now.
    fn know(&self, chat: &Arc<Chat>, session: &str, screen: &Screen) {
        let mut state = self.state();
        session.clone_into(&mut chat.state().session);
        state.chats.insert(chat.id.clone(), Arc::clone(chat));
        state.latest = Some(chat.id.clone());
        let early = std::mem::take(&mut state.early);
        let (of_chat, others) = early.into_iter().partition(|(of, _)| of == session);
        state.early = others;
        for (_, update) in of_chat {
            self.show_update(chat, &update, screen);
        }
    }

    /// An update finds its chat.
    pub(super) fn route(&self, session: &str, update: Value, screen: &Screen) {
        let mut state = self.state();
        let latest = state.latest.as_ref().and_then(|id| state.chats.get(id)).cloned();
        let of_session = state.chats.values().find(|chat| chat.session() == session).cloned();
        let chat = match of_session {
            _ if self.quirk.is("state-of-process") => latest,
            None if self.quirk.is("shows-foreign") => latest,
            other => other,
        };
        match chat {
            Some(chat) => self.show_update(&chat, &update, screen),
            None if self.quirk.is("drops-early") || state.early.len() >= MOST_EARLY => {}
            None => state.early.push((session.to_owned(), update)),
        }
    }

    pub(super) fn save(&self, params: &Value) -> Result<Value, RpcError> {
        let chat = self.chat(params)?;
        let saved = keep::save(Path::new(text(params, "file")?), &chat.session(), &chat.cwd);
        saved.map(|()| json!({})).map_err(RpcError::failed)
    }

    /// A chat that was saved goes on: in its session, or in a fresh one, and then the person is told.
    pub(super) async fn restore(&self, params: &Value, screen: &Screen) -> Result<Value, RpcError> {
        let id = text(params, "chatId")?;
        let read = keep::read(Path::new(text(params, "file")?));
        let is_empty = read.is_err() && self.quirk.is("torn-is-empty");
        let kept = match read {
            Err(_) if is_empty => Kept::History { cwd: PathBuf::from(text(params, "cwd")?), count: 0 },
            kept => kept.map_err(RpcError::failed)?,
        };
        let (cwd, why) = match kept {
            Kept::Session { session, cwd } => {
                let chat = Arc::new(Chat::new(id, cwd.clone()));
                match self.load(&chat, &session, screen).await {
                    Ok(()) => return Ok(json!({"sessionId": session, "restored": true})),
                    Err(why) => (cwd, format!("the session can't be restored: {why}")),
                }
            }
            Kept::History { cwd, count } => {
                (cwd, format!("{count} messages are in the file; the agent knows nothing of them"))
            }
        };
        let chat = Arc::new(Chat::new(id, cwd));
        self.begin_session(&chat, json!([]), screen).await?;
        if !self.quirk.is("fresh-in-silence") && !is_empty {
            screen.show(json!({"kind": "chatNotice", "chatId": id, "text": why}));
        }
        Ok(json!({"sessionId": chat.session(), "restored": false}))
    }

    /// What was said before is told again before the answer, and is nothing new.
    async fn load(&self, chat: &Arc<Chat>, session: &str, screen: &Screen) -> Result<(), String> {
        let agent = self.agent().map_err(|error| error.message)?;
        if self.state().offers["loadSession"] != true {
            return Err("the agent can't load sessions".to_owned());
        }
        chat.state().replays = true;
        self.know(chat, session, screen);
        let asked = match self.quirk.is("load-without-folder") || self.quirk.is("to-the-letter") {
            true => json!({"sessionId": session}),
            false => json!({"sessionId": session, "cwd": chat.cwd, "mcpServers": []}),
        };
        let loaded = agent.ask("session/load", &asked).await;
        chat.state().replays = false;
        match loaded {
            Ok(Value::Null) if self.quirk.is("load-needs-result") => {
                Err("the agent says nothing of the session".to_owned())
            }
            Ok(made) => {
                self.offered(chat, &made);
                Ok(())
            }
            Err(refused) => {
                self.state().chats.remove(&chat.id);
                Err(refused.why)
            }
        }
    }

    pub(super) async fn stop(&self) -> Result<Value, RpcError> {
        let (agent, texts) = {
            let mut state = self.state();
            state.chats.clear();
            state.early.clear();
            (state.agent.take(), std::mem::take(&mut state.texts))
        };
        if let Some(agent) = agent {
            agent.end().await;
        }
        for text in texts.into_values() {
            text.end().await;
        }
        Ok(json!({}))
    }
}
