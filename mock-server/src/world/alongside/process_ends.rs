//! How programs that were left running end: somebody stops one, or begins it again; its session ends, or its instance.

use super::process_calls::Waiter;
use super::processes::Launch;
use crate::world::{EffectId, World};
use serde_json::json;

impl World {
    /// It is told to end; that it has ended is told a moment later.
    pub(super) fn begin_to_stop(&mut self, id: &str) {
        let now = self.now_ms;
        let Some(process) = self.process_mut(id).filter(|process| !process.has_ended()) else { return };
        process.info["status"] = json!("stopping");
        process.info["time"]["updated"] = json!(now);
        self.tell_process(id);
    }

    pub(super) fn stop_at_last(&mut self, id: &str) {
        let Some(process) = self.process_mut(id) else { return };
        if let Some(runs) = process.runs.take() {
            self.forget_effect(runs);
            self.process_ended(id, None, Some("SIGTERM"));
        }
    }

    /// Ends it, and begins again with what it was told.
    pub(super) fn restart_process(&mut self, id: &str, waiter: Waiter) {
        let Some(process) = self.process(id) else { return };
        let (directory, wish) = (process.directory.clone(), process.wish.clone());
        self.remove_process(id);
        self.launch(Launch { directory, wish, id: Some(id.to_owned()), waiter });
    }

    pub(super) fn remove_process(&mut self, id: &str) {
        if self.process(id).is_some_and(|process| process.info["status"] != "stopping") {
            self.begin_to_stop(id);
        }
        self.stop_at_last(id);
        self.tell_process_gone(id);
        self.alongside.processes.all.retain(|process| process.id() != id);
    }

    pub(super) fn tell_process_gone(&mut self, id: &str) {
        let Some(process) = self.process_mut(id).filter(|process| !process.is_told_gone) else { return };
        process.is_told_gone = true;
        let (session, directory) = (process.info["sessionID"].clone(), process.directory.clone());
        let scope = self.process(id).map(|process| self.scope_of(process));
        let told = json!({"sessionID": session, "processID": id, "scope": scope});
        self.emit(&directory, "background_process.deleted", told);
    }

    /// A session ends: its programs do, but for those that another session takes over.
    pub(in crate::world) fn stop_processes_of(&mut self, session: &str) {
        let all = self.alongside.processes.all.iter();
        let own = all.filter(|process| process.session() == session && !process.is_persistent());
        let own: Vec<String> = own.map(|process| process.id().to_owned()).collect();
        for id in own {
            let now = self.now_ms;
            let Some(process) = self.process_mut(&id) else { continue };
            let Some(heir) = process.wish.heir.take() else {
                self.remove_process(&id);
                continue;
            };
            process.info["sessionID"] = json!(heir);
            process.info["lifetime"] = json!("session");
            process.info["time"]["updated"] = json!(now);
            (process.wish.session, process.wish.lifetime) = (heir, "session");
            self.tell_process(&id);
        }
    }

    /// The instance of a directory ends; nobody is told of its programs.
    pub(in crate::world) fn end_processes(&mut self, directory: &str) {
        let all = std::mem::take(&mut self.alongside.processes.all);
        let (ended, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|process| process.directory == directory && !process.is_persistent());
        self.alongside.processes.all = kept;
        for process in ended {
            let due = [process.runs, process.telling];
            due.into_iter()
                .flatten()
                .chain(process.readiness.due())
                .for_each(|effect| self.forget_effect(effect));
        }
    }

    pub(super) fn drop_timers(&mut self, id: &str) {
        let Some(process) = self.process_mut(id) else { return };
        let telling = process.telling.take();
        let due: Vec<EffectId> = telling.into_iter().chain(process.readiness.due()).collect();
        due.into_iter().for_each(|effect| self.forget_effect(effect));
    }
}
