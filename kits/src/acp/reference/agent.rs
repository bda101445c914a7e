//! An agent that speaks ACP: requests and their answers, in the order of its line. Who handles what it says is not who
//! reads it, so nothing that takes its time holds the line.

use super::Quirk;
use super::framing::{Lines, Said};
use super::process::{Heard, Process, Spec};
use harness::clock::within;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};

/// What an agent does that is no answer.
#[derive(Debug)]
pub(super) enum News {
    /// It tells something.
    Tells(String, Value),
    /// It asks: id, method, params.
    Asks(Value, String, Value),
    /// It answers a request of ours.
    Answers(Value, Answer),
    /// It has ended, or is not listened to any more: why.
    Gone(String),
}

/// Why a request has no result.
#[derive(Debug, Clone)]
pub(super) struct Refused {
    /// The agent's number; none when nobody answers.
    pub(super) code: Option<i64>,
    pub(super) why: String,
}

/// A day.
const FOR_EVER: Duration = Duration::from_secs(86_400);

pub(super) type Answer = Result<Value, Refused>;

/// An agent.
pub(super) struct Agent {
    process: Arc<Process>,
    waiting: Mutex<Waiting>,
    /// A request of ours is answered.
    answers: Notify,
    gone: watch::Sender<Option<String>>,
    quirk: Quirk,
    /// How long it may be silent.
    pub(super) patience: Duration,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    requests: BTreeMap<String, oneshot::Sender<Answer>>,
}

