//! A request → the part of the world that answers it. One line a route.

use super::consent::Answer;
use super::session::Session;
use super::tools::place::resolved;
use super::{ApiReply, ApiRequest, ReplyBody, Subscription, Ticket, World};
use crate::javascript;
use crate::profile::{BootTiming, UnknownRoute};
use crate::target;
use fixtures::fault_plan::StreamName;
use serde_json::{Value, json};

impl World {
    pub(super) fn answer_request(&mut self, request: &ApiRequest) {
        let operation = self.operations.find(&request.method, &request.path).map(|found| found.id.as_str());
        if operation.is_none_or(|operation| !self.looks_for_folder(request, operation)) {
            self.answer_in_folder(request);
        }
    }

    /// Whether its folder is there is known by now.
    pub(super) fn answer_in_folder(&mut self, request: &ApiRequest) {
        let operation = self.operations.find(&request.method, &request.path).map(|found| found.id.as_str());
        match operation.is_some_and(|operation| self.needs_files(request, operation)) {
            true => self.read_files_for(request),
            false => self.answer_by_customs(request),
        }
    }

    /// So is what the files about it say.
    pub(super) fn answer_by_customs(&mut self, request: &ApiRequest) {
        let segments = target::segments(&request.path);
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let ticket = request.ticket;
        let operation = self.operations.find(&request.method, &request.path).map(|found| found.id.as_str());
        if self.turns_away(request, operation, &segments) {
            return;
        }
        self.boot_for(request, operation, &segments);
        let is_documented = operation.is_some();
        if let Some(operation) = operation.map(str::to_owned) {
            self.enter_for(request, &operation);
            if self.fails_without_folder(request, &operation) {
                return;
            }
            if self.answer_around(request, &operation).is_some() {
                return;
            }
        }
        match (request.method.as_str(), segments.as_slice()) {
            ("GET", ["event"]) => self.subscribe(request),
            ("GET", ["global", "event"]) => self.subscribe_to_all(ticket),
            ("GET", ["global", "health"]) => {
                self.reply_json(ticket, json!({"healthy": true, "version": self.profile.version}));
            }
            ("GET", ["permission"]) => self.list_permissions(request),
            ("GET", ["question"]) => self.list_questions(request),
            ("POST", ["question", id, "reply"]) => self.question_reply(request, id),
            ("POST", ["question", id, "reject"]) => self.dismiss_question(ticket, id),
            ("GET", ["network"]) if is_documented => self.list_network(request),
            ("POST", ["network", id, said]) if is_documented => self.answer_network(ticket, id, said),
            ("POST", ["permission", id, "reply"]) => self.permission_reply(request, id, "reply"),
            ("POST", ["permission", id, "always-rules"]) if is_documented => self.save_rules(request, id),
            ("POST", ["permission", "allow-everything"]) if is_documented => self.allow_everything(request),
            ("GET", ["session"]) => self.list_sessions(request),
            ("POST", ["session"]) => self.new_session(request),
            ("GET", ["session", "status"]) => self.list_status(request),
            ("POST", ["session", id, "abort"]) => self.abort(request, id),
            (_, ["session", id, ..])
                if is_documented
                    && !self.knows_session(id)
                    && needs_session(request.method.as_str(), &segments) =>
            {
                self.misses_session(ticket, id);
            }
            ("GET", ["session", id]) if self.sessions.get(*id).is_some_and(Session::is_untold) => {
                self.unknown_error(ticket);
            }
            ("GET", ["session", id]) => {
                let info = self.session_info(id);
                self.reply_json(ticket, info);
            }
            ("PATCH", ["session", id]) => self.patch_session(request, id),
            ("DELETE", ["session", id]) => self.delete_session(ticket, id),
            ("GET", ["session", id, "children"]) => self.list_children(ticket, id),
            ("POST", ["session", id, "fork"]) => self.fork(request, id),
            ("POST", ["session", id, "summarize"]) => self.summarize(request, id),
            ("POST", ["session", id, "shell"]) => self.run_person_line(request, id),
            ("POST", ["session", id, "command"]) => self.command(request, id),
            ("POST", ["session", id, "init"]) => self.init(request, id),
            ("POST", ["session", id, "revert"]) => self.revert(request, id),
            ("POST", ["session", id, "unrevert"]) => self.unrevert(ticket, id),
            ("GET", ["session", id, "message"]) => self.list_messages(request, id),
            ("GET", ["session", id, "message", message]) => self.one_message(ticket, id, message),
            ("DELETE", ["session", id, "message", message]) => self.delete_message(request, id, message),
            ("PATCH", ["session", id, "message", message, "part", part]) => {
                self.patch_part(request, id, message, part);
            }
            ("DELETE", ["session", id, "message", message, "part", part]) => {
                self.delete_part(ticket, id, message, part);
            }
            ("GET", ["session", id, "diff"]) => self.session_diff(request, id),
            ("GET", ["session", id, "todo"]) => {
                let todos = self.sessions.get(*id).map(|session| session.todos.clone()).unwrap_or_default();
                self.reply_json(ticket, Value::Array(todos));
            }
            ("POST", ["session", id, "message"]) => self.send_prompt(request, id, Some(ticket)),
            ("POST", ["session", id, "prompt_async"]) => self.send_prompt(request, id, None),
            ("POST", ["session", _, "permissions", id]) => self.permission_reply(request, id, "response"),
            _ => self.not_played(request),
        }
    }

