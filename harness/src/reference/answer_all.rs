//! All that a task asks leave for, allowed or refused at once: each request is answered by itself, and one whose answer
//! the server does not take stays open alone.

use super::call::Call;
use super::commands::reply_path;
use super::core::Core;
use crate::protocol::{Done, Id, PermissionAll, Reply, RpcError};
use serde_json::json;

/// Answers that are under way together.
#[derive(Debug)]
pub(super) struct Batch {
    id: Id,
    left: usize,
    failed: Option<String>,
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
        self.batches.insert(batch, Batch { id, left: open.len(), failed: None });
        for asked in open {
            let leads_out = self.leads_out(&directory, &asked, all.reply);
            let reply = if leads_out { Reply::Reject } else { all.reply };
            if leads_out && let Some(batch) = self.batches.get_mut(&batch) {
                batch.failed = Some(format!("{} leads out of the workspace", asked.patterns.join(", ")));
            }
            let (path, body) = (reply_path(&asked.permission_id), json!({ "reply": reply }));
            let request = self.http(&directory, "POST", &path, Some(body.clone()));
            // Before the answer: the event about it may overtake it.
            self.unconfirmed.insert(asked.permission_id.clone(), (directory.clone(), path, body));
            let write = (asked.permission == "edit").then_some(reply != Reply::Reject);
            let (task_id, permission_id) = (task_id.clone(), asked.permission_id);
            self.calls.insert(request, Call::OneOfAll { batch, task_id, permission_id, write });
        }
    }

    /// One of them is answered; when it was the last, so is the person.
    pub(super) fn one_of_all(&mut self, number: u64, why_not: Option<String>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.left -= 1;
        batch.failed = batch.failed.take().or(why_not);
        if batch.left > 0 {
            return;
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
