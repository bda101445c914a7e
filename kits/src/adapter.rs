//! The adapter's side of the lines, for references: requests in, answers and updates out, and a clock that the harness
//! winds. What a reference does is in its own file; it imports nothing of a stand-in.

use futures_util::future::BoxFuture;
use harness::protocol::rpc::{Incoming, parse_line};
use harness::protocol::{Id, PROTOCOL, RpcError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};

/// What a reference does with requests. Several may be under way at once.
pub trait Adapter: Send + Sync + 'static {
    /// What it answers to `initialize`: `{name, capabilities, clock, declares}`.
    fn introduce(&self) -> Value;

    /// Answers a request. One that it does not know is `RpcError::unsupported`.
    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>>;
}

/// What an adapter shows, and how it waits.
#[derive(Clone)]
pub struct Screen {
    lines: mpsc::UnboundedSender<String>,
    timers: Arc<Mutex<Timers>>,
}

#[derive(Default)]
struct Timers {
    now_ms: f64,
    next: u64,
    /// By number: when it is over, and who waits.
    waiting: BTreeMap<u64, (f64, oneshot::Sender<()>)>,
}

impl Screen {
    /// Shows an update; `kind` is one of its fields.
    pub fn show(&self, update: Value) {
        self.put(json!({"jsonrpc": "2.0", "method": "update", "params": {"update": update}}));
    }

    /// Waits in virtual time. Who stops waiting says so.
    pub async fn wait(&self, ms: f64) {
        // Nobody tells that no time has passed.
        if ms <= 0.0 {
            return;
        }
        let (sender, receiver) = oneshot::channel();
        let id = {
            let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
            timers.next += 1;
            let (id, due) = (timers.next, timers.now_ms + ms);
            timers.waiting.insert(id, (due, sender));
            id
        };
        self.show(json!({"kind": "waits", "id": id, "ms": ms}));
        let _told = Waited { screen: self, id };
        // The sender lives until the time is over.
        let _over = receiver.await;
    }

    /// Milliseconds of virtual time since the beginning.
    #[must_use]
    pub fn now_ms(&self) -> f64 {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner).now_ms
    }

    fn advance(&self, ms: f64) {
        let mut timers = self.timers.lock().unwrap_or_else(PoisonError::into_inner);
        timers.now_ms += ms;
        let now = timers.now_ms;
        let due = timers.waiting.iter().filter(|(_, (due, _))| *due <= now);
        let mut due: Vec<(f64, u64)> = due.map(|(id, (due, _))| (*due, *id)).collect();
        due.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, id) in due {
            if let Some((_, sender)) = timers.waiting.remove(&id) {
                // Nobody waits any more: that was told.
                let _unheard = sender.send(());
            }
        }
    }

    fn put(&self, message: Value) {
        // When the harness is gone, so is this adapter in a moment.
        let _unread = self.lines.send(message.to_string() + "\n");
    }
}

/// Tells that a wait is over, or given up.
struct Waited<'a> {
    screen: &'a Screen,
    id: u64,
}

impl Drop for Waited<'_> {
    fn drop(&mut self) {
        let mut timers = self.screen.timers.lock().unwrap_or_else(PoisonError::into_inner);
        timers.waiting.remove(&self.id);
        drop(timers);
        self.screen.show(json!({"kind": "waited", "id": self.id}));
    }
}

/// Serves until it is told to end, or its input ends.
pub async fn serve(
    adapter: Arc<dyn Adapter>,
    reader: impl AsyncRead + Unpin + Send,
    mut writer: impl AsyncWrite + Unpin + Send,
) {
    let (lines, mut written) = mpsc::unbounded_channel::<String>();
    let screen = Screen { lines, timers: Arc::default() };
    let mut reader = BufReader::new(reader).lines();
    let mut at_work = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            biased;
            line = written.recv() => {
                let Some(line) = line else { return };
                if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
                    return;
                }
            }
            line = reader.next_line() => {
                let Ok(Some(line)) = line else { return };
                let Ok(Incoming::Request { id, method, params }) = parse_line(&line) else { continue };
                match method.as_str() {
                    "initialize" => {
                        let mut said = adapter.introduce();
                        said["protocol"] = json!(PROTOCOL);
                        screen.put(answer(&id, Ok(said)));
                    }
                    "clock/advance" => {
                        screen.advance(params["ms"].as_f64().unwrap_or_default());
                        screen.put(answer(&id, Ok(json!({}))));
                    }
                    "shutdown" => {
                        let last = answer(&id, Ok(json!({}))).to_string() + "\n";
                        // It ends anyway.
                        let _unread = writer.write_all(last.as_bytes()).await;
                        let _unread = writer.flush().await;
                        at_work.shutdown().await;
                        return;
                    }
                    _ => {
                        let (adapter, screen) = (adapter.clone(), screen.clone());
                        at_work.spawn(async move {
                            let said = adapter.call(method, params, screen.clone()).await;
                            screen.put(answer(&id, said));
                        });
                    }
                }
            }
        }
    }
}

fn answer(id: &Id, said: Result<Value, RpcError>) -> Value {
    let id: Value = match id {
        Id::Number(number) => json!(number),
        Id::Text(text) => json!(text),
    };
    match said {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}
