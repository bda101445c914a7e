//! The reference of clients that leave the history to a server: an edit is an abort, a revert or a copy, and a prompt; and when
//! that fails, all is as it was. It imports nothing of the stand-in.

use super::mutants;
use crate::adapter::Screen;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// A client of one session.
pub(super) struct ServerClient {
    mutant: Option<&'static str>,
    http: reqwest::Client,
    memory: Mutex<Memory>,
    /// How many prompts are under way.
    at_work: watch::Sender<usize>,
}

#[derive(Default)]
struct Memory {
    server: String,
    session: Option<String>,
    /// The one that was copied; only a mutant looks there.
    first: Option<String>,
    is_editing: bool,
    /// Questions that belong to a turn that was taken back.
    void: BTreeSet<String>,
    /// Words of an edit that failed.
    draft: Option<String>,
    /// Only a mutant shows what the server has gone back from.
    shows_all: bool,
}

impl ServerClient {
    pub(super) fn new(mutant: Option<&'static str>) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap_or_default();
        Self { mutant, http, memory: Mutex::default(), at_work: watch::Sender::new(0) }
    }

    fn is(&self, mutant: &str) -> bool {
        let is_letter = self.mutant == Some(mutants::TO_THE_LETTER);
        self.mutant == Some(mutant) || is_letter && mutants::OF_THE_LETTER.contains(&mutant)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is asked of a client whose history is a server's; nothing else.
    pub(super) async fn call(
        &self,
        method: &str,
        params: &Value,
        screen: &Screen,
    ) -> Option<Result<Value, RpcError>> {
        let text = params["text"].as_str().unwrap_or_default();
        Some(match method {
            "configure" => {
                self.connect(params["server"].as_str()?);
                Ok(json!({}))
            }
            "task/send" => {
                let first = self.memory().first.take().filter(|_| self.is("sends-in-the-first"));
                if first.is_some() {
                    self.memory().session = first;
                }
                self.send(text).await
            }
            "task/permissions" => self.permissions().await,
            "permission/answer" => self.answer(params).await,
            "task/snapshot" if params["taskId"].is_null() => self.snapshot().await,
            "message/edit" if params["ordinal"].is_u64() => self.edit(params, screen).await,
            "message/back" => self.back(params).await,
            "message/forth" => self.forth().await,
            _ => return None,
        })
    }

    /// Another server, and no session yet.
    fn connect(&self, server: &str) {
        *self.memory() = Memory { server: server.to_owned(), ..Memory::default() };
    }

    async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<(u16, Value), RpcError> {
        let request = self.http.request(method, format!("{}{path}", self.memory().server));
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let failed = |error: reqwest::Error| RpcError::failed(error.to_string());
        let answer = request.send().await.map_err(failed)?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.map_err(failed)?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }

    async fn post(&self, path: &str, body: Value) -> Result<(u16, Value), RpcError> {
        self.ask(reqwest::Method::POST, path, Some(body)).await
    }

    async fn get(&self, path: &str) -> Result<Value, RpcError> {
        self.ask(reqwest::Method::GET, path, None).await.map(|(_, body)| body)
    }

    async fn session(&self) -> Result<String, RpcError> {
        if let Some(session) = self.memory().session.clone() {
            return Ok(session);
        }
        let (_, made) = self.post("/session", json!({})).await?;
        let id =
            made["id"].as_str().ok_or_else(|| RpcError::failed("the server makes no session"))?.to_owned();
        self.memory().session = Some(id.clone());
        Ok(id)
    }

    /// Sends a prompt; it is answered when the turn is over.
    async fn send(&self, text: &str) -> Result<Value, RpcError> {
        let session = self.session().await?;
        self.at_work.send_modify(|count| *count += 1);
        let sent = self
            .post(&format!("/session/{session}/message"), json!({"parts": [{"type": "text", "text": text}]}))
            .await;
        self.at_work.send_modify(|count| *count -= 1);
        sent.map(|(status, said)| json!({"status": status, "error": said["info"]["error"]}))
    }

    /// The questions that the user sees.
    async fn permissions(&self) -> Result<Value, RpcError> {
        let open = self.get("/permission").await?;
        let ids: Vec<&Value> = open.as_array().into_iter().flatten().map(|one| &one["id"]).collect();
        Ok(json!({"permissions": ids}))
    }

    /// The user answers a question that he sees, or has seen.
    async fn answer(&self, params: &Value) -> Result<Value, RpcError> {
        let id = params["id"].as_str().unwrap_or_default();
        if self.memory().void.contains(id) && !self.is("answers-late") {
            return Ok(json!({"ok": false, "error": "that turn was taken back"}));
        }
        let (status, _) =
            self.post(&format!("/permission/{id}/reply"), json!({"reply": params["reply"]})).await?;
        Ok(json!({"ok": status == 200}))
    }

    /// Takes a prompt back, or goes on in a copy, and sends another one in its place.
    async fn edit(&self, edit: &Value, screen: &Screen) -> Result<Value, RpcError> {
        if std::mem::replace(&mut self.memory().is_editing, true) && !self.is("no-guard") {
            return Ok(json!({"ok": false, "error": "an edit is under way"}));
        }
        let done = self.edit_once(edit).await;
        self.memory().is_editing = false;
        let Err(why) = done else { return Ok(json!({"ok": true})) };
        if !self.is("forgets-words") {
            self.memory().draft = edit["text"].as_str().map(str::to_owned);
        }
        if !self.is("says-nothing") {
            screen
                .show(json!({"kind": "notice", "level": "error", "key": "edit-failed", "text": why.message}));
        }
        Ok(json!({"ok": false, "error": why.message}))
    }

    async fn edit_once(&self, edit: &Value) -> Result<(), RpcError> {
        let session = self.session().await?;
        self.halt(&session).await?;
        let target = self.target(&session, &edit["ordinal"]).await?;
        let words = edit["text"].as_str().unwrap_or_default();
        let words = if self.is("trims") { words.trim() } else { words };
        if edit["by"] == "copy" {
            return self.edit_in_copy(session, target, words).await;
        }
        let known = self.get(&format!("/session/{session}")).await?;
        if !self.is("sends-beside") {
            let (status, _) = self.post(&format!("/session/{session}/revert"), target).await?;
            if status != 200 && !self.is("reverts-at-work") {
                return Err(RpcError::failed(format!("the server refuses the revert with {status}")));
            }
        }
        let sent = self.prompt(words).await;
        if sent.is_err() && !self.is("leaves-reverted") {
            // The user may have gone back before, and is there again.
            match known["revert"]["messageID"].as_str().filter(|_| !self.is("goes-forth-too-far")) {
                Some(was) => {
                    self.post(&format!("/session/{session}/revert"), json!({"messageID": was})).await?
                }
                None => self.post(&format!("/session/{session}/unrevert"), json!({})).await?,
            };
        }
        sent
    }

    /// The agent stops, and nobody's yes to what it asks counts any more.
    async fn halt(&self, session: &str) -> Result<(), RpcError> {
        let helpers = self.get(&format!("/session/{session}/children")).await?;
        // An agent's helper asks in a session of its own.
        let helps = |asks: &Value| {
            let mut helpers = helpers.as_array().into_iter().flatten();
            !self.is("forgets-helpers") && helpers.any(|helper| helper["id"] == *asks)
        };
        let open = self.get("/permission").await?;
        let open = open.as_array().into_iter().flatten();
        let all = self.is("rejects-everyones");
        let void = open.filter(|one| all || one["sessionID"] == session || helps(&one["sessionID"]));
        let void: Vec<String> = void.filter_map(|one| one["id"].as_str().map(str::to_owned)).collect();
        self.memory().void.extend(void.iter().cloned());
        if *self.at_work.borrow() > 0 && !self.is("reverts-at-work") {
            self.post(&format!("/session/{session}/abort"), json!({})).await?;
            // The server refuses a revert while the turn still ends.
            let mut at_work = self.at_work.subscribe();
            let _ended = at_work.wait_for(|count| *count == 0).await;
        }
        // The server keeps the question of a turn that was aborted, and takes a late yes, whoever says it.
        let leaves = self.is("leaves-the-question") || self.is("answers-late");
        for id in void.iter().filter(|_| !leaves) {
            self.post(&format!("/permission/{id}/reply"), json!({"reply": "reject"})).await?;
        }
        Ok(())
    }

    /// The prompt of this number, as the server is told of it.
    async fn target(&self, session: &str, ordinal: &Value) -> Result<Value, RpcError> {
        let messages = self.get(&format!("/session/{session}/message")).await?;
        let mut prompts =
            messages.as_array().into_iter().flatten().filter(|one| one["info"]["role"] == "user");
        let place =
            usize::try_from(ordinal.as_u64().unwrap_or_default().saturating_sub(1)).unwrap_or_default();
        let last = prompts.clone().count().saturating_sub(1);
        let place = if self.is("takes-the-last") { place.min(last) } else { place };
        let prompt = prompts.nth(place).ok_or_else(|| RpcError::failed("there is no such prompt"))?;
        Ok(json!({"messageID": prompt["info"]["id"]}))
    }

    /// Goes back to before a prompt, and says nothing.
    async fn back(&self, params: &Value) -> Result<Value, RpcError> {
        let session = self.session().await?;
        if !self.is("goes-back-at-work") {
            self.halt(&session).await?;
        }
        let target = self.target(&session, &params["ordinal"]).await?;
        let (status, _) = self.post(&format!("/session/{session}/revert"), target).await?;
        Ok(json!({"ok": status == 200}))
    }

    /// Takes going back back.
    async fn forth(&self) -> Result<Value, RpcError> {
        let session = self.session().await?;
        if self.is("forth-on-screen") {
            self.memory().shows_all = true;
            return Ok(json!({"ok": true}));
        }
        let (status, _) = self.post(&format!("/session/{session}/unrevert"), json!({})).await?;
        Ok(json!({"ok": status == 200}))
    }

    /// What was said before the prompt stands in a copy, and there the other one is sent; the first conversation stays.
    async fn edit_in_copy(&self, session: String, target: Value, words: &str) -> Result<(), RpcError> {
        if self.is("reverts-the-copied") {
            self.post(&format!("/session/{session}/revert"), target.clone()).await?;
        }
        let wanted = if self.is("copies-all") { json!({}) } else { target };
        let (_, copy) = self.post(&format!("/session/{session}/fork"), wanted).await?;
        match copy["id"].as_str() {
            Some(copy) => {
                let mut memory = self.memory();
                (memory.session, memory.first) = (Some(copy.to_owned()), Some(session.clone()));
            }
            None if self.is("goes-on-without-a-copy") => {}
            None => return Err(RpcError::failed("the server makes no copy")),
        }
        let sent = self.prompt(words).await;
        if sent.is_err() && !self.is("stays-in-the-copy") {
            self.memory().session = Some(session);
        }
        sent
    }

    /// Sends a prompt that the server has to take.
    async fn prompt(&self, words: &str) -> Result<(), RpcError> {
        let sent = self.send(words).await?;
        match sent["status"].as_u64() {
            // The server has taken it, and its model has not answered: the answer is an error.
            Some(200) if !sent["error"].is_null() && !self.is("takes-errors-for-answers") => {
                Err(RpcError::failed(format!("the model has not answered: {}", sent["error"])))
            }
            Some(200) => Ok(()),
            _ => Err(RpcError::failed(format!("the server refuses the prompt with {}", sent["status"]))),
        }
    }

    /// What the user sees of the session.
    async fn snapshot(&self) -> Result<Value, RpcError> {
        let session = self.session().await?;
        let known = self.get(&format!("/session/{session}")).await?;
        let messages = self.get(&format!("/session/{session}/message")).await?;
        // The server lists what it has gone back from until the next prompt.
        let hides = !self.is("shows-the-gone") && !self.memory().shows_all;
        let gone = known["revert"]["messageID"].as_str().filter(|_| hides);
        let listed = messages.as_array().into_iter().flatten();
        let shown = listed.take_while(|one| gone.is_none() || one["info"]["id"].as_str() != gone);
        let entries = shown.map(|one| {
            let texts = one["parts"].as_array().into_iter().flatten().filter(|part| part["type"] == "text");
            let text: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
            let says = if one["info"]["role"] == "user" { "prompt" } else { "answer" };
            json!({"says": says, "text": text.join("\n")})
        });
        let mut snapshot = json!({"user": entries.collect::<Vec<_>>()});
        if let Some(draft) = &self.memory().draft {
            snapshot["draft"] = json!(draft);
        }
        Ok(snapshot)
    }
}
