//! What the core does with the requests of the harness, and with the server's answers to them.

use super::core::{Core, Phase};
use super::io::Output;
use super::task::Task;
use crate::protocol::{
    Capability, Connect, ConnectionState, Done, Id, Initialize, Initialized, PROTOCOL, Request, RpcError,
    TaskStarted, Update,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A request that is not answered by then has failed (unscaled).
const REQUEST_LIMIT_MS: u64 = 10_000;

/// The scale does not make the server's own work faster.
const SHORTEST_REQUEST_LIMIT_MS: u64 = 1000;

/// A request of the harness that waits for the server.
#[derive(Debug)]
pub(super) enum Call {
    /// `task/start`
    Start { id: Id, task_id: String },
    /// `task/send`
    Send { id: Id, task_id: String },
    /// `permission/reply`
    Reply { id: Id, permission_id: String },
}

impl Core {
    pub(super) fn command(&mut self, id: Id, request: Request) {
        match request {
            Request::Initialize(initialize) => self.initialize(id, &initialize),
            Request::Connect(connect) => self.connect(id, connect),
            Request::TaskStart(task) => self.task_start(id, task.task_id),
            Request::TaskSend(send) => {
                let Some(session) = self.session_of_task(&id, &send.task_id) else { return };
                let body = json!({ "parts": [{ "type": "text", "text": send.text }] });
                let path = format!("/session/{session}/prompt_async");
                let request = self.http("POST", &path, Some(body));
                // Before the answer: the first events of the turn may overtake it.
                if let Some(task) = self.tasks.get_mut(&send.task_id) {
                    task.prompted();
                }
                self.calls.insert(request, Call::Send { id, task_id: send.task_id });
            }
            Request::PermissionReply(reply) => {
                let Some(session) = self.session_of_task(&id, &reply.task_id) else { return };
                let path = format!("/session/{session}/permissions/{}", encoded(&reply.permission_id));
                let body = json!({ "response": reply.reply });
                let request = self.http("POST", &path, Some(body.clone()));
                // Before the answer: the event about it may overtake it.
                self.unconfirmed.insert(reply.permission_id.clone(), (path, body));
                self.calls.insert(request, Call::Reply { id, permission_id: reply.permission_id });
            }
            Request::TaskSnapshot(task) => match self.tasks.get(&task.task_id).map(Task::view) {
                Some(view) => self.answer(id, view),
                None => self.fail(id, unknown_task(&task.task_id)),
            },
            Request::Fence => {
                self.fences.push(id);
                if !matches!(self.phase, Phase::Refreshing(_)) {
                    self.pass_fences();
                }
            }
            Request::Shutdown => {
                self.answer(id, Done {});
                self.out.push(Output::Exit);
            }
        }
    }

    fn initialize(&mut self, id: Id, asked: &Initialize) {
        if asked.protocol != PROTOCOL {
            let message = format!(
                "initialize: field `protocol`: {} is not {PROTOCOL}, the only one spoken",
                asked.protocol
            );
            return self.fail(id, RpcError::invalid_params(message));
        }
        if !(asked.time_scale.is_finite() && asked.time_scale > 0.0) {
            return self
                .fail(id, RpcError::invalid_params("initialize: field `timeScale`: must be more than 0"));
        }
        self.time_scale = asked.time_scale;
        self.answer(
            id,
            Initialized {
                protocol: PROTOCOL,
                name: "reference".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                capabilities: vec![
                    Capability::Chat,
                    Capability::Reasoning,
                    Capability::Tools,
                    Capability::Permissions,
                    Capability::Reconnect,
                    Capability::Snapshot,
                    Capability::ScaledTime,
                ],
            },
        );
    }

    /// A second `connect` is a move: the old stream is left, and what is shown is fetched from the new server.
    fn connect(&mut self, id: Id, server: Connect) {
        if let Some(earlier) = self.connecting.take() {
            self.fail(earlier, RpcError::failed("another `connect` came before the stream was live"));
        }
        if matches!(self.phase, Phase::Live | Phase::Refreshing(_) | Phase::Stale) {
            self.emit(Update::Connection { state: ConnectionState::Disconnected });
        }
        self.out.push(Output::UseServer(server.clone()));
        self.server = Some(server);
        self.connecting = Some(id);
        self.failures = 0;
        self.open_stream();
        // A refresh from the old server is over, and with it what its fences waited for.
        self.pass_fences();
    }

    fn task_start(&mut self, id: Id, task_id: String) {
        let being_started = self
            .calls
            .values()
            .any(|call| matches!(call, Call::Start { task_id: other, .. } if *other == task_id));
        if being_started || self.tasks.contains_key(&task_id) {
            let message = format!("field `taskId`: task {task_id:?} was started already");
            return self.fail(id, RpcError::invalid_params(message));
        }
        if self.server.is_none() {
            return self.fail(id, RpcError::failed("not connected: send `connect` first"));
        }
        let request = self.http("POST", "/session", Some(json!({})));
        self.calls.insert(request, Call::Start { id, task_id });
    }

    /// The session of a task, ready for a path; an unknown task is told to the harness.
    fn session_of_task(&mut self, id: &Id, task_id: &str) -> Option<String> {
        let session = self.tasks.get(task_id).map(|task| encoded(task.session_id()));
        if session.is_none() {
            self.fail(id.clone(), unknown_task(task_id));
        }
        session
    }

    pub(super) fn http_done(&mut self, request: u64, answer: Result<(u16, String), String>) {
        let Some(call) = self.calls.remove(&request) else {
            return self.fetched(request, answer);
        };
        let body = match answer {
            Ok((200..=299, body)) => Ok(body),
            Ok((status, body)) => Err(format!("the server answered {status} {}", shortened(&body))),
            Err(why) => Err(why),
        };
        match (call, body) {
            (Call::Start { id, task_id }, Ok(body)) => self.started(id, task_id, &body),
            (Call::Send { id, .. } | Call::Reply { id, .. }, Ok(_)) => self.answer(id, Done {}),
            (Call::Start { id, .. }, Err(why)) => {
                self.fail(id, RpcError::failed(format!("no session: {why}")))
            }
            (Call::Send { id, task_id }, Err(why)) => {
                if let Some(task) = self.tasks.get_mut(&task_id) {
                    task.prompt_refused();
                }
                self.fail(id, RpcError::failed(format!("the prompt was not accepted: {why}")));
            }
            (Call::Reply { id, permission_id }, Err(why)) => {
                self.unconfirmed.remove(&permission_id);
                self.fail(id, RpcError::failed(format!("the answer was not accepted: {why}")));
            }
        }
    }

    fn started(&mut self, id: Id, task_id: String, body: &str) {
        let session: Value = serde_json::from_str(body).unwrap_or_default();
        match session["id"].as_str() {
            Some(session_id) => {
                self.tasks.insert(task_id.clone(), Task::new(&task_id, session_id.to_owned()));
                self.answer(id, TaskStarted { session_id: session_id.to_owned() });
            }
            None => self.fail(id, RpcError::failed("no session: the server's answer has no text field `id`")),
        }
    }

    /// Sends a request; returns its number.
    pub(super) fn http(&mut self, method: &'static str, path: &str, body: Option<Value>) -> u64 {
        self.last_request += 1;
        let (path, limit_ms) =
            (self.path(path), self.scaled(REQUEST_LIMIT_MS).max(SHORTEST_REQUEST_LIMIT_MS));
        self.out.push(Output::Http { request: self.last_request, method, path, body, limit_ms });
        self.last_request
    }

    /// A path with the workspace folder, which every route takes.
    pub(super) fn path(&self, path: &str) -> String {
        let directory = self.server.as_ref().map(|server| encoded(&server.directory)).unwrap_or_default();
        format!("{path}?directory={directory}")
    }

    pub(super) fn pass_fences(&mut self) {
        for id in std::mem::take(&mut self.fences) {
            self.answer(id, Done {});
        }
    }

    pub(super) fn answer(&mut self, id: Id, result: impl Serialize) {
        let outcome = serde_json::to_value(result).map_err(|error| RpcError::failed(error.to_string()));
        self.out.push(Output::Answer(id, outcome));
    }

    pub(super) fn fail(&mut self, id: Id, error: RpcError) {
        self.out.push(Output::Answer(id, Err(error)));
    }
}

fn unknown_task(task_id: &str) -> RpcError {
    RpcError::invalid_params(format!("field `taskId`: no task {task_id:?}; send `task/start` first"))
}

/// Enough of a body to see what is wrong.
fn shortened(body: &str) -> String {
    body.chars().take(200).collect()
}

/// Percent-encoded, so that it can stand anywhere in a path or a query.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte))
            }
            _ => {
                // Writing to a text can't fail.
                let _written = write!(encoded, "%{byte:02X}");
            }
        }
        encoded
    })
}
