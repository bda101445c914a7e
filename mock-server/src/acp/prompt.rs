//! A prompt, from the client's blocks to the answer that ends its turn.

use super::agent::{Inner, Refusal, Session};
use super::content::parts;
use super::directory::Model;
use super::methods::{failure, service_failure};
use super::server::{Refused, in_session};
use super::waiting::Unended;
use fixtures::ServerKind;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Kilo's agent waits no longer than this for a turn's last words.
const LAST_WORDS: Duration = Duration::from_secs(60);

/// The message that answers a prompt, if any does, and the prompt for as long as it is not answered.
type Turn<'a> = (Option<Value>, Option<Unended<'a>>);

impl Inner {
    pub(super) async fn prompt(&self, params: &Value) -> Result<Value, Refusal> {
        let id = params["sessionId"].as_str().unwrap_or_default();
        let session = self.known_session(id)?;
        let parts = parts(&params["prompt"]);
        let said: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        // It counts until it is answered, which is at once when this is done.
        let (info, _unended) = match command(&said) {
            None => self.plain(id, &session, parts).await?,
            Some((name, arguments)) => self.command(id, &session, &name, &arguments).await?,
        };
        let answer = info.as_ref().and_then(|info| info["id"].as_str());
        self.tell_usage(id, &session.folder, answer).await;
        let mut result = self.turn_result(info.as_ref())?;
        if let Some(message) = params.get("messageId").filter(|message| message.is_string()) {
            // Who gives the prompt's message a name hears it again.
            result["userMessageId"] = message.clone();
        }
        Ok(result)
    }

