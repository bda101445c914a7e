//! What the core does with the requests of the harness.

use super::call::Call;
use super::channel::Phase;
use super::core::Core;
use super::io::{Output, Timer};
use super::strategy::{Gap, Went};
use super::task::Task;
use crate::protocol::{
    Attachment, Capability, Connect, ConnectionState, Done, Id, Initialize, Initialized, Locale, Outcome,
    PROTOCOL, Reply, Request, RpcError, TaskSend, TaskStart,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A request that is not answered by then has failed (unscaled).
const REQUEST_LIMIT_MS: u64 = 10_000;

/// The scale does not make the server's own work faster.
const SHORTEST_REQUEST_LIMIT_MS: u64 = 1000;

impl Core {
    pub(super) fn command(&mut self, id: Id, request: Request) {
        match request {
            Request::Initialize(initialize) => self.initialize(id, &initialize),
            Request::Connect(connect) => self.connect(id, connect),
            Request::ServerSpawn(spawn) => self.server_spawn(id, spawn),
            Request::WorkspaceClose => self.end_server(id, false),
            Request::Settings(settings) => self.set(id, settings),
            Request::TaskEdit(edit) => self.task_edit(id, edit),
            Request::TaskRevert(to) => self.task_revert(id, &to.task_id, &to.message_id),
            Request::TaskUnrevert(task) => self.task_unrevert(id, &task.task_id),
            Request::TaskFork(fork) => self.task_fork(id, fork),
            Request::TaskAside(aside) => self.task_aside(id, aside),
            Request::PlatformFeatures => self.platform_features(id),
            Request::McpList => self.mcp_list(id),
            Request::McpAdd(add) => self.mcp_add(id, add),
            Request::McpConnect(server) => self.mcp_connect(id, &server.name),
            Request::TaskClose(task) => self.task_close(id, &task.task_id),
            Request::PermissionAll(all) => self.answer_all(id, &all),
            Request::QuestionHold(question) => {
                self.typed.insert(question.question_id);
                self.answer(id, Done {});
            }
            Request::TaskStart(start) => self.task_start(id, start),
            Request::TaskSend(send) => self.task_send(id, send),
            Request::TaskAbort(task) => self.task_abort(id, &task.task_id),
            Request::TaskRetry(task) => self.task_retry(id, &task.task_id),
            Request::PermissionReply(reply) => {
                if self.session_of_task(&id, &reply.task_id).is_some() {
                    self.answer_permission(
                        id,
                        &reply.task_id,
                        &reply.permission_id,
                        reply.reply,
                        reply.message,
                    );
                }
            }
            Request::PermissionHold(held) => {
                self.held.insert(held.permission_id);
                self.answer(id, Done {});
            }
            Request::Affordances(task) => self.affordances(id, &task.task_id),
            Request::LocaleMap(asked) => {
                let locale = self.strategies.features.language(&asked.locale).to_owned();
                self.answer(id, Locale { locale });
            }
            Request::QuestionReply(reply) => {
                let body = json!({ "answers": reply.answers });
                self.answer_question(id, reply.task_id, reply.question_id, "reply", body);
            }
            Request::QuestionReject(question) => {
                self.answer_question(id, question.task_id, question.question_id, "reject", json!({}));
            }
            Request::TaskSnapshot(task) => match self.tasks.get(&task.task_id).map(Task::view) {
                Some(view) => {
                    self.publish_all();
                    self.answer(id, self.strategies.telling.own_view(view));
                }
                None => self.fail(id, unknown_task(&task.task_id)),
            },
            Request::CredentialsCheck(check) => self.check_credentials(id, &check),
            Request::PathCheck(check) => self.check_path(id, &check),
            Request::Fence => {
                self.fences.push(id);
                if !self.channels.values().any(|channel| matches!(channel.phase, Phase::Refreshing(_))) {
                    self.pass_fences();
                }
            }
            Request::Shutdown => {
                self.publish_all();
                if self.is_spawned() {
                    return self.end_server(id, true);
                }
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
        let initialized = Initialized {
            protocol: PROTOCOL,
            name: "reference".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: Capability::ALL.to_vec(),
        };
        self.answer(id, initialized);
    }

    /// A second `connect` is a move: the old streams are left, and what is shown is fetched from the new server.
    fn connect(&mut self, id: Id, server: Connect) {
        if let Some(earlier) = self.connecting.take() {
            self.fail(earlier, RpcError::failed("another `connect` came before the stream was live"));
        }
        self.show_connection(ConnectionState::Disconnected);
        self.out.push(Output::UseServer(server.clone()));
        let mut folders: BTreeSet<String> = std::mem::take(&mut self.channels).into_keys().collect();
        folders.insert(server.directory.clone());
        self.server = Some(server);
        self.connecting = Some(id);
        for folder in folders {
            self.open_stream(&folder);
        }
        // A refresh from the old server is over, and with it what its fences waited for.
        self.pass_fences();
    }

    fn task_start(&mut self, id: Id, start: TaskStart) {
        let TaskStart { task_id, directory } = start;
        let is_started = |call: &Call| matches!(call, Call::Start { task_id: other, .. } | Call::Waiting { task_id: other, .. } if *other == task_id);
        if self.tasks.contains_key(&task_id) || self.calls.values().any(is_started) {
            let message = format!("field `taskId`: task {task_id:?} was started already");
            return self.fail(id, RpcError::invalid_params(message));
        }
        let needs_server = self.strategies.cutover.looks_at_server_first() && self.takes_no_tasks().is_some();
        if !needs_server && self.takes_locally(&id, &task_id) {
            return;
        }
        if let Some(why) = self.takes_no_tasks() {
            return self.fail(id, why);
        }
        let Some(server) = &self.server else {
            return self.fail(id, RpcError::failed("not connected: send `connect` first"));
        };
        let directory = directory.unwrap_or_else(|| server.directory.clone());
        self.server_for_task(self.tasks.len());
        self.last_request += 1;
        let is_live = |phase: &Phase| matches!(phase, Phase::Live | Phase::Refreshing(_));
        let phase = self.channels.get(&directory).map(|channel| &channel.phase);
        let (live, none) = (phase.is_some_and(is_live), phase.is_none());
        self.calls.insert(self.last_request, Call::Waiting { id, task_id, directory: directory.clone() });
        if live {
            self.start_waiting_tasks(&directory);
        } else if none {
            // What happens in another folder is told on another stream.
            self.open_stream(&directory);
        }
    }

    /// The stream of a folder is live: whatever its tasks do will be heard.
    pub(super) fn start_waiting_tasks(&mut self, folder: &str) {
        for call in self.take_waiting_tasks(folder) {
            if let Call::Waiting { id, task_id, directory } = call {
                if let Some(session) = self.session_to_go_on_in() {
                    let body = json!({ "id": session });
                    self.started(id, &task_id, directory, &body.to_string());
                    continue;
                }
                let request = self.http(folder, "POST", "/session", Some(json!({})));
                self.calls.insert(request, Call::Start { id, task_id, directory });
            }
        }
    }

    pub(super) fn fail_waiting_tasks(&mut self, folder: &str, why: &str) {
        for call in self.take_waiting_tasks(folder) {
            if let Call::Waiting { id, .. } = call {
                self.fail(id, RpcError::failed(format!("no session: {why}")));
            }
        }
    }

    fn take_waiting_tasks(&mut self, folder: &str) -> Vec<Call> {
        let waits = |call: &Call| matches!(call, Call::Waiting { directory, .. } if directory == folder);
        let waiting: Vec<u64> = self.calls.iter().filter(|(_, call)| waits(call)).map(|(n, _)| *n).collect();
        waiting.iter().filter_map(|number| self.calls.remove(number)).collect()
    }

    fn task_send(&mut self, id: Id, send: TaskSend) {
        if self.prompts_locally(&id, &send) {
            return;
        }
        let Some((session, directory)) = self.session_of_task(&id, &send.task_id) else { return };
        self.stopped.remove(&send.task_id);
        let text = self.words_for(&send.task_id, send.text);
        let files = self.files_for(&send.task_id, send.attachments);
        let body = self.prompt_body(&text, &files);
        let now = self.now_ms;
        let Some(task) = self.tasks.get_mut(&send.task_id) else { return };
        let prompts = task.timeline().prompts();
        // Before the answer: the first events of the turn may overtake it.
        let is_new = task.turn().is_none();
        task.prompted(now);
        if let Some(limit) = self.strategies.turns.quiet_limit_ms().filter(|_| is_new) {
            let limit = self.scaled(limit);
            self.start_timer(Timer::Turn(send.task_id.clone()), limit);
        }
        let request =
            self.http(&directory, "POST", &format!("/session/{session}/prompt_async"), Some(body.clone()));
        self.calls.insert(request, Call::Send { id, task_id: send.task_id, prompts, body });
    }

    /// What goes with a prompt.
    fn files_for(&mut self, task_id: &str, now: Vec<Attachment>) -> Vec<Attachment> {
        let went = Went { files: now.clone(), was_refused: false };
        let before = self.went_along.insert(task_id.to_owned(), went).unwrap_or_default();
        self.strategies.attaching.sent(now, before)
    }

    /// A prompt as the server takes it.
    pub(super) fn prompt_body(&self, text: &str, files: &[Attachment]) -> Value {
        let words = (!text.is_empty() || files.is_empty() || self.strategies.attaching.says_nothing())
            .then(|| json!({ "type": "text", "text": self.strategies.attaching.words(text) }));
        let files = files.iter().map(|file| self.strategies.attaching.part(file));
        let mut body = json!({ "parts": words.into_iter().chain(files).collect::<Vec<_>>() });
        if !self.settings.tools && self.strategies.asking.turns_tools_off() {
            body["tools"] = json!({ "*": false });
        }
        body
    }

    fn task_abort(&mut self, id: Id, task_id: &str) {
        let tasks: Vec<&str> = self.tasks.keys().map(String::as_str).collect();
        let task_id = &self.strategies.turns.stopped(task_id, &tasks).to_owned();
        let Some((session, directory)) = self.session_of_task(&id, task_id) else { return };
        self.call_off(task_id);
        if self.strategies.turns.abort_ends_at_once()
            && let Some(task) = self.tasks.get_mut(task_id)
            && task.turn().is_some()
        {
            let over = task.end(Outcome::Aborted);
            self.tell(over);
        }
        if !self.strategies.turns.sends_abort() {
            return self.answer(id, Done {});
        }
        let request = self.http(&directory, "POST", &format!("/session/{session}/abort"), None);
        self.calls.insert(request, Call::Abort { id });
    }

    fn task_retry(&mut self, id: Id, task_id: &str) {
        let Some((_, directory)) = self.session_of_task(&id, task_id) else { return };
        self.answer(id, Done {});
        if !self.strategies.gap.retries() {
            return;
        }
        match self.channels.get(&directory).map(|channel| &channel.phase) {
            Some(Phase::Off) | None if self.strategies.gap.retry_opens() => {
                self.count("kilo.cli.sse.reconnect_count", None);
                self.open_stream(&directory);
            }
            _ => self.on_gap(&directory, Gap::Retry),
        }
    }

    /// Sends the person's answer to a permission request.
    fn answer_permission(
        &mut self,
        id: Id,
        task_id: &str,
        permission_id: &str,
        reply: Reply,
        message: Option<String>,
    ) {
        let reply = self.strategies.asking.sent_for(reply);
        let Some(task) = self.tasks.get(task_id) else { return };
        let asked = task.permissions().iter().find(|live| live.permission_id == permission_id);
        let write = asked.filter(|asked| asked.permission == "edit").map(|_| reply != Reply::Reject);
        let main = self.server.as_ref().map(|server| server.directory.clone()).unwrap_or_default();
        let directory = self.strategies.asking.directory(task.directory(), &main).to_owned();
        if asked.is_some_and(|asked| self.leads_out(task.directory(), asked, reply)) {
            return self.refuse_write(id, task_id, &directory, permission_id.to_owned());
        }
        let early = self.tasks.get_mut(task_id).filter(|_| self.strategies.asking.goes_early());
        if let Some(gone) = early.and_then(|task| task.replied(permission_id.to_owned())) {
            self.tell(gone);
        }
        let path = reply_path(permission_id);
        let mut body = json!({ "reply": reply });
        if let Some(message) = message.filter(|_| self.strategies.asking.sends_words()) {
            body["message"] = json!(message);
        }
        let request = self.http(&directory, "POST", &path, Some(body.clone()));
        // Before the answer: the event about it may overtake it.
        self.unconfirmed.insert(permission_id.to_owned(), (directory, path, body));
        let (task_id, permission_id) = (task_id.to_owned(), permission_id.to_owned());
        self.calls.insert(request, Call::Permission { id, task_id, permission_id, write });
    }

    /// The session of a task, ready for a path, and its folder; an unknown task is told to the harness.
    pub(super) fn session_of_task(&mut self, id: &Id, task_id: &str) -> Option<(String, String)> {
        let place = self.place_of(task_id);
        if place.is_none() {
            self.fail(id.clone(), unknown_task(task_id));
        }
        place
    }

    pub(super) fn place_of(&self, task_id: &str) -> Option<(String, String)> {
        let task = self.tasks.get(task_id)?;
        Some((encoded(task.session_id()), task.directory().to_owned()))
    }

    /// Sends a request; returns its number.
    pub(super) fn http(
        &mut self,
        folder: &str,
        method: &'static str,
        path: &str,
        body: Option<Value>,
    ) -> u64 {
        self.last_request += 1;
        let limit_ms = self.scaled(REQUEST_LIMIT_MS).max(SHORTEST_REQUEST_LIMIT_MS);
        let limit_ms = if method == "GET" { self.strategies.gap.waits_ms(limit_ms) } else { limit_ms };
        let path = self.path_in(folder, path);
        self.out.push(Output::Http { request: self.last_request, method, path, body, limit_ms });
        self.last_request
    }

    /// A path with the workspace folder, which every route takes.
    pub(super) fn path_in(&self, folder: &str, path: &str) -> String {
        let behind = if path.contains('?') { '&' } else { '?' };
        format!("{path}{behind}directory={}", (self.strategies.written)(folder))
    }

    pub(super) fn pass_fences(&mut self) {
        if self.fences.is_empty() {
            return;
        }
        self.publish_all();
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

/// Where a permission request is answered.
pub(super) fn reply_path(permission_id: &str) -> String {
    format!("/permission/{}/reply", encoded(permission_id))
}

pub(super) fn unknown_task(task_id: &str) -> RpcError {
    RpcError::invalid_params(format!("field `taskId`: no task {task_id:?}; send `task/start` first"))
}

/// The name of a folder in a query: the servers decode it with the query, and then once more.
pub(super) fn folder_in_query(folder: &str) -> String {
    encoded(&folder.replace('%', "%25"))
}

/// Percent-encoded, so that it can stand anywhere in a path or a query.
pub(super) fn encoded(text: &str) -> String {
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