    /// Where the session is that a request is about; else the directory that it names.
    pub(super) fn directory_of(&self, request: &ApiRequest) -> String {
        let segments: Vec<&str> = request.path.split('/').skip(1).collect();
        let named = self.named_directory(request);
        let session = match segments[..] {
            ["session", _, "fork"] if named.is_some() && self.profile.forks_elsewhere => None,
            ["session", id, ..] => self.sessions.get(id).filter(|session| !session.is_gone),
            _ => None,
        };
        session
            .map(|session| session.directory.clone())
            .or(named)
            .unwrap_or_else(|| self.config.directory.clone())
    }

    /// The directory that a request names: the query beats the header.
    pub(super) fn named_directory(&self, request: &ApiRequest) -> Option<String> {
        let name = if request.path.starts_with("/api/") { "location[directory]" } else { "directory" };
        let query = request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        // An empty name is none.
        let query = query.filter(|query| !query.is_empty());
        let is_read_once = query.is_some() && name != "directory";
        let named =
            query.or(request.directory_header.as_deref()).filter(|directory| !directory.is_empty())?;
        let named = if is_read_once { named.to_owned() } else { target::folder(named) };
        Some(resolved(&self.config.directory, &named))
    }

    fn subscribe(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let hello = self.hello();
        let subscription =
            Subscription { stream: StreamName::Event, of: Some(directory.clone()), hello: vec![hello] };
        self.outputs.push(super::Output::Open(request.ticket, subscription));
        self.boot(&directory, BootTiming::AtConnect);
    }

    fn subscribe_to_all(&mut self, ticket: u64) {
        let hello = json!({"payload": self.hello()});
        let subscription = Subscription { stream: StreamName::GlobalEvent, of: None, hello: vec![hello] };
        self.outputs.push(super::Output::Open(ticket, subscription));
    }

    fn hello(&mut self) -> Value {
        let id = self.ids.ascending("evt", self.now_ms);
        json!({"id": id, "type": "server.connected", "properties": {}})
    }

    fn list_status(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let here = self.sessions.values().filter(|session| session.directory == directory);
        let status =
            here.filter_map(|session| Some((session.id.clone(), session.run.as_ref()?.status()?))).collect();
        self.reply_json(request.ticket, Value::Object(status));
    }

    fn permission_reply(&mut self, request: &ApiRequest, id: &str, key: &str) {
        let body = body_of(request);
        let answer =
            Answer { word: body[key].as_str().unwrap_or_default(), message: body["message"].as_str() };
        // The older route knows no message.
        let answer = if key == "reply" { answer } else { Answer { message: None, ..answer } };
        self.answer_permission(request.ticket, id, answer);
    }

    fn question_reply(&mut self, request: &ApiRequest, id: &str) {
        let answers: Vec<Vec<String>> =
            serde_json::from_value(body_of(request)["answers"].take()).unwrap_or_default();
        self.answer_question(request.ticket, id, &answers);
    }

    pub(super) fn unknown_error(&mut self, ticket: u64) {
        let body = self.unknown_error_body();
        self.reply(ticket, 500, ReplyBody::Json(body));
    }

    pub(super) fn unknown_error_body(&mut self) -> Value {
        let reference = self.ids.error_reference();
        let message = "Unexpected server error. Check server logs for details.";
        json!({"name": "UnknownError", "data": {"message": message, "ref": reference}})
    }

    /// There is no session of that name.
    pub(super) fn misses_session(&mut self, ticket: Ticket, id: &str) {
        let body = json!({"name": "NotFoundError", "data": {"message": format!("Session not found: {id}")}});
        self.reply(ticket, 404, ReplyBody::Json(body));
    }

    /// What the real server has and the stand-in has not is told by its name; what neither has, as the real one does.
    pub(super) fn not_played(&mut self, request: &ApiRequest) {
        let ticket = request.ticket;
        if let Some(operation) = self.operations.find(&request.method, &request.path) {
            let (words, operation) = (operation.words(), operation.id.clone());
            let (directory, request) = (self.directory_of(request), Box::new(request.clone()));
            let body = ReplyBody::NotPlayed { directory, words, operation, request };
            return self.reply(ticket, 501, body);
        }
        match self.profile.unknown_route {
            UnknownRoute::NotFound => self.reply(ticket, 404, ReplyBody::Json(json!({"error": "Not Found"}))),
            UnknownRoute::WebPage { policy } => {
                let headers = vec![("content-security-policy", policy.to_owned())];
                let body = ReplyBody::WebPage { is_head: request.method == "HEAD" };
                self.reply_with(ticket, ApiReply { status: 200, headers, body });
            }
        }
    }
}

/// The body of a request that has been checked.
pub(super) fn body_of(request: &ApiRequest) -> Value {
    javascript::parse(&request.body).unwrap_or_default()
}

/// The diff of an unknown session is empty, not an error; a message is looked for without its session, and so is what
/// to call a branch. What it has used is refused in words of its own.
fn needs_session(method: &str, segments: &[&str]) -> bool {
    !matches!(
        (method, segments),
        (_, ["session", _, "diff" | "model-usage" | "branch-name"]) | ("GET", ["session", _, "message", ..])
    )
}
