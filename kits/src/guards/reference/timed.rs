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
    /// What the next batch has, and whether it fails.
    batch: Vec<(String, bool)>,
    is_wedged: bool,
    /// Answers, and until when they are good.
    answers: BTreeMap<String, (f64, Value)>,
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
        let mut inner = self.timed.inner();
        inner.batch.push((text(&params["item"]).to_owned(), params["fails"] == true));
        // Who has begun to gather works on it all.
        if inner.batch.len() == 1 && !inner.is_wedged {
            let (adapter, screen) = (self.clone(), screen.clone());
            tokio::spawn(async move {
                screen.wait(GATHERED_MS).await;
                adapter.flush(&screen);
            });
        }
        json!({})
    }

    fn flush(&self, screen: &Screen) {
        let mut batch = std::mem::take(&mut self.timed.inner().batch);
        if self.is("batch-of-the-first") {
            batch.truncate(1);
        }
        let items: Vec<&String> = batch.iter().map(|(item, _)| item).collect();
        let fails = batch.iter().any(|(_, fails)| *fails);
        screen.show(json!({"kind": "batch", "items": items, "failed": fails}));
        if fails && self.is("wedged-batch") {
            self.timed.inner().is_wedged = true;
        }
    }

    /// An answer that is young enough is given again.
    pub(super) async fn kept(&self, params: &Value, screen: &Screen) -> Value {
        let (key, now) = (text(&params["key"]), screen.now_ms());
        if let Some((until, value)) = self.timed.inner().answers.get(key)
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
        value
    }
}
