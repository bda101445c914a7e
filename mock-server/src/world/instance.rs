//! Instances: one for each directory that somebody has named. An instance begins with the first request about its
//! directory and ends when it is disposed of, with all that runs in it.

use super::settings_form::{in_use, whole};
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, Effect, Output, Purpose, ReplyBody, World};
use crate::profile::BootTiming;
use crate::project_files::{Fault, ProjectFiles};
use crate::providers::Access;
use crate::workspace::Project;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// All instances, by directory.
pub(super) type Instances = BTreeMap<String, Instance>;

/// What an instance knows.
#[derive(Debug)]
pub(super) struct Instance {
    /// Its project, as it was when the instance began.
    pub(super) project: Value,
    /// How many instances had begun before it.
    begun: usize,
    /// What clients had set for it when it began.
    pub(super) settings: Map<String, Value>,
    /// The servers of tools, when somebody has asked about them.
    pub(super) servers: Option<super::mcp::Servers>,
    /// Which providers it may use: by the keys that there were when it was first asked for one.
    pub(super) access: Option<Access>,
    /// The branch that was told last, or that it began with; once that is known.
    pub(super) branch: Option<Option<String>>,
    /// Its folder was looked for and was not there.
    pub(super) is_nowhere: bool,
}

/// What keeps an instance from beginning.
#[derive(Debug, Clone)]
pub(super) enum Obstacle {
    /// Settings lie at an address that a key names, and nobody answers there.
    Address,
    /// A file of the workspace can't be used; what is told of it.
    File(Value),
}

/// Operations that are about no instance: about the server itself, or (`v2.`) with one that they find in another way.
const WITHOUT_INSTANCE: &[&str] = &["global.", "auth.", "app.log", "v2."];

/// Is an operation about an instance?
pub(super) fn is_of_instance(operation: &str) -> bool {
    !WITHOUT_INSTANCE.iter().any(|prefix| operation.starts_with(prefix))
}

impl World {
    /// Does an instance begin for which the files about its folder have to be read, for the first time or again?
    pub(super) fn needs_files(&self, request: &ApiRequest, operation: &str) -> bool {
        let directory = self.directory_of(request);
        is_of_instance(operation) && !directory.contains('\0') && !self.knows_customs(&directory)
    }

    /// They are read; the request waits for that.
    pub(super) fn read_files_for(&mut self, request: &ApiRequest) {
        let (directory, settings) = (self.directory_of(request), self.config.said.clone());
        let project = self.repository_of(&directory).cloned().unwrap_or_else(Project::of_none);
        let wish = Effect::ReadProject { directory, project, settings };
        self.effect(Purpose::Project(Box::new(request.clone())), wish);
    }

    /// They were read; the request that waited for them is answered.
    pub(super) fn learn(&mut self, files: &ProjectFiles, request: &ApiRequest) {
        let mut customs = self.config.customs_by(files);
        customs.settings = in_use(whole(customs.settings, self.profile.server));
        self.adopt(&self.directory_of(request), customs);
        self.answer_by_customs(request);
    }

    /// A request is about an instance; it begins with the first.
    pub(super) fn enter_for(&mut self, request: &ApiRequest, operation: &str) {
        if !is_of_instance(operation) {
            return;
        }
        let directory = self.directory_of(request);
        // Who listens hears of it: its boot comes when the stream is open. One that is met by its session is not used yet.
        let named = self.named_directory(request);
        let is_asked_for = directory == named.unwrap_or_else(|| self.config.directory.clone());
        self.enter(&directory, is_asked_for && operation != "event.subscribe");
    }

    /// It begins, if it has not yet; who listens is told of it, or not.
    pub(super) fn enter(&mut self, directory: &str, tells: bool) {
        if self.instances.contains_key(directory) {
            return;
        }
        let project = self.visit_project(directory);
        let settings = self.settings_of(directory);
        let begun = self.instances.values().map(|instance| instance.begun + 1).max().unwrap_or_default();
        let instance = Instance {
            project,
            begun,
            settings,
            servers: None,
            access: None,
            branch: None,
            is_nowhere: false,
        };
        self.instances.insert(directory.to_owned(), instance);
        if self.in_repository(directory).is_some() {
            let wish = PlaceWish::Branches { folder: directory.to_owned() };
            self.ask_place(PlaceAsk::Branch(directory.to_owned()), wish);
        }
        if tells && self.is_known_folder(directory) {
            self.boot(directory, BootTiming::AtConnect);
        }
    }

    /// An instance that does not begin: whoever needs it is told why. What hindered it is remembered, so nothing that
    /// is mended helps.
    pub(super) fn fails_to_begin(&mut self, request: &ApiRequest) -> bool {
        let directory = self.directory_of(request);
        if directory.contains('\0') {
            self.unknown_error(request.ticket);
            return true;
        }
        if self.instances.contains_key(&directory) {
            return false;
        }
        if std::mem::take(&mut self.settings_moved) {
            self.obstacles.remove(&directory);
        }
        let known = self.obstacles.get(&directory).cloned();
        let Some(obstacle) = known.or_else(|| self.obstacle(&directory)) else { return false };
        self.visit_project(&directory);
        match &obstacle {
            Obstacle::Address => self.unknown_error(request.ticket),
            Obstacle::File(error) => self.reply(request.ticket, 400, ReplyBody::Json(error.clone())),
        }
        self.obstacles.insert(directory, obstacle);
        true
    }

