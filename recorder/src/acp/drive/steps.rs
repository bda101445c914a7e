//! Each step of the person, as it is said in ACP.

use super::answers::PERMISSION;
use super::{Client, Session};
use crate::drive::Problem;
use fixtures::scenario::{
    ACP_NOTICE, ACP_REQUEST, PermissionAnswer, RawRequest, RequestBody, UserAct, UserStep, WaitFor,
    fill_in_words, found_at,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Client<'_> {
    pub(super) async fn does(&mut self, step: &UserStep) -> Result<(), Problem> {
        match &step.act {
            UserAct::Prompt { text, .. } => {
                let at = self.session(step.session()).await?;
                let prompt = json!([{"type": "text", "text": text}]);
                let params = json!({"sessionId": self.sessions[at].id, "prompt": prompt});
                let id = self.request("session/prompt", &params).await?;
                self.sessions[at].unanswered.push(id);
                Ok(())
            }
            UserAct::AnswerPermission { answer, .. } => self.permit(step, *answer).await,
            UserAct::Abort => {
                let at = self.session(step.session()).await?;
                self.cancel(at).await
            }
            UserAct::OpenGate(name) => {
                self.casting.open_gate(name);
                Ok(())
            }
            UserAct::WaitFor(WaitFor::Idle) => self.wait_for_idle(step.session()).await,
            UserAct::WaitFor(WaitFor::Event { event, containing, save }) => {
                let session = match &step.session {
                    Some(name) => Some(self.session(name).await?),
                    None => None,
                };
                let containing = containing.as_ref().map(|words| self.filled_in(words));
                self.wait_for_message(event, containing.as_deref(), session, save).await
            }
            UserAct::Request(request) => self.own_words(step.session(), request).await,
            UserAct::Restart(_) => self.restart().await,
            _ => Err(Problem::Unusable("ACP has no word for this step".to_owned())),
        }
    }

    /// Waits for a question that nobody has answered, and answers it by the kind of its options.
    async fn permit(&mut self, step: &UserStep, answer: PermissionAnswer) -> Result<(), Problem> {
        let session = match &step.session {
            Some(name) => Some(self.session(name).await?),
            None => None,
        };
        let session = session.map(|at| self.sessions[at].id.clone());
        let is_open = |message: &Value| {
            message["method"] == PERMISSION
                && !self.settled.contains(&message["id"].to_string())
                && session.as_ref().is_none_or(|session| message["params"]["sessionId"] == session.as_str())
        };
        let what = "a question for permission that is not answered yet";
        let (_, asked) = self.heard(0, what, self.limits.permission, is_open).await?;
        self.settled.insert(asked["id"].to_string());
        let kind = match answer {
            PermissionAnswer::Once => "allow_once",
            PermissionAnswer::Always => "allow_always",
            PermissionAnswer::Reject => "reject_once",
        };
        let options = asked["params"]["options"].as_array().cloned().unwrap_or_default();
        let option = options.iter().find(|option| option["kind"] == kind);
        let option = option.ok_or_else(|| Problem::Unusable(format!("no option is {kind}: {asked}")))?;
        let outcome = json!({"outcome": "selected", "optionId": option["optionId"]});
        self.message(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}})).await
    }

    /// Ends the turn; what is asked and open is answered, as every client must.
    async fn cancel(&mut self, at: usize) -> Result<(), Problem> {
        let id = self.sessions[at].id.clone();
        let notice = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": id}});
        self.message(&notice).await?;
        for asked in self.wire.since(0) {
            let is_open = asked["method"] == PERMISSION && asked["params"]["sessionId"] == id.as_str();
            if is_open && self.settled.insert(asked["id"].to_string()) {
                let result = json!({"outcome": {"outcome": "cancelled"}});
                self.message(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).await?;
            }
        }
        Ok(())
    }

    async fn wait_for_idle(&mut self, session: &str) -> Result<(), Problem> {
        let at = self.session(session).await?;
        for id in std::mem::take(&mut self.sessions[at].unanswered) {
            self.response(id, "the prompt", self.limits.idle).await?;
        }
        Ok(())
    }

    /// The next message of this kind behind the one that was awaited last: a method, a kind of update, or an event of a
    /// server that is told so.
    async fn wait_for_message(
        &mut self,
        event: &str,
        containing: Option<&str>,
        session: Option<usize>,
        save: &BTreeMap<String, String>,
    ) -> Result<(), Problem> {
        let session = session.map(|at| self.sessions[at].id.clone());
        let is_kind = |message: &Value| {
            let kind = message["params"]["update"]["sessionUpdate"].as_str().unwrap_or_default();
            match event {
                "message.part.delta" => kind.starts_with("agent_") && kind.ends_with("_chunk"),
                "message.part.updated" => kind.starts_with("tool_call"),
                "permission.asked" => message["method"] == PERMISSION,
                other => kind == other || message["method"] == other,
            }
        };
        let fits = |message: &Value| {
            is_kind(message)
                && session.as_ref().is_none_or(|session| message["params"]["sessionId"] == session.as_str())
                && containing.is_none_or(|words| message.to_string().contains(words))
        };
        let what = format!("a message {event} with {:?}", containing.unwrap_or_default());
        let (place, message) = self.heard(self.awaited_from, &what, self.limits.idle, fits).await?;
        self.awaited_from = place + 1;
        self.save(save, &message, &what)
    }

    /// Says what stands in the step.
    async fn own_words(&mut self, session: &str, request: &RawRequest) -> Result<(), Problem> {
        if request.texts().iter().any(|text| text.contains("${main}")) && !self.saved.contains_key("main") {
            self.session(fixtures::scenario::MAIN_SESSION).await?;
        }
        let filled = request.filled_in(&|word| self.meaning(word));
        let params = match &filled.body {
            RequestBody::Json(params) => params.clone(),
            RequestBody::Text(text) => return self.line(text.as_bytes()).await,
            RequestBody::Nothing => json!({}),
        };
        let method = filled.target.as_str();
        if filled.method == ACP_NOTICE {
            return self.message(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
        }
        if filled.method != ACP_REQUEST {
            return Err(Problem::Unusable(format!("{} {method} has no text to say", filled.method)));
        }
        let id = self.request(method, &params).await?;
        if filled.in_background {
            let named = self.sessions.iter().position(|known| known.name == session);
            let at = match named {
                Some(at) => at,
                None => {
                    let id = self.saved.get(session).cloned().unwrap_or_default();
                    self.sessions.push(Session { name: session.to_owned(), id, unanswered: Vec::new() });
                    self.sessions.len() - 1
                }
            };
            self.sessions[at].unanswered.push(id);
            return Ok(());
        }
        let answer = self.response(id, method, self.limits.exchange).await?;
        if matches!(method, "session/new" | "session/load" | "session/resume" | "session/fork") {
            self.quiet(self.limits.boot_quiet).await?;
        }
        self.save(&request.save, &answer, method)
    }

    fn filled_in(&self, text: &str) -> String {
        fill_in_words(text, &|word| self.meaning(word))
    }

    fn meaning(&self, word: &str) -> Option<String> {
        if word == "workspace" {
            return Some(self.workspace.clone());
        }
        let session = self.sessions.iter().find(|session| session.name == word);
        self.saved.get(word).cloned().or_else(|| session.map(|session| session.id.clone()))
    }

    fn save(&mut self, save: &BTreeMap<String, String>, from: &Value, what: &str) -> Result<(), Problem> {
        for (word, pointer) in save {
            let found = found_at(from, pointer).ok_or_else(|| {
                Problem::Unusable(format!("{what} has nothing at {pointer} to save as {word}: {from}"))
            })?;
            self.saved.insert(word.clone(), found);
        }
        Ok(())
    }
}