impl Agent {
    pub(super) fn start(
        spec: &Spec,
        patience: Duration,
        quirk: Quirk,
    ) -> Result<(Arc<Self>, mpsc::UnboundedReceiver<News>), String> {
        let (process, heard) = Process::start(spec, quirk)?;
        let (tells, news) = mpsc::unbounded_channel();
        let (waiting, answers, gone) = (Mutex::default(), Notify::new(), watch::Sender::new(None));
        let agent = Self { process, waiting, answers, gone, quirk, patience };
        let agent = Arc::new(agent);
        tokio::spawn(Arc::clone(&agent).read(heard, tells));
        Ok((agent, news))
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(self: Arc<Self>, mut heard: mpsc::Receiver<Heard>, tells: mpsc::UnboundedSender<News>) {
        let mut lines = Lines::new(self.quirk);
        while let Some(heard) = heard.recv().await {
            let (said, gone) = match heard {
                Heard::Bytes(bytes) => match lines.feed(&bytes) {
                    Ok(said) => (said, None),
                    Err(_endless) => {
                        self.process.end().await;
                        (Vec::new(), Some("the agent says a line without an end".to_owned()))
                    }
                },
                Heard::Gone(how) => (lines.end(), Some(how)),
            };
            for said in said {
                match said {
                    Said::Message(message) => {
                        if let Some(news) = self.news(message) {
                            // Who handles news lives as long as the agent is wanted.
                            tells.send(news).ok();
                        }
                    }
                    Said::Noise(_) if self.quirk.is("dies-of-noise") => {
                        tells.send(News::Gone("the agent says what is no message".to_owned())).ok();
                    }
                    Said::Noise(_) => {}
                }
            }
            if let Some(how) = gone {
                tells.send(News::Gone(how)).ok();
                return;
            }
        }
    }

    fn news(&self, mut message: Value) -> Option<News> {
        let id = message.get("id").cloned();
        let method = message["method"].as_str().map(str::to_owned);
        let is_nothing = |id: &Value| self.quirk.is("zero-is-no-id") && method.is_some() && *id == json!(0);
        let id = id.filter(|id| !is_nothing(id));
        let is_ours = |id: &Value| self.waiting().requests.contains_key(&id.to_string());
        match (method, id) {
            (Some(_), Some(id)) if self.quirk.is("one-table-of-ids") && is_ours(&id) => {
                Some(News::Answers(id, Ok(Value::Null)))
            }
            (Some(method), Some(id)) => Some(News::Asks(id, method, message["params"].take())),
            (Some(method), None) => Some(News::Tells(method, message["params"].take())),
            (None, Some(id)) => {
                let answer = match message.get("error") {
                    Some(error) => Err(Refused {
                        code: error["code"].as_i64(),
                        why: error["message"].as_str().unwrap_or("it does not say why").to_owned(),
                    }),
                    None => Ok(message["result"].take()),
                };
                Some(News::Answers(id, answer))
            }
            (None, None) => None,
        }
    }

    /// A request of ours is answered; who handles the news says so, when all that was told before is handled.
    /// False when nobody has asked.
    pub(super) fn answered(&self, id: &Value, answer: Answer) -> bool {
        let asked = self.waiting().requests.remove(&id.to_string());
        let is_ours = asked.is_some();
        self.answers.notify_waiters();
        // Who asked may not wait any more.
        asked.map(|asked| asked.send(answer));
        is_ours
    }

    /// It has ended: nobody gets an answer any more.
    pub(super) fn leave(&self, why: String) {
        self.gone.send_if_modified(|gone| gone.is_none() && gone.replace(why).is_none());
        if !self.quirk.is("waits-for-the-dead") {
            self.waiting().requests.clear();
        }
    }

    /// Why it is gone, if it is.
    pub(super) fn gone(&self) -> Option<String> {
        self.gone.borrow().clone()
    }

    /// Asks, and does not wait yet.
    pub(super) async fn begin(
        &self,
        method: &str,
        params: &Value,
    ) -> Result<oneshot::Receiver<Answer>, Refused> {
        let nobody = |why: String| Refused { code: None, why };
        if let Some(why) = self.gone() {
            return Err(nobody(why));
        }
        let (sender, receiver) = oneshot::channel();
        let id = {
            let mut waiting = self.waiting();
            let id = waiting.next;
            waiting.next += 1;
            waiting.requests.insert(id.to_string(), sender);
            id
        };
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string() + "\n";
        self.process.write(line.as_bytes(), self.patience).await.map_err(nobody)?;
        Ok(receiver)
    }

    /// Asks, and waits as long as an agent may be silent.
    pub(super) async fn ask(&self, method: &str, params: &Value) -> Answer {
        while self.quirk.is("one-at-a-time") {
            let answered = self.answers.notified();
            if self.waiting().requests.is_empty() {
                break;
            }
            answered.await;
        }
        let asked = self.begin(method, params).await?;
        let nobody = |why: String| Err(Refused { code: None, why });
        let waits = self.quirk.is("waits-for-ever") || self.quirk.is("waits-for-the-dead");
        let limit = if waits { FOR_EVER } else { self.patience };
        match within(limit, asked).await {
            Some(Ok(answer)) => answer,
            Some(Err(_)) => nobody(self.gone().unwrap_or_default()),
            None => nobody(format!("the agent does not answer {method}")),
        }
    }

    /// Tells; nobody answers.
    pub(super) async fn tell(&self, method: &str, params: &Value) {
        let mut line = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if self.quirk.is("cancel-with-id") {
            line["id"] = json!(1000);
        }
        self.write(&line).await;
    }

    /// Answers a request of the agent's, under its own id.
    pub(super) async fn reply(&self, id: &Value, answer: Result<Value, (i64, &str)>) {
        let id = if self.quirk.is("ids-are-numbers") {
            json!(id.as_u64().unwrap_or_default())
        } else if self.quirk.is("ids-are-texts") && id.is_number() {
            json!(id.to_string())
        } else {
            id.clone()
        };
        self.write(&match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, message)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        })
        .await;
    }

    async fn write(&self, message: &Value) {
        // One that is gone or reads no more is found out by its silence.
        let _unread = self.process.write(format!("{message}\n").as_bytes(), self.patience).await;
    }

    pub(super) async fn end(&self) {
        self.process.end().await;
    }
}
