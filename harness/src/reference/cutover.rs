//! Whose a task is: the flag decides about new ones; the old backend's ask nothing of the server; and of a task that is
//! over for good nothing is heard any more.

use super::channel::Phase;
use super::core::Core;
use crate::protocol::{Backend, Done, Id, Settings, TaskSend, TaskStarted};
use serde_json::json;
use std::collections::BTreeSet;

/// The old backend: here it keeps what it was told.
#[derive(Debug, Default)]
pub(super) struct Local {
    tasks: BTreeSet<String>,
    words: Vec<String>,
}

impl Core {
    pub(super) fn set(&mut self, id: Id, settings: Settings) {
        let is_on = settings.backend == Backend::Server && self.settings.backend == Backend::Local;
        let is_off = settings.backend == Backend::Local && self.settings.backend == Backend::Server;
        self.settings = settings;
        if is_off && self.strategies.cutover.stops_running() {
            for task in self.tasks.keys().cloned().collect::<Vec<_>>() {
                if let Some((session, directory)) = self.place_of(&task) {
                    self.http(&directory, "POST", &format!("/session/{session}/abort"), None);
                }
            }
        }
        let folder = self.server.as_ref().map(|server| server.directory.clone());
        if let Some(folder) = folder.filter(|_| is_on && self.strategies.cutover.brings_old_talks()) {
            self.http(&folder, "POST", "/kilocode/migrate/sessions", Some(json!({})));
        }
        self.answer(id, Done {});
    }

    /// Takes a new task for the old backend, if it is the old backend's.
    pub(super) fn takes_locally(&mut self, id: &Id, task_id: &str) -> bool {
        let is_local = self.settings.backend == Backend::Local && self.strategies.cutover.minds_flag();
        if is_local {
            self.local.tasks.insert(task_id.to_owned());
            self.answer(id.clone(), TaskStarted { session_id: None });
        }
        is_local
    }

    /// Is this task the old backend's, and what is prompted its own matter?
    pub(super) fn prompts_locally(&mut self, id: &Id, send: &TaskSend) -> bool {
        let is_local = self.local.tasks.contains(&send.task_id);
        if is_local {
            self.local.words.push(send.text.clone());
            self.answer(id.clone(), Done {});
        }
        is_local
    }

    /// What is prompted in a session; only a mutant has more to say than the person.
    pub(super) fn words_for(&self, task_id: &str, text: String) -> String {
        let is_new = self.tasks.get(task_id).is_some_and(|task| task.timeline().prompts().is_empty());
        if is_new { self.strategies.cutover.first_words(text, &self.local.words) } else { text }
    }

    /// A session that is there already; only a mutant goes on in one.
    pub(super) fn session_to_go_on_in(&self) -> Option<String> {
        let newest = self.tasks.values().map(|task| task.session_id().to_owned()).max();
        newest.filter(|_| !self.strategies.cutover.has_own_session())
    }

    /// A task is over for good: nothing of its session is shown any more, and everything else goes on.
    pub(super) fn task_close(&mut self, id: Id, task_id: &str) {
        if self.local.tasks.remove(task_id) {
            return self.answer(id, Done {});
        }
        let Some((_, directory)) = self.session_of_task(&id, task_id) else { return };
        if self.strategies.cutover.closes_stream()
            && let Some(channel) = self.channels.get_mut(&directory)
        {
            channel.phase = Phase::Off;
        }
        if !self.strategies.cutover.shows_closed() {
            self.publish_all();
            self.tasks.remove(task_id);
        }
        self.answer(id, Done {});
    }
}