    async fn plain(&self, id: &str, session: &Session, parts: Vec<Value>) -> Result<Turn<'_>, Refusal> {
        let mut body = Map::new();
        body.insert("model".to_owned(), session.model.json());
        if let Some(variant) = &session.variant {
            body.insert("variant".to_owned(), json!(variant));
        }
        // What a client of ACP has no way to answer or to wait for is not offered to the model.
        let without: Map<String, Value> =
            self.not_offered().iter().map(|tool| ((*tool).to_owned(), json!(false))).collect();
        body.insert("tools".to_owned(), Value::Object(without));
        body.insert("parts".to_owned(), Value::Array(parts));
        if let Some(mode) = self.agent_of(session).await {
            body.insert("agent".to_owned(), json!(mode));
        }
        self.until_idle(id, session, "message", Value::Object(body)).await
    }

    /// The agent that is asked for. One of Kiro's that the server behind it does not know is played by the usual one.
    async fn agent_of(&self, session: &Session) -> Option<String> {
        let mode = session.mode.clone()?;
        if self.dialect.is_kiro()
            && !self.directory(&session.folder).await.is_ok_and(|known| known.has_mode(&mode))
        {
            return None;
        }
        Some(mode)
    }

    /// The server's tools that its agent does without.
    fn not_offered(&self) -> &'static [&'static str] {
        match self.kind {
            ServerKind::Kilo => &["background_process", "cancel_wakeup", "schedule_wakeup"],
            ServerKind::Opencode => &["question"],
        }
    }

    /// A prompt that begins with a slash; one that nobody knows does nothing.
    async fn command(
        &self,
        id: &str,
        session: &Session,
        name: &str,
        arguments: &str,
    ) -> Result<Turn<'_>, Refusal> {
        let directory = self.directory(&session.folder).await?;
        if directory.commands.iter().any(|command| command["name"] == name) {
            let mut body = json!({"command": name, "arguments": arguments, "model": session.model.word()});
            if let Some(variant) = &session.variant {
                body["variant"] = json!(variant);
            }
            if let Some(mode) = self.agent_of(session).await {
                body["agent"] = json!(mode);
            }
            return self.until_idle(id, session, "command", body).await;
        }
        if name == "compact" {
            let (_, unended) = self.until_idle(id, session, "summarize", session.model.json()).await?;
            return Ok((None, unended));
        }
        Ok((None, None))
    }

    /// Asks, and waits for the answer and for the idleness behind it; the answer's `info`.
    async fn until_idle(
        &self,
        id: &str,
        session: &Session,
        route: &str,
        body: Value,
    ) -> Result<Turn<'_>, Refusal> {
        let mut listens = self.listens.clone();
        listens.wait_for(|listens| *listens).await.ok();
        let (unended, over) = self.waiting.begin(id);
        let answered = self.server.post(&in_session(id, &format!("/{route}")), &session.folder, &body).await;
        let answer = match answered {
            Ok(answer) => answer,
            Err(Refused) => return Err(failure("session")),
        };
        let info = answer["info"].clone();
        match (info["id"].as_str(), self.kind) {
            (Some(message), _) => unended.target(message),
            (None, ServerKind::Kilo) => {
                if let Some(message) = self.latest(id, &session.folder).await {
                    unended.target(&message);
                }
            }
            (None, ServerKind::Opencode) => {}
        }
        match self.kind {
            ServerKind::Kilo => {
                crate::clock::within(LAST_WORDS, over).await;
            }
            // Who is gone will say no more.
            ServerKind::Opencode => over.await.unwrap_or_default(),
        }
        unended.in_turn().await;
        Ok((Some(info), Some(unended)))
    }

    async fn latest(&self, id: &str, folder: &str) -> Option<String> {
        let messages = self.server.get(&in_session(id, "/message"), folder).await.ok()?;
        messages.as_array()?.last()?["info"]["id"].as_str().map(str::to_owned)
    }

    /// How much of the model's room is used. A prompt that waited may be at work by now: the real servers take longer to
    /// begin with it than their agents to ask, so what stands behind this one's answer is not counted.
    async fn tell_usage(&self, id: &str, folder: &str, answer: Option<&str>) {
        let Ok(messages) = self.server.get(&in_session(id, "/message"), folder).await else { return };
        let infos: Vec<&Value> =
            messages.as_array().into_iter().flatten().map(|message| &message["info"]).collect();
        let end = answer.and_then(|answer| infos.iter().position(|info| info["id"] == answer));
        let known = end.map_or(&infos[..], |end| &infos[..=end]);
        let of_agent: Vec<&Value> =
            known.iter().copied().filter(|info| info["role"] == "assistant").collect();
        let Some(last) = of_agent.last() else { return };
        let word = |name: &str| last[name].as_str().unwrap_or_default().to_owned();
        let model = Model { provider: word("providerID"), model: word("modelID") };
        let Ok(directory) = self.directory(folder).await else { return };
        let Some(size) = directory.room(&model) else { return };
        let tokens = &last["tokens"];
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        let used =
            count(&tokens["input"]) + count(&tokens["cache"]["read"]) + count(&tokens["cache"]["write"]);
        let cost: f64 = of_agent.iter().filter_map(|info| info["cost"].as_f64()).sum();
        let amount = if cost == 0.0 { json!(0) } else { json!(cost) };
        let cost = json!({"amount": amount, "currency": "USD"});
        self.tell(id, json!({"sessionUpdate": "usage_update", "used": used, "size": size, "cost": cost}));
    }

    /// How the turn ended, or what went wrong in it.
    fn turn_result(&self, info: Option<&Value>) -> Result<Value, Refusal> {
        let Some(info) = info.filter(|info| !info.is_null()) else {
            return Ok(json!({"stopReason": "end_turn", "_meta": {}}));
        };
        let ended = |reason: &str| Ok(json!({"stopReason": reason, "usage": usage(info), "_meta": {}}));
        match info["error"]["name"].as_str() {
            None => ended("end_turn"),
            Some("MessageAbortedError") => ended("cancelled"),
            Some("MessageOutputLengthError") => ended("max_tokens"),
            Some("ContentFilterError") => ended("refusal"),
            Some("ProviderAuthError") => {
                let provider = &info["error"]["data"]["providerID"];
                let message = "Authentication required: provider authentication required".to_owned();
                Err(Refusal(-32000, message, Some(json!({"providerId": provider}))))
            }
            Some(name) => {
                let fallback = format!("{} prompt failed", self.name());
                let said = info["error"]["data"]["message"].as_str().unwrap_or(&fallback);
                Err(service_failure(said, &json!({"service": "session", "errorName": name})))
            }
        }
    }
}

/// `/name and the rest`.
fn command(said: &str) -> Option<(String, String)> {
    let mut words = said.trim().strip_prefix('/')?.split_whitespace();
    let name = words.next().filter(|_| !said.trim()[1..].starts_with(char::is_whitespace))?;
    Some((name.to_owned(), words.collect::<Vec<_>>().join(" ")))
}

fn usage(info: &Value) -> Value {
    let tokens = &info["tokens"];
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let (input, output, thought) =
        (count(&tokens["input"]), count(&tokens["output"]), count(&tokens["reasoning"]));
    let (read, write) = (count(&tokens["cache"]["read"]), count(&tokens["cache"]["write"]));
    let mut usage = json!({"inputTokens": input, "outputTokens": output, "totalTokens": input + output + thought + read + write});
    for (name, value) in
        [("thoughtTokens", thought), ("cachedReadTokens", read), ("cachedWriteTokens", write)]
    {
        if value > 0 {
            usage[name] = json!(value);
        }
    }
    usage
}
