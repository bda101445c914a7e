//! All that a task asks leave for, allowed or refused at once: each request is answered by itself, and one whose answer
//! the server does not take stays open alone.

use super::call::Call;
use super::commands::reply_path;
use super::core::Core;
use crate::protocol::{Done, Id, Permission, PermissionAll, Reply, RpcError};
use serde_json::json;
use std::collections::VecDeque;

/// Answers that are under way together.
#[derive(Debug)]
pub(super) struct Batch {
    id: Id,
    left: usize,
    failed: Option<String>,
    task_id: String,
    directory: String,
    /// What is answered when those that are under way are.
    next: VecDeque<Stage>,
}

/// What is answered side by side.
#[derive(Debug)]
struct Stage {
    permissions: Vec<Permission>,
    reply: Reply,
    /// They lead out of the workspace, and are refused, whatever the person says.
    is_kept: bool,
}

impl Core {
    pub(super) fn answer_all(&mut self, id: Id, all: &PermissionAll) {
        let task_id = &all.task_id;
        if self.session_of_task(&id, task_id).is_none() {
            return;
        }
        let Some(task) = self.tasks.get(task_id) else { return };
        let (directory, mut open) = (task.directory().to_owned(), task.permissions().to_vec());
        if self.strategies.features.hides_all() {
            for asked in &open {
                let gone =
                    self.tasks.get_mut(task_id).and_then(|task| task.replied(asked.permission_id.clone()));
                gone.into_iter().for_each(|gone| self.tell(gone));
            }
        }
        if !self.strategies.features.answers_each() {
            open.truncate(1);
        }
        self.last_request += 1;
        let batch = self.last_request;
        let next = self.stages(&directory, open, all.reply);
        let open = Batch { id, left: 0, failed: None, task_id: task_id.clone(), directory, next };
        self.batches.insert(batch, open);
        self.batch_goes_on(batch);
    }

    fn stages(&self, directory: &str, open: Vec<Permission>, reply: Reply) -> VecDeque<Stage> {
        let holds = self.strategies.guard.holds_all();
        let (kept, sent): (Vec<Permission>, Vec<Permission>) =
            open.into_iter().partition(|asked| holds && self.leads_out(directory, asked, reply));
        let stage = |permissions| Stage { permissions, reply, is_kept: false };
        let mut stages: VecDeque<Stage> = match self.strategies.features.goes_on_after_a_failure() {
            true => VecDeque::from([stage(sent)]),
            false => sent.into_iter().map(|asked| stage(vec![asked])).collect(),
        };
        // A no takes with it all that is asked beside it, so what is kept back comes last.
        let kept = Stage { permissions: kept, reply: Reply::Reject, is_kept: true };
        match self.strategies.guard.refuses_last() {
            true => stages.push_back(kept),
            false => stages.push_front(kept),
        }
        stages.retain(|stage| !stage.permissions.is_empty());
        stages
    }

    fn send_of_all(&mut self, batch: u64, stage: Stage) {
        let Some(Batch { task_id, directory, .. }) = self.batches.get(&batch) else { return };
        let (task_id, directory) = (task_id.clone(), directory.clone());
        for asked in stage.permissions {
            let (path, body) = (reply_path(&asked.permission_id), json!({ "reply": stage.reply }));
            let request = self.http(&directory, "POST", &path, Some(body.clone()));
            // Before the answer: the event about it may overtake it.
            self.unconfirmed.insert(asked.permission_id.clone(), (directory.clone(), path, body));
            let write =
                (asked.permission == "edit" && !stage.is_kept).then_some(stage.reply != Reply::Reject);
            let (task_id, permission_id) = (task_id.clone(), asked.permission_id);
            self.calls.insert(request, Call::OneOfAll { batch, task_id, permission_id, write });
        }
    }

    /// One of them is answered.
    pub(super) fn one_of_all(&mut self, number: u64, why_not: Option<String>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.left -= 1;
        batch.failed = batch.failed.take().or(why_not);
        if batch.left == 0 {
            self.batch_goes_on(number);
        }
    }

    /// All that were sent are answered: what waits for that follows, or the person is answered.
    fn batch_goes_on(&mut self, number: u64) {
        let goes_on = self.strategies.features.goes_on_after_a_failure();
        let Some(batch) = self.batches.get_mut(&number) else { return };
        let stage = batch.next.pop_front().filter(|_| batch.failed.is_none() || goes_on);
        if let Some(stage) = stage {
            batch.left = stage.permissions.len();
            if stage.is_kept {
                batch.failed.get_or_insert_with(|| super::guard::LEADS_OUT.to_owned());
                let task_id = batch.task_id.clone();
                stage.permissions.iter().for_each(|_| self.tell_of_refusal(&task_id));
            }
            return self.send_of_all(number, stage);
        }
        if let Some(batch) = self.batches.remove(&number) {
            match batch.failed {
                None => self.answer(batch.id, Done {}),
                Some(why) => {
                    self.fail(batch.id, RpcError::failed(format!("not all answers were accepted: {why}")));
                }
            }
        }
    }
}
