//! A prompt and its one end: the agent's answer, or its word that the turn is over, or its own end, or its silence.

use super::agent::{Agent, Answer};
use super::chat::{Chat, Turn};
use super::client::{Client, text};
use super::told::cancelled;
use super::words;
use crate::adapter::Screen;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use harness::clock::{pause, within};
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Behind its word that a turn is over, an agent has this part of the patience to answer.
const GRACE: u32 = 40;
const FOR_EVER: Duration = Duration::from_secs(86_400);
/// How a turn of the standard ends.
const STOPS: [&str; 5] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

impl Client {
    pub(super) async fn send(self: Arc<Self>, params: &Value, screen: Screen) -> Result<Value, RpcError> {
        let said = text(params, "text")?;
        if self.state().is_text {
            return self.send_text(text(params, "chatId")?, said, screen);
        }
        let blocks = json!([{"type": "text", "text": said}]);
        self.prompt(params, &blocks, screen).await
    }

    /// A picture, if the agent takes pictures and it can be read.
    pub(super) async fn send_image(
        self: Arc<Self>,
        params: &Value,
        screen: Screen,
    ) -> Result<Value, RpcError> {
        let path = text(params, "path")?;
        let caption = params["caption"].as_str().unwrap_or_default();
        let takes = self.state().offers["promptCapabilities"]["image"] == true;
        if !takes && !self.quirk.is("pictures-unasked") {
            return Err(RpcError::failed("the agent takes no pictures"));
        }
        let picture = if self.quirk.is("picture-by-path") || self.quirk.is("to-the-letter") {
            json!({"type": "image", "source": {"type": "file", "path": path}})
        } else if self.quirk.is("picture-as-link") {
            json!({"type": "resource_link", "uri": format!("file://{path}"), "name": path})
        } else {
            let bytes = std::fs::read(path);
            let bytes = bytes.map_err(|error| RpcError::failed(format!("failed to read {path}: {error}")))?;
            let kind = Path::new(path).extension().and_then(|end| end.to_str()).unwrap_or("png");
            json!({"type": "image", "mimeType": format!("image/{kind}"), "data": BASE64_STANDARD.encode(bytes)})
        };
        let words = json!({"type": "text", "text": caption});
        let blocks = if self.quirk.is("pictures-alone") { json!([picture]) } else { json!([words, picture]) };
        self.prompt(params, &blocks, screen).await
    }

    async fn prompt(
        self: Arc<Self>,
        params: &Value,
        blocks: &Value,
        screen: Screen,
    ) -> Result<Value, RpcError> {
        let (chat, agent) = (self.chat(params)?, self.agent()?);
        {
            let mut state = chat.state();
            if state.turn.is_some() {
                return Err(RpcError::failed("the agent is at work in this chat"));
            }
            let is_given_up = state.is_stop_left && self.quirk.is("cancels-the-next");
            state.turn = Some(Turn { is_given_up, ..Turn::default() });
        }
        let asked = words::prompt(&chat.session(), blocks, self.quirk);
        match agent.begin("session/prompt", &asked).await {
            Ok(asked) => drop(tokio::spawn(self.finish(chat, agent, asked, screen))),
            Err(refused) => done(&chat, "error", Some(&refused.why), &screen),
        }
        Ok(json!({}))
    }

    /// Waits for the end of a turn, whichever it is, and tells it once.
    async fn finish(
        self: Arc<Self>,
        chat: Arc<Chat>,
        agent: Arc<Agent>,
        mut asked: oneshot::Receiver<Answer>,
        screen: Screen,
    ) {
        let mut news = chat.news.subscribe();
        loop {
            let (is_over, is_given_up, waits_for_person) = {
                let state = chat.state();
                let turn = state.turn.as_ref();
                let is = |fact: fn(&Turn) -> bool| turn.is_some_and(fact);
                (is(|turn| turn.is_said_over), is(|turn| turn.is_given_up), !state.asked.is_empty())
            };
            if is_given_up {
                return done(&chat, "cancelled", Some("the agent does not stop"), &screen);
            }
            let limit = match () {
                () if is_over => self.patience / GRACE,
                () if self.quirk.is("waits-for-the-dead") || self.quirk.is("waits-for-ever") => FOR_EVER,
                () => self.patience,
            };
            tokio::select! {
                biased;
                answer = &mut asked => {
                    let answer = answer.ok();
                    if self.quirk.is("to-the-letter") && matches!(answer, Some(Ok(_))) {
                        return self.wait_for_word(&chat, &screen).await;
                    }
                    return self.answered(&chat, &agent, answer, &screen);
                }
                changed = within(limit, news.changed()) => match changed {
                    Some(_) => {}
                    None if is_over => return done(&chat, "end_turn", None, &screen),
                    None if waits_for_person => {}
                    None => return done(&chat, "error", Some("the agent is silent"), &screen),
                },
            }
        }
    }

