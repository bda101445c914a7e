//! What the core does with the server's answers to the requests of the harness.

use super::call::{Call, Sent};
use super::core::Core;
use super::io::Timer;
use super::strategy::OnFailedSend;
use super::task::Task;
use super::timeline::Timeline;
use crate::protocol::{Done, Id, LogLevel, RpcError, TaskStarted};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How long a prompt may take to appear whose answer was lost (unscaled).
const LOOK_AFTER_MS: u64 = 500;

impl Core {
    pub(super) fn http_done(&mut self, request: u64, answer: Result<(u16, String), String>) {
        let Some(call) = self.calls.remove(&request) else {
            return self.fetched(request, answer);
        };
        let status = answer.as_ref().ok().map(|(status, _)| *status);
        let unsent = if status.is_none() { self.send_once_more(call) } else { Some(call) };
        let Some(call) = unsent else { return };
        let body = match answer {
            Ok((200..=299, body)) => Ok(body),
            Ok((status, body)) => Err(format!("the server answered {status} {}", shortened(&body))),
            Err(why) => Err(why),
        };
        match (call, body) {
            (Call::Start { id, task_id, directory }, Ok(body)) => {
                self.started(id, &task_id, directory, &body)
            }
            (Call::Start { id, task_id, directory }, Err(_)) if self.strategies.cutover.asks_again() => {
                let request = self.http(&directory, "POST", "/session", Some(json!({})));
                self.calls.insert(request, Call::Start { id, task_id, directory });
            }
            (Call::Start { id, .. } | Call::Waiting { id, .. }, Err(why)) => {
                self.fail(id, RpcError::failed(format!("no session: {why}")));
            }
            (Call::Send { id, .. } | Call::Waiting { id, .. } | Call::Lost { id, .. }, Ok(_)) => {
                self.answer(id, Done {});
            }
            (Call::Send { id, task_id, prompts, body }, Err(why)) => {
                match self.strategies.turns.on_failed_send(status) {
                    OnFailedSend::Fail => self.not_accepted(id, &task_id, &why),
                    OnFailedSend::Believe => self.answer(id, Done {}),
                    OnFailedSend::Look => self.lost(Call::Lost { id, task_id, prompts, why }),
                    OnFailedSend::Again => self.send_again(id, task_id, prompts, body),
                }
            }
            (Call::Look { id, task_id, prompts, why }, body) => {
                self.looked(id, &task_id, &prompts, &why, body.ok().as_deref());
            }
            (Call::Lost { id, task_id, why, .. }, Err(_)) => self.not_accepted(id, &task_id, &why),
            (Call::Abort { id }, body) => self.stop_answered(id, body),
            (Call::Permission { id, task_id, permission_id, write }, body) => {
                self.permission_answered(id, &task_id, &permission_id, write, status, body);
            }
            (Call::Approve { task_id, permission }, body) => {
                self.approved(&task_id, permission, status, body.is_ok());
            }
            (Call::OneOfAll { batch, task_id, permission_id, write }, body) => {
                self.permission_settled(&task_id, &permission_id, write, status, body.is_ok());
                // What nobody waits for any more is not open either.
                self.one_of_all(batch, body.err().filter(|_| status != Some(404)));
            }
            (Call::Edit(edit), body) => self.edited(edit, status, body),
            (Call::Aside(aside), body) => self.aside_goes_on(aside, body),
            (Call::Plain { id, what }, body) => self.plainly_answered(id, what, body),
            (Call::Tools { id }, body) => self.tools_told(id, body),
            (Call::Fork { id, task_id, directory }, Ok(body)) => self.forked(id, &task_id, directory, &body),
            (Call::Fork { id, .. }, Err(why)) => self.fail(id, RpcError::failed(format!("no copy: {why}"))),
            (Call::FollowUp { task_id, question_id }, body) => {
                if body.is_ok() || status == Some(404) {
                    self.question_settled(&task_id, question_id);
                }
            }
            (Call::Health { start }, body) => self.health_said(start, status, body),
            (Call::Refused { id, task_id, permission_id }, body) => {
                self.refused(id, &task_id, permission_id, body.is_ok() || status == Some(404));
            }
            (Call::Question { id, task_id, question_id, .. }, body) => {
                if body.is_ok() || status == Some(404) {
                    self.question_settled(&task_id, question_id);
                }
                match body {
                    Ok(_) => self.answer(id, Done {}),
                    Err(why) => {
                        self.fail(id, RpcError::failed(format!("the answer was not accepted: {why}")))
                    }
                }
            }
        }
    }

    /// Only a mutant does: nobody knows what became of the first one. Gives back what is not sent again.
    fn send_once_more(&mut self, call: Call) -> Option<Call> {
        let sent = match &call {
            Call::Permission { permission_id, .. } => self.unconfirmed.get(permission_id).cloned(),
            Call::Question { sent, .. } => Some(Sent::clone(sent)),
            _ => None,
        };
        let Some((folder, path, body)) = sent.filter(|_| self.strategies.asking.answers_until_told()) else {
            return Some(call);
        };
        let request = self.http(&folder, "POST", &path, Some(body));
        self.calls.insert(request, call);
        None
    }

    /// The server has stopped the agent, or has refused to.
    fn stop_answered(&mut self, id: Id, body: Result<String, String>) {
        let why = match body {
            Ok(body) if body.trim() == "true" => return self.answer(id, Done {}),
            Ok(body) => format!("the server said {}", shortened(&body)),
            Err(why) => why,
        };
        if !self.strategies.turns.tells_refused_stops() {
            return self.answer(id, Done {});
        }
        self.fail(id, RpcError::failed(format!("the agent could not be stopped: {why}")));
    }