    fn obstacle(&self, directory: &str) -> Option<Obstacle> {
        if self.keys.values().any(|key| key["type"] == "wellknown") {
            return Some(Obstacle::Address);
        }
        let fault = self.customs(directory).faults.first().filter(|_| self.profile.stumbles_over_files)?;
        Some(Obstacle::File(fault.error()))
    }

    /// `GET /config/warnings`: the files that the instance does without.
    pub(super) fn list_warnings(&mut self, request: &ApiRequest) {
        let list = self.customs(&self.directory_of(request)).faults.iter().map(Fault::warning).collect();
        self.reply_json(request.ticket, Value::Array(list));
    }

    /// `GET /permission`: the open questions of the instance.
    pub(super) fn list_permissions(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        if let Some(place) = self.permissions.unlistable(|session| self.is_in(session, &directory)) {
            let message = format!("Expected JSON value, got undefined\n  at {place}");
            let body = json!({"name": "BadRequest", "data": {"message": message, "kind": "Body"}});
            return self.reply(request.ticket, 400, ReplyBody::Json(body));
        }
        let list = self.permissions.list(|session| self.is_in(session, &directory));
        self.reply_json(request.ticket, Value::Array(list));
    }

    /// `GET /question`, alike.
    pub(super) fn list_questions(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let here = self.questions.iter().filter(|open| self.is_in(&open.session, &directory));
        let list = here.map(|open| open.listed(self.profile.lists_blocking)).collect();
        self.reply_json(request.ticket, Value::Array(list));
    }

    pub(super) fn is_in(&self, session: &str, directory: &str) -> bool {
        self.sessions.get(session).is_none_or(|owner| owner.directory == directory)
    }

    /// An answer to a question of another instance reaches nobody. A session's route goes to the instance of that
    /// session. `None` when the question is asked where the answer goes.
    pub(super) fn misses_question(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<()> {
        let (id, of_session, kind) = match (operation, segments) {
            ("permission.respond", [_, session, _, id]) => (*id, Some(*session), "Permission"),
            ("permission.reply", [_, id, ..]) => (*id, None, "Permission"),
            ("question.reply" | "question.reject", [_, id, ..]) => (*id, None, "Question"),
            _ => return None,
        };
        let asked = self.questions.iter().find(|open| open.id == id).map(|open| open.session.as_str());
        let asked = asked.or_else(|| self.permissions.session_of(id))?;
        let directory = match of_session.and_then(|session| self.sessions.get(session)) {
            Some(session) => session.directory.clone(),
            None => self.directory_of(request),
        };
        if self.is_in(asked, &directory) {
            return None;
        }
        let message = format!("{kind} request not found: {id}");
        let tag = format!("{kind}NotFoundError");
        let body = json!({"_tag": tag, "requestID": id, "message": message});
        self.reply(request.ticket, 404, ReplyBody::Json(body));
        Some(())
    }

    /// `POST /instance/dispose`.
    pub(super) fn dispose_one(&mut self, request: &ApiRequest) {
        self.reply_json(request.ticket, json!(true));
        let directory = self.directory_of(request);
        self.dispose(&directory);
    }

    /// `POST /instance/reload`.
    pub(super) fn reload(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        self.dispose(&directory);
        self.enter(&directory, true);
        self.reply_json(request.ticket, json!(true));
    }

    /// `POST /global/dispose`.
    pub(super) fn dispose_globally(&mut self, ticket: u64) {
        self.dispose_all();
        self.emit_global("global.disposed", json!({}));
        self.reply_json(ticket, json!(true));
    }

    /// Ends all instances, in the order in which they have begun.
    pub(super) fn dispose_all(&mut self) {
        let mut begun: Vec<(usize, String)> =
            self.instances.iter().map(|(directory, instance)| (instance.begun, directory.clone())).collect();
        begun.sort_unstable();
        begun.iter().for_each(|(_, directory)| self.dispose(directory));
    }

    /// Ends an instance: its turns, its questions, and the streams of its events.
    pub(super) fn dispose(&mut self, directory: &str) {
        let Some(ended) = self.instances.remove(directory) else { return };
        self.old_files.insert(directory.to_owned());
        let here = self.sessions.values().filter(|session| session.directory == directory);
        let (here, busy): (Vec<_>, Vec<_>) =
            here.map(|session| (session.id.clone(), session.run.is_some())).unzip();
        if self.profile.disposal_dismisses {
            here.iter().for_each(|session| self.withdraw_questions(session));
        }
        for session in here.iter().zip(busy).filter_map(|(session, busy)| busy.then_some(session)) {
            self.disposes = true;
            self.stop_turn(session);
            self.disposes = false;
        }
        for session in &here {
            self.permissions.forget(session);
            self.questions.retain(|open| open.session != *session);
            self.forget_network(session);
        }
        self.permissions.dispose(directory);
        self.end_servers(directory, ended.servers);
        self.end_processes(directory);
        if !self.profile.shares_terminals {
            self.end_terminals(directory);
        }
        self.booted.remove(directory);
        self.booted_next.remove(directory);
        if self.profile.next_ends {
            self.next_files.remove(directory);
        }
        self.emit(directory, "server.instance.disposed", json!({"directory": directory}));
        self.outputs.push(Output::Close(directory.to_owned()));
    }
}
