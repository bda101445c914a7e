//! Answers of the model that do not come, or not whole: what is tried again, and what ends the turn.

use super::abort::Cut;
use super::media::why_untellable;
use super::offline::Lost;
use super::refusal::{CLOSED, Told, UNREACHABLE};
use super::run::CallState;
use super::run::TurnEnd;
use super::session::merge;
use super::{Effect, ModelFailure, Purpose, Ticket, World};
use crate::mistakes::Mistake;
use crate::model::{Delta, Finish, FinishReason, Usage};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The first wait where the provider names none; each further one is twice as long.
const FIRST_WAIT_MS: u64 = 2_000;
/// The longest wait where the provider names none.
const LONGEST_WAIT_MS: u64 = 30_000;
/// How often an answer is asked for again.
const RETRIES: u32 = 5;

impl World {
    /// The model's answer to the current step has failed.
    pub(crate) fn answer_failed(&mut self, session: &str, failure: ModelFailure) {
        if let Some(lost) = Lost::of(self.profile, &failure) {
            return self.connection_lost(session, &lost);
        }
        let told = match failure {
            ModelFailure::Refused(refusal) => Told::of_refusal(self.profile, &refusal),
            ModelFailure::CutOff => Told::of_cut_off(),
            ModelFailure::NoAnswer(url) => Told::of_no_answer(&url, CLOSED),
            ModelFailure::Unreachable(url) => Told::of_no_answer(&url, UNREACHABLE),
            ModelFailure::Unfinished(usage) => return self.answer_unfinished(session, usage),
            ModelFailure::Told(error) => Told::in_stream(self.profile, &error),
            ModelFailure::Nameless(lack) => {
                Told::unknown(self.profile, &format!("Expected '{lack}' to be a string."))
            }
            ModelFailure::Garbled(text) => {
                let why = crate::no_json::why(&text).unwrap_or_default();
                let message = format!("JSON parsing failed: Text: {text}.\nError message: {why}");
                Told::unknown(self.profile, &message)
            }
        };
        let may_retry = self.may_ask_again(session);
        let Some(run) = self.run_mut(session) else { return };
        match &told.retry {
            Some(message) if may_retry && run.attempt < RETRIES => {
                let message = message.clone();
                self.wait_to_retry(session, &message, &told);
            }
            _ if told.is_too_long() && run.compaction.is_none() => self.was_too_long(session, told.error),
            _ => self.fail_turn(session, told.error),
        }
    }

    /// A turn whose conversation no model can be told ends before the model is asked.
    pub(crate) fn fails_untold(&mut self, session: &str, messages: &[Value]) -> bool {
        let Some(why) = why_untellable(messages) else { return false };
        self.fail_turn(session, Told::unknown(self.profile, &why).error);
        true
    }

    /// May the model be asked again, if that is worth it?
    pub(super) fn may_ask_again(&mut self, session: &str) -> bool {
        self.profile.retries_begun_answers || !self.answer_says_something(session)
    }

    /// Has the answer to the current step said, thought or called anything?
    fn answer_says_something(&mut self, session: &str) -> bool {
        let Some(run) = self.run_mut(session) else { return false };
        let called = run.calls.iter().any(|call| call.state != CallState::Written);
        let message = run.message.clone();
        let partial: Vec<String> = run.partial.values().cloned().collect();
        let told = self.sessions.get(session).and_then(|owner| owner.message(&message));
        let parts = told.into_iter().flat_map(|message| &message.parts);
        let said = parts.filter_map(|part| part["text"].as_str()).any(|text| !text.trim().is_empty());
        called || said || partial.iter().any(|text| !text.trim().is_empty())
    }

    /// What has come of the answer stays as it is: its text is never told whole, unless the person stops the wait.
    fn wait_to_retry(&mut self, session: &str, message: &str, told: &Told) {
        let now = self.now_ms;
        self.tell_late(session);
        self.forget_turn(session);
        let Some(run) = self.run_mut(session) else { return };
        let longest = if told.answered { u64::MAX } else { LONGEST_WAIT_MS };
        let doubled = FIRST_WAIT_MS.saturating_mul(1 << run.attempt.min(8)).min(longest);
        run.attempt += 1;
        let until_ms = now + told.wait_ms.unwrap_or(doubled);
        let status = json!({"type": "retry", "attempt": run.attempt, "message": message, "next": until_ms});
        run.retry = Some(status.clone());
        self.emit_session(session, "session.status", json!({"sessionID": session, "status": status}));
        self.effect(Purpose::Retry(session.to_owned()), Effect::Wait { until_ms });
    }

    /// The wait is over.
    pub(crate) fn retry(&mut self, session: &str) {
        if let Some(run) = self.run_mut(session) {
            run.retry = None;
            run.begin_answer();
            self.ask_model(session);
        }
    }

    /// The answer ended without saying why: for the servers that is an end.
    fn answer_unfinished(&mut self, session: &str, usage: Usage) {
        if let Some(run) = self.run_mut(session) {
            run.unfinished = true;
        }
        let finish = Finish { reason: FinishReason::Stop, usage };
        self.answer_delta(session, &Delta::Finish(finish));
    }

