//! A client that rewinds, and the switches that break it. It imports nothing of the stand-in.
//!
//! It keeps both lists in one file that is put in place whole. An edit deletes nothing before all that can fail has been
//! done: the work has stopped, the files are back, the task is there again.

use super::cut;
use super::keeping::words_of;
use super::mutants::{OF_THE_LETTER, TO_THE_LETTER};
use super::resend::Edited;
use super::server_client::ServerClient;
use crate::adapter::{Adapter, Screen};
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// How long the work may take to stop.
const STOP_MS: f64 = 3000.0;

/// The client.
pub(super) struct Client {
    pub(super) mutant: Option<&'static str>,
    pub(super) http: reqwest::Client,
    memory: Mutex<Memory>,
    /// The one who leaves the history to a server, where one is named.
    on_server: ServerClient,
    /// Counts up whenever the agent's work is stopped.
    stops: watch::Sender<u64>,
    /// So many files were begun.
    pub(super) begun: AtomicU64,
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) ground: Ground,
    pub(super) current: String,
    pub(super) tasks: BTreeMap<String, Task>,
    is_working: bool,
    is_editing: bool,
    /// The message of the last edit; only a mutant looks there.
    edited: Value,
    pub(super) writes: u32,
    /// So many edits were done.
    pub(super) edits: u32,
    /// As they were opened; only a mutant looks there.
    opened: BTreeMap<String, Task>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ground {
    pub(super) model: String,
    pub(super) workspace: PathBuf,
    pub(super) store: PathBuf,
    pub(super) shadow: Option<PathBuf>,
    pub(super) seams: Seams,
    pub(super) hold_after_writes: Option<u32>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seams {
    cancel_ms: i32,
    cancel_fails: bool,
    pub(super) reinit_ms: u32,
    pub(super) reinit_fails: bool,
    task_is_missing: bool,
    pub(super) restore_ms: u32,
    pub(super) restore_fails: bool,
}

/// A conversation in two lists, and its checkpoints.
#[derive(Clone, Default)]
pub(super) struct Task {
    pub(super) user: Vec<Value>,
    pub(super) model: Vec<Value>,
    pub(super) checkpoints: Vec<Value>,
    /// While files are put back: the name of what was there before.
    pub(super) restoring: Option<String>,
}

impl Client {
    pub(super) fn new(mutant: Option<&'static str>) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap_or_default();
        Self {
            mutant,
            http,
            memory: Mutex::default(),
            on_server: ServerClient::new(mutant),
            stops: watch::Sender::new(0),
            begun: AtomicU64::new(0),
        }
    }

    pub(super) fn is(&self, mutant: &str) -> bool {
        self.mutant == Some(mutant) || self.is_to_the_letter() && OF_THE_LETTER.contains(&mutant)
    }

    fn is_to_the_letter(&self) -> bool {
        self.mutant == Some(TO_THE_LETTER)
    }

    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ground(&self) -> Ground {
        self.memory().ground.clone()
    }

    pub(super) fn task(&self, id: &str) -> Task {
        self.memory().tasks.get(id).cloned().unwrap_or_default()
    }

    /// An edit, told to the user if it fails.
    async fn edit(&self, edit: &Value, screen: &Screen) -> Value {
        let is_another = self.is("guards-each-message") && self.memory().edited != edit["ts"];
        let is_free = self.is("no-guard") || is_another;
        if std::mem::replace(&mut self.memory().is_editing, true) && !is_free {
            return json!({"ok": false, "error": "an edit is under way"});
        }
        self.memory().edited = edit["ts"].clone();
        let edit = &self.words_to_send(edit);
        let outcome = self.edit_once(edit, screen).await;
        self.memory().is_editing = false;
        match outcome {
            Ok(()) => {
                self.memory().edits += 1;
                let again = self.memory().edits > 1;
                let level = if again && self.is("warns-when-edited-again") { "warning" } else { "info" };
                screen.show(json!({"kind": "notice", "level": level, "key": "edit-done", "text": "The message was updated."}));
                json!({"ok": true})
            }
            Err(why) => {
                if !self.is("says-nothing") {
                    let level = if self.is("says-in-passing") { "info" } else { "error" };
                    screen.show(json!({"kind": "notice", "level": level, "key": "edit-failed", "text": why}));
                }
                json!({"ok": false, "error": why})
            }
        }
    }

    async fn edit_once(&self, edit: &Value, screen: &Screen) -> Result<(), String> {
        let current = self.memory().current.clone();
        let id = match self.is("edits-what-is-open") {
            true => current.as_str(),
            false => edit["taskId"].as_str().unwrap_or_default(),
        };
        let ground = self.ground();
        self.keep_words(edit);
        if current != id && !self.is("any-task") {
            return Err("another task is open".to_owned());
        }
        let stops = !self.is("stops-only-to-restore") || edit["revert"] == true;
        if self.memory().is_working && stops && !self.is("no-cancel") {
            self.stop(&ground.seams, screen).await?;
        }
        // The lists of now: whoever stopped the work may have written in them.
        let mut before = self.task(id);
        if self.is("acts-on-what-was-opened") {
            before = self.memory().opened.get(id).cloned().unwrap_or_default();
        }
        let rule = if self.is_to_the_letter() { Some("cut-a-second-before") } else { self.mutant };
        let (user, model) = cut::find(&before.user, &before.model, edit, rule)?;
        let mut after = self.after(&before, (user, model), edit);
        if self.is("deletes-first") && !self.is_to_the_letter() {
            self.keep(id, &after, screen).await?;
        }
        let missing = ground.seams.task_is_missing.then(|| "the task is not in the list of tasks".to_owned());
        if let (Some(why), false) = (&missing, self.is_to_the_letter()) {
            return Err(why.clone());
        }
        let restores = edit["revert"] == true || self.is("restores-unasked") && ground.shadow.is_some();
        let saved = match restores {
            true => self.restore(&before, edit, screen).await?,
            false => None,
        };
        if self.is_to_the_letter() {
            // The lists are cut when the files are back; the new words stand in neither until the task is there.
            self.keep(id, &before.until((user, model)), screen).await?;
            missing.map_or(Ok(()), Err)?;
        }
        if self.is("keeps-the-journal") {
            after.restoring.clone_from(&saved);
        }
        let edited = Edited { id, before: &before, after: &after, saved, edit };
        self.resend(&ground, &edited, screen).await?;
        if edit["revert"] == true && self.is_hasty(&ground.seams) {
            self.restore_late(&before, edit, screen).await?;
        }
        if self.is("cuts-all-of-this-time") {
            self.cut_others(id, edit);
        }
        Ok(())
    }

    /// Stops the agent's work; that it does not stop in time is an error.
    async fn stop(&self, seams: &Seams, screen: &Screen) -> Result<(), String> {
        screen.show(json!({"kind": "seam", "name": "cancel", "state": "begin"}));
        let takes = if seams.cancel_ms < 0 { f64::INFINITY } else { f64::from(seams.cancel_ms) };
        let limit = if self.is("waits-for-ever") { 10.0 * STOP_MS } else { STOP_MS };
        screen.wait(takes.min(limit)).await;
        if takes > limit || seams.cancel_fails {
            screen.show(json!({"kind": "seam", "name": "cancel", "state": "failed"}));
            return match self.is("restores-at-work") {
                true => Ok(()),
                false => Err("the agent did not stop".to_owned()),
            };
        }
        self.stops.send_modify(|stops| *stops += 1);
        self.memory().is_working = false;
        screen.show(json!({"kind": "seam", "name": "cancel", "state": "end"}));
        Ok(())
    }

    /// The agent at work in the last turn: it writes at its end, unless it is stopped.
    async fn work(&self, params: &Value, screen: &Screen) -> Value {
        self.memory().is_working = true;
        let mut stops = self.stops.subscribe();
        let before = *stops.borrow_and_update();
        let stopped = async { stops.wait_for(|stops| *stops > before).await.map(drop) };
        let is_deaf = self.is("late-words");
        tokio::select! {
            biased;
            _ = stopped, if !is_deaf => return json!({"end": "stopped"}),
            () = screen.wait(params["ms"].as_f64().unwrap_or_default()) => {}
        }
        let is_stopped = *self.stops.borrow() > before;
        let ground = self.ground();
        if !is_stopped {
            let _written =
                fs::write(ground.workspace.join(params["file"].as_str().unwrap_or("late")), "late\n");
        }
        let entry = json!({"says": "answer", "text": params["words"]});
        let current = self.memory().current.clone();
        let mut task = self.task(&current);
        task.user.push(entry.clone());
        task.model.push(entry);
        self.show(&current, &task, screen);
        self.memory().is_working = false;
        json!({"end": "done"})
    }
}

impl Adapter for Client {
    fn introduce(&self) -> Value {
        let capabilities = [
            "rewind.edit",
            "rewind.images",
            "rewind.checkpoint",
            "rewind.atomic",
            "rewind.server",
            "rewind.copy",
            "rewind.back",
        ];
        let without = if self.is("keeps-the-model-in-mind") { "rewind.atomic" } else { "" };
        let capabilities: Vec<&str> = capabilities.into_iter().filter(|word| *word != without).collect();
        let policy = if self.is_to_the_letter() { "seed" } else { "careful" };
        let declares = json!({"policy": policy, "editImages": "keep"});
        json!({"name": "rewind-reference", "capabilities": capabilities, "clock": "virtual", "declares": declares})
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            let id = params["taskId"].as_str().unwrap_or_default().to_owned();
            let list = |name: &str| params[name].as_array().cloned().unwrap_or_default();
            if let Some(answered) = self.on_server.call(&method, &params, &screen).await {
                return answered;
            }
            match method.as_str() {
                "configure" => {
                    let ground = serde_json::from_value(params)
                        .map_err(|error| RpcError::invalid_params(error.to_string()))?;
                    self.memory().ground = ground;
                    Ok(json!({}))
                }
                "rewind/seed" => {
                    let task = Task {
                        user: list("user"),
                        model: list("model"),
                        checkpoints: list("checkpoints"),
                        restoring: None,
                    };
                    let hold = self.memory().ground.hold_after_writes.take();
                    self.memory().current.clone_from(&id);
                    self.keep(&id, &task, &screen).await.map_err(RpcError::failed)?;
                    let mut memory = self.memory();
                    memory.opened.insert(id.clone(), task);
                    (memory.ground.hold_after_writes, memory.writes) = (hold, 0);
                    Ok(json!({}))
                }
                "rewind/load" => {
                    let task = self.take_back(&id, self.load(&id)).map_err(RpcError::failed)?;
                    let mut memory = self.memory();
                    memory.tasks.insert(id.clone(), task);
                    memory.current = id;
                    Ok(json!({}))
                }
                "task/open" => {
                    self.memory().current.clone_from(&id);
                    self.show(&id, &self.task(&id), &screen);
                    Ok(json!({}))
                }
                "task/work" => Ok(self.work(&params, &screen).await),
                "task/snapshot" => {
                    let words = fs::read_to_string(words_of(&self.ground().store)).ok();
                    let task = self.task(&id);
                    Ok(json!({"user": task.user, "model": task.model, "draft": words}))
                }
                "message/edit" => Ok(self.edit(&params, &screen).await),
                _ => Err(RpcError::unsupported(&method)),
            }
        })
    }
}