    /// To the letter: a turn is over when an update says so, and not before.
    async fn wait_for_word(&self, chat: &Chat, screen: &Screen) {
        let mut news = chat.news.subscribe();
        while !chat.state().turn.as_ref().is_some_and(|turn| turn.is_said_over) {
            if news.changed().await.is_err() {
                return;
            }
        }
        done(chat, "end_turn", None, screen);
    }

    fn answered(&self, chat: &Chat, agent: &Agent, answer: Option<Answer>, screen: &Screen) {
        if chat.state().is_summing_up && self.quirk.is("waits-for-summaries") {
            return;
        }
        match answer {
            Some(Ok(result)) => {
                let stop = result["stopReason"].as_str().unwrap_or_default();
                if STOPS.contains(&stop) || self.quirk.is("any-stop") {
                    let stop = if self.quirk.is("all-is-well") { "end_turn" } else { stop };
                    return done(chat, stop, None, screen);
                }
                done(chat, "error", Some("the agent ends in a way that I don't know"), screen);
            }
            Some(Err(_)) if self.quirk.is("swallows-errors") => done(chat, "end_turn", None, screen),
            Some(Err(refused)) => done(chat, "error", Some(&refused.why), screen),
            None => done(chat, "error", Some(&agent.gone().unwrap_or_default()), screen),
        }
    }

    /// The person wants the agent to stop: it is told, and what it has asked is answered. Then its end is waited for.
    pub(super) async fn cancel(self: Arc<Self>, params: &Value) -> Result<Value, RpcError> {
        if self.state().is_text {
            return self.stop_text(text(params, "chatId")?).await;
        }
        let (chat, agent) = (self.chat(params)?, self.agent()?);
        let asked = {
            let mut state = chat.state();
            match &mut state.turn {
                Some(turn) => turn.is_cancelled = true,
                // Who is idle has nothing to stop.
                None => {
                    state.is_stop_left = true;
                    return Ok(json!({}));
                }
            }
            std::mem::take(&mut state.asked)
        };
        if self.quirk.is("stops-on-screen") {
            if let Some(turn) = chat.state().turn.as_mut() {
                turn.is_given_up = true;
            }
            chat.stir();
            return Ok(json!({}));
        }
        let all: Vec<_> = self.state().chats.values().cloned().collect();
        for chat in all.iter().filter(|of| of.id == chat.id || self.quirk.is("stops-them-all")) {
            agent.tell("session/cancel", &json!({"sessionId": chat.session()})).await;
        }
        for id in asked.iter().filter(|_| !self.quirk.is("leaves-questions-open")) {
            agent.reply(id, Ok(cancelled())).await;
        }
        chat.stir();
        tokio::spawn(async move {
            pause(self.patience).await;
            if let Some(turn) = chat.state().turn.as_mut().filter(|turn| turn.is_cancelled) {
                turn.is_given_up = !self.quirk.is("waits-for-ever");
            }
            chat.stir();
        });
        Ok(json!({}))
    }
}

/// The one end of a turn.
pub(super) fn done(chat: &Chat, stop: &str, error: Option<&str>, screen: &Screen) {
    chat.state().turn = None;
    let mut told = json!({"kind": "chatDone", "chatId": chat.id, "stop": stop});
    if let Some(error) = error {
        told["error"] = json!(error);
    }
    screen.show(told);
}
