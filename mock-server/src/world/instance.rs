//! Instances: one for each directory that somebody has named. An instance begins with the first request about its
//! directory and ends when it is disposed of, with all that runs in it.

use super::{ApiRequest, Output, World, within};
use crate::profile::BootTiming;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All instances, by directory.
pub(super) type Instances = BTreeMap<String, Instance>;

/// What an instance knows.
#[derive(Debug)]
pub(super) struct Instance {
    /// Its project, as it was when the instance began.
    pub(super) project: Value,
    /// The servers of tools, when somebody has asked about them.
    pub(super) servers: Option<super::mcp::Servers>,
}

/// Operations that are about no instance.
const WITHOUT_INSTANCE: &[&str] = &["global.", "auth.", "app.log", "v2."];

impl World {
    /// A request is about an instance; it begins with the first.
    pub(super) fn enter_for(&mut self, request: &ApiRequest, operation: &str) {
        if WITHOUT_INSTANCE.iter().any(|prefix| operation.starts_with(prefix)) {
            return;
        }
        let directory = self.directory_of(request);
        // Who listens hears of it: its boot comes when the stream is open.
        self.enter(&directory, operation != "event.subscribe");
    }

    fn enter(&mut self, directory: &str, tells: bool) {
        if self.instances.contains_key(directory) {
            return;
        }
        let project = self.visit_project(directory);
        self.instances.insert(directory.to_owned(), Instance { project, servers: None });
        if tells && within(directory, &self.config.directory).is_some() {
            self.boot(directory, BootTiming::AtConnect);
        }
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

    /// Ends all instances.
    pub(super) fn dispose_all(&mut self) {
        let directories: Vec<String> = self.instances.keys().cloned().collect();
        directories.iter().for_each(|directory| self.dispose(directory));
    }

    /// Ends an instance: its turns, its questions, and the streams of its events.
    pub(super) fn dispose(&mut self, directory: &str) {
        if self.instances.remove(directory).is_none() {
            return;
        }
        let here = self.sessions.values().filter(|session| session.directory == directory);
        let (here, busy): (Vec<_>, Vec<_>) =
            here.map(|session| (session.id.clone(), session.run.is_some())).unzip();
        for session in here.iter().zip(busy).filter_map(|(session, busy)| busy.then_some(session)) {
            self.stop_turn(session);
        }
        for session in &here {
            self.permissions.forget(session);
            self.questions.retain(|open| open.session != *session);
        }
        self.booted.remove(directory);
        self.booted_next.remove(directory);
        self.emit(directory, "server.instance.disposed", json!({"directory": directory}));
        self.outputs.push(Output::Close(directory.to_owned()));
    }
}
