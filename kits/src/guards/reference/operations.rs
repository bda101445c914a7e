//! Operations: a few at once, with a limit of time, measured; services that are there once, and tell what they do.

use super::{Reference, text};
use crate::adapter::Screen;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OnceCell, Semaphore};

/// Places for operations, and services.
pub(super) struct Operations {
    places: Mutex<Arc<Semaphore>>,
    services: Mutex<BTreeMap<String, Service>>,
    instances: AtomicU64,
}

/// A service, or the cell where it will be; why it could not be initialized is kept by a mutant alone.
#[derive(Clone, Default)]
struct Service {
    cell: Arc<OnceCell<u64>>,
    has_failed: bool,
}

impl Default for Operations {
    fn default() -> Self {
        let places = Mutex::new(Arc::new(Semaphore::new(1)));
        Self { places, services: Mutex::default(), instances: AtomicU64::new(0) }
    }
}

impl Operations {
    /// So many may be under way from now on.
    pub(super) fn allow(&self, most: usize) {
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(Semaphore::new(most));
    }

    fn service(&self, name: &str) -> Service {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.entry(name.to_owned()).or_default().clone()
    }

    fn put(&self, name: &str, service: Service) {
        self.services.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), service);
    }
}

impl Reference {
    /// Does the host say yes?
    async fn posts(&self, url: &str) -> bool {
        let answer = self.client.post(url).body("{}").send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// One of several operations: it waits for a place.
    pub(super) async fn begin(&self, params: &Value) -> Value {
        let places = self.operations.places.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let place = match self.is("no-limit-at-once") {
            true => None,
            false => places.acquire_owned().await.ok(),
        };
        let ok = self.posts(text(&params["url"])).await;
        if let Some(place) = place
            && !ok
            && self.is("leaks-place")
        {
            place.forget();
        }
        json!({"ok": ok})
    }

    /// An operation that has so long and no longer.
    pub(super) async fn limited(self: &Arc<Self>, params: &Value, screen: &Screen) -> Value {
        let (id, ms) = (params["id"].clone(), params["timeoutMs"].as_f64().unwrap_or_default());
        let ended = |ok: bool| json!({"kind": "ended", "id": id, "ok": ok});
        let asked = {
            let (adapter, url) = (self.clone(), text(&params["url"]).to_owned());
            async move { adapter.posts(&url).await }
        };
        if self.is("never-times-out") {
            let ok = asked.await;
            screen.show(ended(ok));
            return json!({"ok": ok});
        }
        let mut asked = tokio::spawn(asked);
        let ok = tokio::select! {
            ok = &mut asked => Some(ok.unwrap_or_default()),
            () = screen.wait(ms) => None,
        };
        screen.show(ended(ok == Some(true)));
        if self.is("shows-late-answer") && ok.is_none() {
            let (screen, late) = (screen.clone(), ended(true));
            tokio::spawn(async move {
                if asked.await.is_ok() {
                    screen.show(late);
                }
            });
        } else {
            asked.abort();
        }
        if self.is("timer-stays") && ok.is_some() {
            let (screen, late) = (screen.clone(), ended(false));
            tokio::spawn(async move {
                screen.wait(ms).await;
                screen.show(late);
            });
        }
        match ok {
            Some(ok) => json!({"ok": ok}),
            None if self.is("times-out-without-a-word") => json!({"ok": false}),
            None if self.is("times-out-as-anything") => {
                json!({"ok": false, "error": {"message": "The operation failed"}})
            }
            None => json!({"ok": false, "error": {"message": "Operation timed out"}}),
        }
    }

    /// An operation whose time is taken and reported, whatever comes of it.
    pub(super) async fn measured(&self, params: &Value, screen: &Screen) -> Value {
        let (label, begun) = (text(&params["label"]), screen.now_ms());
        let ok = self.posts(text(&params["url"])).await;
        let ms = screen.now_ms() - begun;
        let sink = self.state().reports_to.clone().filter(|_| ok || !self.is("times-only-success"));
        if let Some(sink) = sink {
            let told = if self.is("tells-seconds") { ms / 1000.0 } else { ms };
            let kind = if ok { "timing" } else { "error" };
            let report = json!({"kind": kind, "label": label, "ms": told}).to_string();
            let sent = self.client.post(sink).body(report).send().await;
            let is_lost = !sent.is_ok_and(|answer| answer.status().is_success());
            if is_lost && self.is("report-fails-operation") {
                return json!({"ok": false});
            }
        }
        if ok && ms > params["slowMs"].as_f64().unwrap_or(f64::INFINITY) && !self.is("slow-in-silence") {
            let text = format!("Slow operation: {label} took {ms:.0} ms");
            screen.show(json!({"kind": "log", "level": "warn", "text": text}));
        }
        json!({"ok": ok})
    }

    /// A service that is there once: who comes while it is initialized waits for that.
    pub(super) async fn serves(&self, params: &Value) -> Result<Value, RpcError> {
        let (name, url) = (text(&params["name"]), text(&params["url"]));
        let name = if self.is("one-service-for-all") { "all" } else { name };
        let number = || self.operations.instances.fetch_add(1, Ordering::Relaxed);
        let failed = || RpcError::failed(format!("{name} could not be initialized"));
        let service = self.operations.service(name);
        if self.is("two-services") && !service.cell.initialized() {
            let instance = if self.posts(url).await { number() } else { return Err(failed()) };
            let cell = Arc::new(OnceCell::new_with(Some(instance)));
            self.operations.put(name, Service { cell, has_failed: false });
            return Ok(json!({"instance": instance}));
        }
        if self.is("initialized-twice") && !service.cell.initialized() {
            // Who has the instance initializes it.
            if !self.posts(url).await {
                return Err(failed());
            }
            let instance = service.cell.get_or_init(|| async { number() }).await;
            return Ok(json!({"instance": instance}));
        }
        if self.is("given-unready") && !service.cell.initialized() {
            let instance = *service.cell.get_or_init(|| async { number() }).await;
            if !self.posts(url).await {
                self.operations.put(name, Service::default());
                return Err(failed());
            }
            return Ok(json!({"instance": instance}));
        }
        if service.has_failed {
            return Err(failed());
        }
        let made = service
            .cell
            .get_or_try_init(|| async { if self.posts(url).await { Ok(number()) } else { Err(failed()) } });
        let made = made.await.copied();
        if made.is_err() && self.is("failed-for-ever") {
            self.operations.put(name, Service { has_failed: true, ..service.clone() });
        }
        made.map(|instance| json!({"instance": instance}))
    }

    pub(super) fn dispose(&self, params: &Value) -> Value {
        if self.is("disposes-of-all") {
            self.operations.services.lock().unwrap_or_else(PoisonError::into_inner).clear();
        } else if !self.is("never-disposed") {
            self.operations.put(text(&params["name"]), Service::default());
        }
        json!({})
    }

    /// Something that a service does, and tells of. Whoever listens to its end has no say in it.
    pub(super) async fn acts(&self, params: &Value, screen: &Screen) -> Value {
        let tell = |state: &str| screen.show(json!({"kind": "action", "id": params["id"], "state": state}));
        tell("started");
        let ok = self.posts(text(&params["url"])).await;
        if ok || !self.is("failure-has-no-end") {
            tell(if ok { "completed" } else { "failed" });
        }
        if ok && params["listenerThrows"] == true && self.is("listener-fails-action") {
            tell("failed");
        }
        json!({"ok": ok})
    }
}
