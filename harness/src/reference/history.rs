//! What was said before: a message that is edited, a task that goes back, takes that back, or goes on elsewhere.
//!
//! To edit is to stop the agent, to go back, and to prompt, each when the one before has succeeded; when one fails the task
//! is as it was.

use super::call::Call;
use super::channel::Phase;
use super::commands::unknown_task;
use super::core::Core;
use super::strategy::Gap;
use crate::protocol::{Done, Id, RpcError, TaskEdit, TaskFork, TaskStarted, TaskState};
use serde_json::{Value, json};

/// An edit under way.
#[derive(Debug)]
pub(super) struct Edit {
    id: Id,
    edit: TaskEdit,
    step: Step,
}

/// Which answer of the server an edit waits for.
#[derive(Debug)]
enum Step {
    Stop,
    GoBack,
    Prompt,
    /// It has failed, for this reason, and going back is taken back.
    TakeBack(String),
}

/// What stands in a session of the server from which on nothing is shown: a message, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reverted {
    message: String,
    part: Option<String>,
}

impl Reverted {
    /// Reads `revert` of a session.
    pub(super) fn of(session: &Value) -> Option<Self> {
        let revert = &session["revert"];
        let message = revert["messageID"].as_str()?.to_owned();
        Some(Self { message, part: revert["partID"].as_str().map(str::to_owned) })
    }

    /// The message.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Is this not shown? Ids ascend.
    pub(super) fn hides(&self, message: &str, part: &str) -> bool {
        match &self.part {
            Some(from) if message == self.message => part >= from.as_str(),
            Some(_) => message > self.message.as_str(),
            None => message >= self.message.as_str(),
        }
    }
}

impl Core {
    /// The session of a task, and where its history is changed.
    fn history_place(&mut self, id: &Id, task_id: &str) -> Option<(String, String)> {
        let (session, own) = self.session_of_task(id, task_id)?;
        Some((session, self.history_folder(&own)))
    }

    fn history_folder(&self, own: &str) -> String {
        let main = self.server.as_ref().map_or(own, |server| server.directory.as_str());
        self.strategies.history.directory(own, main).to_owned()
    }

    pub(super) fn task_edit(&mut self, id: Id, edit: TaskEdit) {
        let Some((session, directory)) = self.history_place(&id, &edit.task_id) else { return };
        let is_at_work = self.is_at_work(&edit.task_id);
        if is_at_work && self.strategies.history.stops_first() {
            let request = self.http(&directory, "POST", &format!("/session/{session}/abort"), None);
            self.calls.insert(request, Call::Edit(Edit { id, edit, step: Step::Stop }));
        } else {
            self.edit_goes_back(id, edit);
        }
    }

    fn is_at_work(&mut self, task_id: &str) -> bool {
        self.tasks
            .get_mut(task_id)
            .is_some_and(|task| task.turn().is_some() || task.status() != TaskState::Idle)
    }

    fn edit_goes_back(&mut self, id: Id, edit: TaskEdit) {
        if !self.strategies.history.goes_back_first() {
            return self.edit_prompts(id, edit);
        }
        let Some(request) = self.go_back(&edit.task_id, &edit.message_id) else {
            return self.fail(id, unknown_task(&edit.task_id));
        };
        self.calls.insert(request, Call::Edit(Edit { id, edit, step: Step::GoBack }));
    }

    /// Asks the server to go back to before a message.
    fn go_back(&mut self, task_id: &str, message: &str) -> Option<u64> {
        let (session, own) = self.place_of(task_id)?;
        let directory = self.history_folder(&own);
        let newest = self.tasks.get(task_id)?.timeline().newest().map(|newest| newest.id.clone());
        let message = self.strategies.history.goes_back_to(message.to_owned(), newest.as_deref());
        let body = json!({ "messageID": message });
        Some(self.http(&directory, "POST", &format!("/session/{session}/revert"), Some(body)))
    }

    fn edit_prompts(&mut self, id: Id, edit: TaskEdit) {
        let now = self.now_ms;
        let Some((session, directory)) = self.history_place(&id, &edit.task_id) else { return };
        let keeps = self.strategies.attaching.keeps_when_edited();
        let task = self.tasks.get(&edit.task_id).filter(|_| keeps);
        let files = task.map(|task| task.timeline().attached_to(&edit.message_id)).unwrap_or_default();
        let body = self.prompt_body(&edit.text, &files);
        if let Some(task) = self.tasks.get_mut(&edit.task_id) {
            // Before the answer: the first events of the turn may overtake it.
            task.prompted(now);
        }
        let request = self.http(&directory, "POST", &format!("/session/{session}/prompt_async"), Some(body));
        self.calls.insert(request, Call::Edit(Edit { id, edit, step: Step::Prompt }));
    }

