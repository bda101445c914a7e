//! Answers of the model that do not come, or not whole: what is tried again, and what ends the turn.

use super::turn::{CallState, TurnEnd};
use super::{Effect, ModelFailure, Purpose, World};
use crate::model::{Delta, Finish, FinishReason, Usage};
use serde_json::{Value, json};

/// The first wait where the provider names none; each further one is twice as long.
const FIRST_WAIT_MS: u64 = 2_000;
/// The longest wait where the provider names none.
const LONGEST_WAIT_MS: u64 = 30_000;
/// What the servers call an answer whose connection breaks.
const CUT_OFF: &str = "Connection reset by server";

impl World {
    /// The model's answer to the current step has failed.
    pub(crate) fn answer_failed(&mut self, session: &str, failure: ModelFailure) {
        let Some(run) = self.run_mut(session) else { return };
        let has_begun = run.answer_began_ms.is_some();
        match failure {
            ModelFailure::Refused { status, retry_after_ms, message } if is_retried(status) => {
                self.wait_to_retry(session, &message, retry_after_ms);
            }
            ModelFailure::Refused { status, message, .. } => {
                self.fail_turn(session, refusal(status, &message))
            }
            ModelFailure::CutOff if !has_begun || self.profile.retries_begun_answers => {
                self.wait_to_retry(session, CUT_OFF, None);
            }
            ModelFailure::CutOff => self.fail_turn(session, cut_off()),
            ModelFailure::Unfinished => self.answer_unfinished(session),
            ModelFailure::Unscripted(why) => self.fail_turn(session, refusal(400, &why)),
        }
    }

    /// What has come of the answer stays as it is: its text is never told whole.
    fn wait_to_retry(&mut self, session: &str, message: &str, retry_after_ms: Option<u64>) {
        let now = self.now_ms;
        self.forget_turn(session);
        let Some(run) = self.run_mut(session) else { return };
        run.begin_answer();
        let doubled = FIRST_WAIT_MS.saturating_mul(1 << run.attempt.min(8)).min(LONGEST_WAIT_MS);
        run.attempt += 1;
        let until_ms = now + retry_after_ms.unwrap_or(doubled);
        let status = json!({"type": "retry", "attempt": run.attempt, "message": message, "next": until_ms});
        run.retry = Some(status.clone());
        self.emit_session(session, "session.status", json!({"sessionID": session, "status": status}));
        self.effect(Purpose::Retry(session.to_owned()), Effect::Wait { until_ms });
    }

    /// The wait is over.
    pub(crate) fn retry(&mut self, session: &str) {
        if let Some(run) = self.run_mut(session) {
            run.retry = None;
            self.ask_model(session);
        }
    }

    /// The answer ended without saying why: for the servers that is an end.
    fn answer_unfinished(&mut self, session: &str) {
        if let Some(run) = self.run_mut(session) {
            run.unfinished = true;
        }
        let usage = Usage { input: 0, output: 0, reasoning: 0, cached: 0 };
        let finish = Finish { reason: FinishReason::Stop, usage };
        self.answer_delta(session, &Delta::Finish(finish));
    }

    /// The turn ends in an error. Idle is told before its message is closed, and after.
    fn fail_turn(&mut self, session: &str, error: Value) {
        self.forget_turn(session);
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        self.emit_idle(session);
        self.close_step(session, Some(error));
        self.end_turn(session, TurnEnd::Error);
    }

    /// The server has made a mistake: who waits gets no more than that, and the turn is over.
    pub(crate) fn break_off(&mut self, session: &str) {
        let mut tickets = Vec::new();
        if let Some(run) = self.run_mut(session) {
            tickets.append(&mut run.tickets);
            tickets.append(&mut run.yes);
            tickets.extend(run.commands.drain(..).filter_map(|command| command.ticket));
        }
        for ticket in tickets {
            self.unknown_error(ticket);
        }
        self.end_turn(session, TurnEnd::Error);
    }

    /// Closes what the current step leaves open; its message says how it ended.
    pub(crate) fn close_step(&mut self, session: &str, error: Option<Value>) {
        let now = self.now_ms;
        let Some(message) = self.run_mut(session).map(|run| run.message.clone()) else { return };
        self.close_text(session, &message);
        self.close_reasoning(session, &message);
        let calls = self.run_mut(session).map_or(0, |run| run.calls.len());
        for call in 0..calls {
            self.cut_call(session, &message, call);
        }
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message)) {
            if let Some(error) = error {
                message.info["error"] = error;
            }
            message.info["time"]["completed"] = json!(now);
        }
        self.emit_message(session, &message);
    }

    /// A call that has no result yet gets none. What it asked the person stays in the list.
    fn cut_call(&mut self, session: &str, message: &str, call: usize) {
        let now = self.now_ms;
        if self.stop_shell(session, call) {
            return;
        }
        let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        if call.state == CallState::Done {
            return;
        }
        call.state = CallState::Done;
        let state = json!({
            "status": "error", "input": call.input.as_object().cloned().unwrap_or_default(),
            "error": "Tool execution aborted", "metadata": {"interrupted": true},
            "time": {"start": call.started_ms, "end": now},
        });
        let part = call.part;
        self.change_part(session, message, part, json!({"state": state}));
    }

    /// A turn that failed before it said anything leaves an empty message; one server takes it away at the next prompt.
    pub(crate) fn remove_empty_failures(&mut self, session: &str) {
        if !self.profile.removes_empty_failures {
            return;
        }
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let is_empty = |message: &super::session::Message| {
            message.info.get("error").is_some() && message.parts.is_empty()
        };
        let removed: Vec<String> =
            owner.messages.iter().filter(|message| is_empty(message)).map(|m| m.id().to_owned()).collect();
        owner.messages.retain(|message| !is_empty(message));
        for message in removed {
            let properties = json!({"sessionID": session, "messageID": message});
            self.emit_synced(session, "message.removed", properties);
        }
    }
}

/// Too many requests, and mistakes of the provider itself.
fn is_retried(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..)
}

fn refusal(status: u16, message: &str) -> Value {
    let data = json!({"message": message, "statusCode": status, "isRetryable": false});
    json!({"name": "APIError", "data": data})
}

fn cut_off() -> Value {
    let told = "The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the \
                second argument to fetch()";
    let metadata = json!({"code": "ECONNRESET", "syscall": "", "message": told});
    json!({"name": "APIError", "data": {"message": CUT_OFF, "isRetryable": true, "metadata": metadata}})
}