    /// The turn ends in an error. Idle is told before its message is closed, and after.
    pub(crate) fn fail_turn(&mut self, session: &str, error: Value) {
        self.tell_end(session, &error);
        self.cut(VecDeque::from([Cut::End(session.to_owned(), Some(error), Some(TurnEnd::Error))]));
    }

    /// The provider withholds the rest: that is an error, but the step is closed already.
    pub(crate) fn end_filtered(&mut self, session: &str, message: &str) {
        let error = filtered_out();
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(message)) {
            message.info["error"] = error.clone();
        }
        self.emit_message(session, message);
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        self.end_turn(session, TurnEnd::Error);
    }

    /// The server can't go on: who waits gets no more than that, and the turn is over. Those who do not wait are told
    /// what was wrong.
    pub(crate) fn break_off(&mut self, session: &str, mistake: Option<(Mistake, String)>) {
        let mut tickets = Vec::new();
        let mut unwaited = 0;
        if let Some(run) = self.run_mut(session) {
            unwaited = run.unwaited;
            tickets.append(&mut run.tickets);
            tickets.append(&mut run.yes);
            tickets.extend(run.commands.drain(..).filter_map(|command| command.ticket));
        }
        for ticket in tickets {
            self.unknown_error(ticket);
        }
        self.end_turn(session, TurnEnd::Broken);
        for (mistake, words) in mistake.into_iter().cycle().take(unwaited) {
            self.refuse_prompt(session, None, mistake, &words);
        }
    }

    /// Something that the session is told, in the server's words.
    pub(crate) fn tell_error(&mut self, session: &str, message: &str) {
        let error = json!({"name": "UnknownError", "data": {"message": message}});
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
    }

    /// A prompt can't be answered. Who waits for it gets no more than that; who does not is told in the session.
    pub(crate) fn refuse_prompt(
        &mut self,
        session: &str,
        waiting: Option<Ticket>,
        mistake: Mistake,
        words: &str,
    ) {
        match waiting {
            Some(ticket) => self.unknown_error(ticket),
            None => self.tell_error(session, &mistake.told(self.profile.server, words)),
        }
    }

    /// The person is told that the answer got too long.
    pub(crate) fn warn_of_length(&mut self, session: &str, message: &str) {
        let parts = self.sessions.get(session).and_then(|owner| owner.message(message)).map(|m| &m.parts);
        let is_said = |part: &Value| part["text"].as_str().is_some_and(|text| !text.trim().is_empty());
        let has = |kind: &str| {
            parts.is_some_and(|parts| {
                parts.iter().any(|part| part["type"] == kind && (kind == "tool" || is_said(part)))
            })
        };
        let text = if has("reasoning") && !has("text") && !has("tool") {
            "The model hit its output limit while reasoning and produced no actionable output. Try disabling reasoning \
             or increasing the output limit."
        } else {
            "The model hit its output limit, so this response may be incomplete."
        };
        self.add_part(session, message, json!({"type": "text", "text": text, "ignored": true}));
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
    fn cut_call(&mut self, session: &str, message: &str, at: usize) {
        let now = self.now_ms;
        let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(at)) else { return };
        if call.state == CallState::Done {
            return;
        }
        call.state = CallState::Done;
        let (part, input, started) = (call.part, call.input.clone(), call.started_ms);
        let known =
            self.part_mut(session, message, part).map(|part| part["state"].clone()).unwrap_or_default();
        let mut state = known;
        let start = if started == 0 { now } else { started };
        let mut metadata = state.get("metadata").cloned().unwrap_or_else(|| json!({}));
        metadata["interrupted"] = json!(true);
        merge(
            &mut state,
            json!({
                "status": "error", "input": input.as_object().cloned().unwrap_or_default(),
                "error": "Tool execution aborted", "metadata": metadata, "time": {"start": start, "end": now},
            }),
        );
        self.change_part(session, message, part, json!({"state": state}));
        self.start_waiting_edit(session, at, false);
    }

    /// A turn that failed before it said anything leaves an empty message; one server takes it away at the next prompt.
    /// So it is with one that came to nothing at all.
    pub(crate) fn remove_empty_failures(&mut self, session: &str) {
        if !self.profile.removes_empty_failures {
            return;
        }
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let [.., prompt, last] = owner.messages.as_slice() else { return };
        let is_of_step = |part: &Value| part["type"] == "step-start" || part["type"] == "step-finish";
        let is_lost = match last.info.pointer("/error/name").and_then(Value::as_str) {
            None => last.parts.is_empty() && last.info.get("finish").is_none(),
            Some("MessageAbortedError") => false,
            Some(_) => last.parts.iter().all(is_of_step),
        };
        if !is_lost || last.role() != "assistant" || last.info["parentID"] != prompt.id() {
            return;
        }
        let removed = last.id().to_owned();
        owner.messages.pop();
        let properties = json!({"sessionID": session, "messageID": removed});
        self.emit_synced(session, "message.removed", properties);
    }
}

/// What is told of an answer that the provider withholds.
pub(crate) fn filtered_out() -> Value {
    let words = "The response was blocked by the provider's content filter";
    json!({"name": "ContentFilterError", "data": {"message": words}})
}
