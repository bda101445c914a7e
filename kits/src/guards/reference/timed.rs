//! What waits for its time: files that have to be quiet, batches that are gathered, answers that are kept for a while.

use super::{Reference, text};
use crate::adapter::Screen;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

const QUIET_MS: f64 = 500.0;
const GATHERED_MS: f64 = 100.0;
const KEPT_MS: f64 = 300_000.0;

/// What is under way.
#[derive(Default)]
pub(super) struct Timed {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Who waits until a file is quiet.
    files: BTreeMap<String, AbortHandle>,
    /// What the next batch has.
    batch: Vec<Item>,
    /// Who gathers it.
    gathers: Option<AbortHandle>,
    is_wedged: bool,
    /// Answers, and until when they are good.
    answers: BTreeMap<String, (f64, Value)>,
}

/// Something for a batch.
#[derive(Clone)]
struct Item {
    name: String,
    fails: bool,
    takes_ms: f64,
}

impl Timed {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reference {
    /// A file has changed: it is indexed when it has been quiet.
    pub(super) fn changed(self: &Arc<Self>, path: &str, screen: &Screen) -> Value {
        if self.is("no-debounce") {
            self.reread(path, screen);
            return json!({});
        }
        let (adapter, screen, told) = (self.clone(), screen.clone(), path.to_owned());
        let waits = tokio::spawn(async move {
            screen.wait(QUIET_MS).await;
            adapter.reread(&told, &screen);
        });
        let whose = if self.is("one-debounce") { "all" } else { path };
        if let Some(before) = self.timed.inner().files.insert(whose.to_owned(), waits.abort_handle()) {
            before.abort();
        }
        json!({})
    }

    /// Something is added; a moment later all that was added is worked on at once.
    pub(super) fn add(self: &Arc<Self>, params: &Value, screen: &Screen) -> Value {
        let name = text(&params["item"]).to_owned();
        let takes_ms = params["takesMs"].as_f64().unwrap_or_default();
        if self.is("batches-of-one") {
            screen.show(json!({"kind": "batch", "items": [name], "failed": params["fails"]}));
            return json!({});
        }
        let mut inner = self.timed.inner();
        inner.batch.push(Item { name, fails: params["fails"] == true, takes_ms });
        let restarts = self.is("batch-timer-restarts");
        if let Some(before) = inner.gathers.take_if(|_| restarts) {
            before.abort();
        }
        // Who has begun to gather works on it all.
        if (inner.batch.len() == 1 || restarts) && !inner.is_wedged {
            let (adapter, screen) = (self.clone(), screen.clone());
            let waits_ms = if self.is("batch-waits-longer") { 2.0 * GATHERED_MS } else { GATHERED_MS };
            let gathers = tokio::spawn(async move {
                screen.wait(waits_ms).await;
                adapter.timed.inner().gathers = None;
                adapter.flush(&screen).await;
            });
            inner.gathers = Some(gathers.abort_handle());
        }
        json!({})
    }

    async fn flush(&self, screen: &Screen) {
        let clears_late = self.is("clears-after-work");
        let mut batch = match clears_late {
            true => self.timed.inner().batch.clone(),
            false => std::mem::take(&mut self.timed.inner().batch),
        };
        if self.is("batch-of-the-first") {
            batch.truncate(1);
        }
        let items: Vec<&String> = batch.iter().map(|item| &item.name).collect();
        let fails = batch.iter().any(|item| item.fails);
        screen.show(json!({"kind": "batch", "items": items, "failed": fails}));
        screen.wait(batch.iter().map(|item| item.takes_ms).fold(0.0, f64::max)).await;
        if clears_late {
            self.timed.inner().batch.clear();
        }
        if fails && self.is("wedged-batch") {
            self.timed.inner().is_wedged = true;
        }
    }

    /// An answer that is young enough is given again.
    pub(super) async fn kept(&self, params: &Value, screen: &Screen) -> Value {
        let (key, now) = (text(&params["key"]), screen.now_ms());
        let key = if self.is("one-answer-for-all") { "" } else { key };
        let old = self.timed.inner().answers.get(key).cloned();
        if let Some((until, value)) = &old
            && (now < *until || self.is("keeps-for-ever"))
        {
            return value.clone();
        }
        let answer = self.client.get(text(&params["url"])).send().await;
        let (ok, value) = match answer {
            Ok(answer) => {
                let ok = answer.status().is_success();
                (ok, json!({"ok": ok, "value": answer.text().await.unwrap_or_default()}))
            }
            Err(_) => (false, json!({"ok": false})),
        };
        if ok || self.is("keeps-failures") {
            self.timed.inner().answers.insert(key.to_owned(), (now + KEPT_MS, value.clone()));
        }
        match old {
            Some((_, old)) if self.is("gives-old-answer") => old,
            _ => value,
        }
    }
}