    pub(super) fn started(&mut self, id: Id, task_id: &str, directory: String, body: &str) {
        if let Some(session) = self.begin_task(&id, task_id, directory, body) {
            self.answer(id, TaskStarted { session_id: Some(session) });
        }
    }

    /// A task of the session that the server has made; gives its name, or the harness has learnt that there is none.
    pub(super) fn begin_task(
        &mut self,
        id: &Id,
        task_id: &str,
        directory: String,
        body: &str,
    ) -> Option<String> {
        let session: Value = serde_json::from_str(body).unwrap_or_default();
        let Some(session_id) = session["id"].as_str() else {
            let why = "no session: the server's answer has no text field `id`";
            self.fail(id.clone(), RpcError::failed(why));
            return None;
        };
        let task = Task::new(task_id, session_id.to_owned(), directory);
        self.tasks.insert(task_id.to_owned(), task);
        self.log(LogLevel::Info, "the task was started".to_owned(), Some(task_id));
        Some(session_id.to_owned())
    }

    fn lost(&mut self, call: Call) {
        self.last_request += 1;
        self.calls.insert(self.last_request, call);
        let wait = self.scaled(LOOK_AFTER_MS);
        self.start_timer(Timer::Look(self.last_request), wait);
    }

    fn send_again(&mut self, id: Id, task_id: String, prompts: BTreeSet<String>, body: Value) {
        let Some((session, directory)) = self.place_of(&task_id) else { return };
        let path = format!("/session/{session}/prompt_async");
        let request = self.http(&directory, "POST", &path, Some(body.clone()));
        self.calls.insert(request, Call::Send { id, task_id, prompts, body });
    }

    /// A prompt's answer did not come. Has the server the prompt?
    pub(super) fn look_for_prompt(&mut self, call: u64) {
        let Some(Call::Lost { id, task_id, prompts, why }) = self.calls.remove(&call) else { return };
        let Some((session, directory)) = self.place_of(&task_id) else { return };
        let is_here =
            self.tasks.get(&task_id).is_some_and(|task| !task.timeline().prompts().is_subset(&prompts));
        if is_here {
            return self.answer(id, Done {});
        }
        let request = self.http(&directory, "GET", &format!("/session/{session}/message"), None);
        self.calls.insert(request, Call::Look { id, task_id, prompts, why });
    }

    fn looked(&mut self, id: Id, task_id: &str, prompts: &BTreeSet<String>, why: &str, body: Option<&str>) {
        let messages = body.and_then(|body| serde_json::from_str::<Value>(body).ok()).unwrap_or_default();
        let list = Timeline::from_rest(task_id, &messages, &*self.strategies.deltas);
        let is_there = list.is_ok_and(|list| !list.prompts().is_subset(prompts));
        if is_there { self.answer(id, Done {}) } else { self.not_accepted(id, task_id, why) }
    }

    fn not_accepted(&mut self, id: Id, task_id: &str, why: &str) {
        if let Some(task) = self.tasks.get_mut(task_id) {
            task.prompt_refused();
        }
        if let Some(went) = self.went_along.get_mut(task_id) {
            went.was_refused = true;
        }
        self.fail(id, RpcError::failed(format!("the prompt was not accepted: {why}")));
    }

    fn permission_answered(
        &mut self,
        id: Id,
        task_id: &str,
        permission_id: &str,
        write: Option<bool>,
        status: Option<u16>,
        body: Result<String, String>,
    ) {
        self.permission_settled(task_id, permission_id, write, status, body.is_ok());
        match body {
            Ok(_) => self.answer(id, Done {}),
            Err(why) => self.fail(id, RpcError::failed(format!("the answer was not accepted: {why}"))),
        }
    }

    /// An answer to a request for leave came to the server, or did not.
    fn permission_settled(
        &mut self,
        task_id: &str,
        permission_id: &str,
        write: Option<bool>,
        status: Option<u16>,
        is_ok: bool,
    ) {
        let is_stale = status == Some(404) && self.strategies.asking.drops_stale();
        // What the server took needs no event to be gone, and what it does not know any more is gone as well.
        let is_taken = is_ok && self.strategies.asking.trusts_answer();
        let gone = self.tasks.get_mut(task_id).filter(|_| is_taken || is_stale);
        if let Some(gone) = gone.and_then(|task| task.replied(permission_id.to_owned())) {
            self.tell(gone);
        }
        match write.filter(|_| is_ok) {
            Some(true) => self.count("kilo.cli.tools.write.allow_count", Some(task_id)),
            Some(false) => self.count("kilo.cli.tools.write.deny_count", Some(task_id)),
            None => {}
        }
        if !is_ok {
            self.unconfirmed.remove(permission_id);
            if is_stale {
                self.on_doubt(task_id);
            }
        }
    }

    /// A question has its answer, or the server does not know it any more.
    pub(super) fn question_settled(&mut self, task_id: &str, question_id: String) {
        if let Some(gone) = self.tasks.get_mut(task_id).and_then(|task| task.question_over(question_id)) {
            self.tell(gone);
        }
    }
}

/// Enough of a body to see what is wrong.
fn shortened(body: &str) -> String {
    body.chars().take(200).collect()
}
