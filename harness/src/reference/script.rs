//! For tests of the core: plays the harness, the server and the clock, and looks over the adapter's shoulder.
//!
//! After each step it compares what the harness sees (the fold of all updates) with the adapter's own view.

use super::core::Core;
use super::io::{Input, Output, Timer};
use super::strategy::Strategies;
use crate::protocol::{
    Connect, Id, Initialize, Notification, Outcome, PermissionReply, Reply, Request, RpcError, Screen,
    TaskSend, TaskStart, Update, View,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(super) struct Script {
    core: Core,
    stream: u64,
    next_id: u64,
    events: u64,
    /// Between inputs; so long that nothing has to wait for its turn on the screen, unless a test wants that.
    pub(super) step_ms: u64,
    now_ms: u64,
    screen: Screen,
    /// Updates since the last look.
    fresh: Vec<Update>,
    /// Path → number of a request that waits for its answer.
    requests: BTreeMap<String, u64>,
    /// The bodies of those requests.
    bodies: BTreeMap<String, Value>,
    pub(super) telemetry: BTreeMap<String, u64>,
    pub(super) timers: Vec<u64>,
    pub(super) other_timers: BTreeMap<Timer, u64>,
    answers: BTreeMap<Id, Result<Value, RpcError>>,
}

impl Script {
    /// Connected, with the tasks `a` (session `ses_a`) and `b` (session `ses_b`).
    pub(super) fn with_two_tasks(strategies: Strategies) -> Self {
        let mut script = Self::new(strategies);
        let id = script.connect();
        script.open();
        assert_eq!(script.answer(id), Ok(json!({})));
        for task in ["a", "b"] {
            let id = script.ask(Request::TaskStart(TaskStart { task_id: task.to_owned(), directory: None }));
            script.reply(
                "POST /session?directory=%2Fwork%20space",
                200,
                &json!({ "id": format!("ses_{task}") }),
            );
            assert_eq!(script.answer(id), Ok(json!({ "sessionId": format!("ses_{task}") })));
        }
        script.updates();
        script
    }

    pub(super) fn new(strategies: Strategies) -> Self {
        Self {
            core: Core::new(strategies),
            stream: 0,
            next_id: 0,
            events: 0,
            now_ms: 0,
            screen: Screen::default(),
            step_ms: 100,
            fresh: Vec::new(),
            requests: BTreeMap::new(),
            bodies: BTreeMap::new(),
            telemetry: BTreeMap::new(),
            timers: Vec::new(),
            other_timers: BTreeMap::new(),
            answers: BTreeMap::new(),
        }
    }

    pub(super) fn step(&mut self, input: Input) {
        self.now_ms += self.step_ms;
        for output in self.core.step(input, self.now_ms) {
            match output {
                Output::Emit(Notification::Update(update)) => {
                    self.screen.apply(&update);
                    self.fresh.push(update);
                }
                Output::Emit(Notification::Telemetry(signal)) => {
                    self.telemetry.insert(signal.name, signal.value);
                }
                Output::OpenStream { stream, .. } => self.stream = stream,
                Output::Http { request, method, path, body, .. } => {
                    self.requests.insert(format!("{method} {path}"), request);
                    self.bodies.insert(format!("{method} {path}"), body.unwrap_or_default());
                }
                Output::Answer(id, outcome) => {
                    assert!(self.answers.insert(id, outcome).is_none(), "answered twice")
                }
                Output::StartTimer { timer: Timer::Reconnect(_), ms } => self.timers.push(ms),
                Output::StartTimer { timer, ms } => drop(self.other_timers.insert(timer, ms)),
                Output::Emit(Notification::Log(_))
                | Output::UseServer(_)
                | Output::StartServer { .. }
                | Output::StopServer { .. }
                | Output::KillServer { .. }
                | Output::CloseStream { .. }
                | Output::Exit => {}
            }
        }
        if self.core.holds_back() {
            return;
        }
        for (id, task) in &self.core.tasks {
            let seen = self.screen.tasks.get(id).cloned().unwrap_or_default();
            assert_eq!(seen, task.view(), "the harness sees something else than task {id} says of itself");
        }
    }

    pub(super) fn ask(&mut self, request: Request) -> Id {
        self.next_id += 1;
        let id = Id::Number(self.next_id);
        self.step(Input::Command(id.clone(), request));
        id
    }

    /// The answer to a request of the harness; there must be one.
    pub(super) fn answer(&mut self, id: Id) -> Result<Value, RpcError> {
        self.answers.remove(&id).unwrap_or_else(|| panic!("request {id} was not answered"))
    }

    pub(super) fn is_answered(&self, id: &Id) -> bool {
        self.answers.contains_key(id)
    }

    pub(super) fn connect(&mut self) -> Id {
        self.ask(Request::Initialize(Initialize { protocol: 1, time_scale: 1.0 }));
        self.ask(Request::Connect(Connect {
            url: "http://127.0.0.1:1".to_owned(),
            username: "kilo".to_owned(),
            password: "secret".to_owned(),
            directory: "/work space".to_owned(),
        }))
    }

    pub(super) fn send(&mut self, task: &str) -> Id {
        self.ask(Request::TaskSend(TaskSend {
            task_id: task.to_owned(),
            text: "do it".to_owned(),
            attachments: Vec::new(),
        }))
    }

    /// A prompt that the server accepts.
    pub(super) fn prompt(&mut self, task: &str) {
        let id = self.send(task);
        self.reply_raw(&format!("POST /session/ses_{task}/prompt_async?directory=%2Fwork%20space"), 204, "");
        assert_eq!(self.answer(id), Ok(json!({})));
    }

    pub(super) fn allow(&mut self, task: &str, permission: &str) -> Id {
        let (task_id, permission_id) = (task.to_owned(), permission.to_owned());
        self.ask(Request::PermissionReply(PermissionReply {
            task_id,
            permission_id,
            reply: Reply::Once,
            message: None,
        }))
    }

    /// The stream is there and the server says so.
    pub(super) fn open(&mut self) {
        self.step(Input::StreamOpened { stream: self.stream });
        self.event("server.connected", json!({}));
    }

    pub(super) fn refuse(&mut self, status: u16) {
        self.step(Input::StreamRefused { stream: self.stream, status, retry_after: None });
    }

    pub(super) fn cut(&mut self) {
        self.step(Input::StreamEnded { stream: self.stream, reason: "cut".to_owned() });
    }

    pub(super) fn timer(&mut self) {
        self.fire(Timer::Reconnect(self.stream));
    }

    pub(super) fn later(&mut self, ms: u64) {
        self.now_ms += ms;
    }

    pub(super) fn fire(&mut self, timer: Timer) {
        self.step(Input::TimerFired { timer });
    }

    pub(super) fn event(&mut self, kind: &str, properties: Value) {
        self.events += 1;
        let id = format!("evt_{}", self.events);
        self.raw(&json!({ "id": id, "type": kind, "properties": properties }).to_string());
    }

    pub(super) fn raw(&mut self, data: &str) {
        self.step(Input::StreamEvent { stream: self.stream, data: data.to_owned() });
    }

    /// Answers the request that waits under this method and path; there must be one.
    pub(super) fn reply(&mut self, path: &str, status: u16, body: &Value) {
        self.reply_raw(path, status, &body.to_string());
    }

    pub(super) fn reply_raw(&mut self, path: &str, status: u16, body: &str) {
        let waiting: Vec<&String> = self.requests.keys().collect();
        let shown = format!("{path} is not among {waiting:?}");
        let request = self.requests.remove(path).expect(&shown);
        self.step(Input::HttpDone { request, answer: Ok((status, body.to_owned())) });
    }

    /// What was sent last under this method and path.
    pub(super) fn body(&self, path: &str) -> Value {
        self.bodies.get(path).cloned().unwrap_or_default()
    }

    /// The paths of the requests that wait for an answer.
    pub(super) fn waiting(&self) -> Vec<&str> {
        self.requests.keys().map(String::as_str).collect()
    }

    /// Answers a whole refresh of both tasks; task `b` is empty.
    pub(super) fn refreshed(&mut self, messages: &Value, status: &Value, permissions: &Value) {
        self.reply("GET /session/status?directory=%2Fwork%20space", 200, status);
        self.reply("GET /session/ses_b/message?directory=%2Fwork%20space", 200, &json!([]));
        self.reply("GET /session/ses_a/message?directory=%2Fwork%20space", 200, messages);
        self.reply("GET /permission?directory=%2Fwork%20space", 200, permissions);
        self.reply_rest();
    }

    /// Answers a whole refresh of task `a` alone.
    pub(super) fn looked_at(&mut self, messages: &Value, status: &Value) {
        self.reply("GET /session/status?directory=%2Fwork%20space", 200, status);
        self.reply("GET /session/ses_a/message?directory=%2Fwork%20space", 200, messages);
        for path in ["/permission", "/question", "/session", "/session/ses_a/todo", "/session/ses_a/diff"] {
            self.reply(&format!("GET {path}?directory=%2Fwork%20space"), 200, &json!([]));
        }
    }

    /// Answers what a refresh asks beside that, as a server does on which nobody asks and plans anything.
    pub(super) fn reply_rest(&mut self) {
        for path in [
            "/question",
            "/session",
            "/session/ses_a/todo",
            "/session/ses_b/todo",
            "/session/ses_a/diff",
            "/session/ses_b/diff",
        ] {
            self.reply(&format!("GET {path}?directory=%2Fwork%20space"), 200, &json!([]));
        }
    }

    /// The updates since the last look.
    pub(super) fn updates(&mut self) -> Vec<Update> {
        std::mem::take(&mut self.fresh)
    }

    pub(super) fn view(&self, task: &str) -> View {
        self.screen.tasks.get(task).cloned().unwrap_or_default()
    }

    /// The texts that a task shows.
    pub(super) fn texts(&self, task: &str) -> Vec<String> {
        self.view(task).items.into_iter().filter_map(|item| item.text).collect()
    }
}

/// The beginning of a turn in task `a`: the prompt, and the answer up to the words "Hello, ".
pub(super) fn half_a_turn(script: &mut Script) {
    script.prompt("a");
    script.event("message.updated", server::message("ses_a", "msg_1", "user"));
    let words = json!({ "id": "prt_0", "messageID": "msg_1", "type": "text", "text": "do it" });
    script.event("message.part.updated", json!({ "sessionID": "ses_a", "part": words }));
    script.event("session.status", server::status("ses_a", "busy"));
    script.event("message.updated", server::message("ses_a", "msg_2", "assistant"));
    let step = json!({ "id": "prt_1", "messageID": "msg_2", "type": "step-start" });
    script.event("message.part.updated", json!({ "sessionID": "ses_a", "part": step }));
    script.event("message.part.updated", server::text("ses_a", "prt_2", "", false));
    script.event("message.part.delta", server::delta("ses_a", "prt_2", "Hello, "));
}

pub(super) fn end_of_turn(script: &mut Script) {
    let mut message = server::message("ses_a", "msg_2", "assistant");
    message["info"]["time"]["completed"] = json!(2);
    message["info"]["finish"] = json!("stop");
    script.event("message.updated", message);
    for state in ["busy", "idle"] {
        script.event("session.status", server::status("ses_a", state));
    }
    script.event("session.idle", json!({ "sessionID": "ses_a" }));
}

pub(super) fn reconnect(script: &mut Script) {
    script.cut();
    script.timer();
    script.open();
}

pub(super) fn timelines(updates: &[Update]) -> usize {
    updates.iter().filter(|update| matches!(update, Update::Timeline { .. })).count()
}

pub(super) fn terminals(updates: &[Update]) -> Vec<Outcome> {
    let outcome = |update: &Update| match update {
        Update::Terminal { outcome, .. } => Some(*outcome),
        _ => None,
    };
    updates.iter().filter_map(outcome).collect()
}

pub(super) fn asked(updates: &[Update]) -> usize {
    updates.iter().filter(|update| matches!(update, Update::PermissionRequest { .. })).count()
}

/// The server's events, as short as a test wants them. `session` is `ses_…`, a part belongs to `msg_2`.
pub(super) mod server {
    use serde_json::{Value, json};

    pub(crate) fn message(session: &str, id: &str, role: &str) -> Value {
        json!({ "sessionID": session, "info": { "id": id, "sessionID": session, "role": role, "time": { "created": 1 } } })
    }

    pub(crate) fn text(session: &str, id: &str, text: &str, ended: bool) -> Value {
        json!({ "sessionID": session, "part": text_part(id, text, ended), "time": 1 })
    }

    pub(crate) fn text_part(id: &str, text: &str, ended: bool) -> Value {
        let time = if ended { json!({ "start": 1, "end": 2 }) } else { json!({ "start": 1 }) };
        json!({ "id": id, "messageID": "msg_2", "type": "text", "text": text, "time": time })
    }

    pub(crate) fn tool(session: &str, id: &str, state: &Value) -> Value {
        let part = json!({ "id": id, "messageID": "msg_2", "type": "tool", "tool": "write", "callID": "c", "state": state });
        json!({ "sessionID": session, "part": part, "time": 1 })
    }

    pub(crate) fn delta(session: &str, id: &str, delta: &str) -> Value {
        json!({ "sessionID": session, "messageID": "msg_2", "partID": id, "field": "text", "delta": delta })
    }

    pub(crate) fn asked(session: &str, id: &str) -> Value {
        json!({ "id": id, "sessionID": session, "permission": "edit", "patterns": ["out.txt"], "metadata": {}, "always": ["*"] })
    }

    pub(crate) fn status(session: &str, state: &str) -> Value {
        json!({ "sessionID": session, "status": { "type": state } })
    }

    /// A REST answer: the prompt and one assistant message with these parts.
    pub(crate) fn messages(parts: &[Value], completed: bool) -> Value {
        let time = if completed { json!({ "created": 1, "completed": 2 }) } else { json!({ "created": 1 }) };
        json!([
            { "info": { "id": "msg_1", "role": "user", "time": { "created": 1 } },
              "parts": [{ "id": "prt_0", "messageID": "msg_1", "type": "text", "text": "do it" }] },
            { "info": { "id": "msg_2", "role": "assistant", "time": time }, "parts": parts },
        ])
    }
}