    /// The server has answered a step of an edit.
    pub(super) fn edited(&mut self, edit: Edit, status: Option<u16>, body: Result<String, String>) {
        let Edit { id, edit, step } = edit;
        match (step, body) {
            (Step::Stop, Ok(_)) => {
                self.edits.insert(edit.task_id.clone(), (id, edit.clone()));
                self.go_on_editing(&edit.task_id);
            }
            (Step::Stop, Err(why)) => self.fail(id, failed("the agent could not be stopped", &why)),
            (Step::GoBack, Ok(_)) => self.edit_prompts(id, edit),
            (Step::GoBack, Err(_)) if self.strategies.history.prompts_all_the_same() => {
                self.edit_prompts(id, edit);
            }
            (Step::GoBack, Err(why)) => self.fail(id, failed("the task could not go back", &why)),
            (Step::Prompt, Ok(_)) => self.answer(id, Done {}),
            (Step::Prompt, Err(why)) => {
                let task = self.tasks.get_mut(&edit.task_id);
                task.into_iter().for_each(super::task::Task::prompt_refused);
                let place = self.place_of(&edit.task_id);
                match place.filter(|_| status.is_some() && self.strategies.history.takes_back()) {
                    Some((session, own)) => {
                        let (directory, path) =
                            (self.history_folder(&own), format!("/session/{session}/unrevert"));
                        let request = self.http(&directory, "POST", &path, None);
                        self.calls.insert(request, Call::Edit(Edit { id, edit, step: Step::TakeBack(why) }));
                    }
                    None => self.fail(id, failed("the edited message was not accepted", &why)),
                }
            }
            (Step::TakeBack(why), Ok(_)) => {
                self.fail(id, failed("the edited message was not accepted, and the task is as it was", &why));
            }
            (Step::TakeBack(why), Err(_)) => {
                self.fail(
                    id,
                    failed("the edited message was not accepted, and the task has gone back", &why),
                );
            }
        }
    }

    /// A task whose agent was stopped for an edit goes on with it as soon as the agent rests.
    pub(super) fn go_on_editing(&mut self, task_id: &str) {
        if self.edits.contains_key(task_id)
            && !self.is_at_work(task_id)
            && let Some((id, edit)) = self.edits.remove(task_id)
        {
            self.edit_goes_back(id, edit);
        }
    }

    pub(super) fn task_revert(&mut self, id: Id, task_id: &str, message: &str) {
        match self.go_back(task_id, message) {
            Some(request) => {
                self.calls.insert(request, Call::Plain { id, what: "the task could not go back" });
            }
            None => self.fail(id, unknown_task(task_id)),
        }
    }

    pub(super) fn task_unrevert(&mut self, id: Id, task_id: &str) {
        let Some((session, directory)) = self.history_place(&id, task_id) else { return };
        let request = self.http(&directory, "POST", &format!("/session/{session}/unrevert"), None);
        self.calls.insert(request, Call::Plain { id, what: "that could not be taken back" });
    }

    pub(super) fn task_fork(&mut self, id: Id, fork: TaskFork) {
        let Some((session, directory)) = self.history_place(&id, &fork.task_id) else { return };
        let at_message = self.strategies.history.forks_at_message();
        let body = if at_message { json!({ "messageID": fork.message_id }) } else { json!({}) };
        let request = self.http(&directory, "POST", &format!("/session/{session}/fork"), Some(body));
        self.calls.insert(request, Call::Fork { id, task_id: fork.new_task_id, directory });
    }

    /// The copy is there; what stands in it has to be fetched before anybody can prompt in it, or its old answers would be
    /// taken for the new one.
    pub(super) fn forked(&mut self, id: Id, task_id: &str, directory: String, body: &str) {
        let folder = directory.clone();
        let Some(session) = self.begin_task(&id, task_id, directory, body) else { return };
        self.copies.insert(task_id.to_owned(), (id, session));
        self.on_gap(&folder, Gap::Retry);
        let phase = self.channels.get(&folder).map(|channel| &channel.phase);
        if !matches!(phase, Some(Phase::Refreshing(_))) {
            self.copy_is_shown(task_id);
        }
    }

    /// What stands in a copy is on the screen, or the person knows that it is not.
    pub(super) fn copy_is_shown(&mut self, task_id: &str) {
        if let Some((id, session)) = self.copies.remove(task_id) {
            self.answer(id, TaskStarted { session_id: Some(session) });
        }
    }

    pub(super) fn plainly_answered(&mut self, id: Id, what: &str, body: Result<String, String>) {
        match body {
            Ok(_) => self.answer(id, Done {}),
            Err(why) => self.fail(id, failed(what, &why)),
        }
    }
}

fn failed(what: &str, why: &str) -> RpcError {
    RpcError::failed(format!("{what}: {why}"))
}
