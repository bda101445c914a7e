//! All that a task asks leave for, allowed or refused at once: each request is answered by itself, and one whose answer
//! the server does not take stays open alone.

use super::call::Call;
use super::commands::reply_path;
use super::core::Core;
use crate::protocol::{Done, Id, Permission, PermissionAll, Reply, RpcError};
use serde_json::json;

/// Answers that are under way together.
#[derive(Debug)]
pub(super) struct Batch {
    id: Id,
    left: usize,
    failed: Option<String>,
    task_id: String,
    directory: String,
    /// What leads out of the workspace: it is refused, whatever the person says.
    kept: Vec<Permission>,
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
        if open.is_empty() {
            return self.answer(id, Done {});
        }
        self.last_request += 1;
        let batch = self.last_request;
        // A no takes with it all that is asked beside it, so what is kept back comes last.
        let holds = self.strategies.guard.holds_all();
        let (kept, sent): (Vec<Permission>, Vec<Permission>) =
            open.into_iter().partition(|asked| holds && self.leads_out(&directory, asked, all.reply));
        let open = Batch { id, left: sent.len(), failed: None, task_id: task_id.clone(), directory, kept };
        self.batches.insert(batch, open);
        self.send_of_all(batch, sent, all.reply);
        if self.batches.get(&batch).is_some_and(|batch| batch.left == 0) {
            self.batch_goes_on(batch);
        }
    }

    fn send_of_all(&mut self, batch: u64, permissions: Vec<Permission>, reply: Reply) {
        let Some(Batch { task_id, directory, .. }) = self.batches.get(&batch) else { return };
        let (task_id, directory) = (task_id.clone(), directory.clone());
        for asked in permissions {
            let (path, body) = (reply_path(&asked.permission_id), json!({ "reply": reply }));
            let request = self.http(&directory, "POST", &path, Some(body.clone()));
            // Before the answer: the event about it may overtake it.
            self.unconfirmed.insert(asked.permission_id.clone(), (directory.clone(), path, body));
            let is_kept = self.batches.get(&batch).is_some_and(|batch| batch.failed.is_some());
            let write = (asked.permission == "edit" && !is_kept).then_some(reply != Reply::Reject);
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

    /// All that were sent are answered: what was kept back follows, or the person is answered.
    fn batch_goes_on(&mut self, number: u64) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        let kept = std::mem::take(&mut batch.kept);
        if !kept.is_empty() {
            batch.left = kept.len();
            batch.failed.get_or_insert_with(|| super::guard::LEADS_OUT.to_owned());
            let task_id = batch.task_id.clone();
            kept.iter().for_each(|_| self.tell_of_refusal(&task_id));
            return self.send_of_all(number, kept, Reply::Reject);
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
