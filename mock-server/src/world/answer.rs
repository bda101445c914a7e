//! The deltas of one answer of the model → parts of the step's message.

use super::run::{Call, CallState};
use super::{Effect, EffectId, ModelFailure, Purpose, World};
use crate::javascript;
use crate::model::{Delta, Finish};
use serde_json::{Value, json};

impl World {
    pub(super) fn model_said(&mut self, effect: EffectId, delta: &Delta) {
        match self.waiting.get_mut(&effect) {
            Some(Purpose::Answer(session)) => {
                let session = session.clone();
                if matches!(delta, Delta::Finish { .. }) {
                    self.waiting.remove(&effect);
                }
                self.answer_delta(&session, delta);
            }
            Some(Purpose::Aside(_)) => self.aside_said(effect, delta),
            _ => {}
        }
    }

    pub(super) fn model_failed(&mut self, effect: EffectId, failure: ModelFailure) {
        match self.waiting.remove(&effect) {
            Some(Purpose::Answer(session)) => self.answer_failed(&session, failure),
            Some(Purpose::Aside(aside)) => self.aside_failed(*aside, &failure),
            _ => {}
        }
    }

    pub(crate) fn answer_delta(&mut self, session: &str, delta: &Delta) {
        if self.withhold_delta(session, delta) {
            return;
        }
        let Some((message, tree, began)) = self.current_step(session) else { return };
        if began.is_none() {
            self.begin_late(session);
            let mut start = json!({"type": "step-start"});
            if !tree.is_empty() || self.tells_no_tree(session) {
                start["snapshot"] = json!(tree);
            }
            self.add_part(session, &message, start);
            let now = self.now_ms;
            if let Some(run) = self.run_mut(session) {
                run.answer_began_ms = Some(now);
            }
            if self.profile.step_metrics
                && let Some(message) =
                    self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message))
            {
                message.began_ms = Some(now);
            }
        }
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) if text.is_empty() => {}
            Delta::Text(text) => {
                self.close_reasoning(session, &message);
                self.add_text(session, &message, "text", text);
            }
            Delta::Reasoning(text) => self.add_text(session, &message, "reasoning", text),
            Delta::ToolStart { id, name, .. } => {
                self.close_reasoning(session, &message);
                if self.run_mut(session).is_some_and(|run| run.compaction.is_some()) {
                    return self.refuse_call_of_summary(session, name);
                }
                self.tool_started(session, &message, id, name);
            }
            Delta::ToolArguments { index, text } => self.tool_arguments(session, *index, text),
            Delta::Finish(finish) => {
                self.close_reasoning(session, &message);
                if self.profile.quick_calls_end_first && self.has_call_to_begin(session) {
                    let end = Purpose::AnswerEnd(session.to_owned(), message, *finish);
                    return self.effect(end, Effect::Yield);
                }
                self.answer_ended(session, &message, *finish);
            }
        }
    }

    /// The model has said all; a call that needs nothing from outside may have ended before that.
    pub(crate) fn answer_ended(&mut self, session: &str, message: &str, finish: Finish) {
        if self.run_mut(session).is_none_or(|run| run.message != message) {
            return;
        }
        self.close_text(session, message);
        if self.end_if_lost(session) {
            return;
        }
        self.refuse_broken_arguments(session);
        if let Some(run) = self.run_mut(session) {
            run.finish = Some(finish);
        }
        self.end_step_if_done(session);
    }

    fn has_call_to_begin(&self, session: &str) -> bool {
        let run = self.sessions.get(session).and_then(|owner| owner.run.as_ref());
        run.is_some_and(|run| run.calls.iter().any(|call| call.is_to_begin))
    }

    fn current_step(&self, session: &str) -> Option<(String, String, Option<u64>)> {
        let run = self.sessions.get(session)?.run.as_ref()?;
        Some((run.message.clone(), run.start_tree.clone(), run.answer_began_ms))
    }

    pub(crate) fn run_mut(&mut self, session: &str) -> Option<&mut super::run::Run> {
        self.sessions.get_mut(session)?.run.as_mut()
    }

    /// Text and reasoning alike: an empty part first, then deltas. REST shows nothing of them until the part ends.
    fn add_text(&mut self, session: &str, message: &str, kind: &str, text: &str) {
        let now = self.now_ms;
        let open = |run: &mut super::run::Run| {
            if kind == "text" { run.open_text } else { run.open_reasoning }
        };
        let place = match self.run_mut(session).and_then(open) {
            Some(place) => place,
            None => {
                let place = self.add_part(
                    session,
                    message,
                    json!({"type": kind, "text": "", "time": {"start": now}}),
                );
                if let Some(run) = self.run_mut(session) {
                    if kind == "text" {
                        run.open_text = Some(place)
                    } else {
                        run.open_reasoning = Some(place)
                    }
                    run.partial.insert(place, String::new());
                }
                place
            }
        };
        if let Some(partial) = self.run_mut(session).and_then(|run| run.partial.get_mut(&place)) {
            partial.push_str(text);
        }
        let part = self.part_mut(session, message, place).map(|part| part["id"].clone()).unwrap_or_default();
        let properties = json!({"sessionID": session, "messageID": message, "partID": part, "field": "text", "delta": text});
        self.emit_session(session, "message.part.delta", properties);
    }

    pub(crate) fn close_text(&mut self, session: &str, message: &str) {
        if let Some(place) = self.run_mut(session).and_then(|run| run.open_text.take()) {
            self.close_part(session, message, place);
        }
    }

    pub(crate) fn close_reasoning(&mut self, session: &str, message: &str) {
        if let Some(place) = self.run_mut(session).and_then(|run| run.open_reasoning.take()) {
            self.close_part(session, message, place);
        }
    }

    fn close_part(&mut self, session: &str, message: &str, place: usize) {
        let now = self.now_ms;
        let text = self.run_mut(session).and_then(|run| run.partial.remove(&place)).unwrap_or_default();
        if let Some(part) = self.part_mut(session, message, place) {
            part["text"] = json!(text);
            part["time"]["end"] = json!(now);
        }
        self.emit_part(session, message, place);
    }

    fn tool_started(&mut self, session: &str, message: &str, id: &str, tool: &str) {
        let state = json!({"status": "pending", "input": {}, "raw": ""});
        let fields = json!({"type": "tool", "callID": id, "tool": tool, "state": state});
        let part = self.add_part(session, message, fields);
        let call = Call {
            id: id.to_owned(),
            tool: tool.to_owned(),
            arguments: String::new(),
            part,
            state: CallState::Written,
            is_told: false,
            title: None,
            input: Value::Null,
            started_ms: 0,
            plan: None,
            approval: Value::Null,
            has_left: false,
            is_to_begin: false,
        };
        if let Some(run) = self.run_mut(session) {
            run.calls.push(call);
        }
    }

    /// As soon as the arguments are whole the call runs, even while the model goes on; it begins after all that
    /// is already on its way, as the servers begin it.
    fn tool_arguments(&mut self, session: &str, index: usize, text: &str) {
        let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(index)) else { return };
        call.arguments.push_str(text);
        if call.state != CallState::Written {
            return;
        }
        if let Some(input) = javascript::parse(call.arguments.as_bytes()) {
            self.arguments_whole(session, index, input);
        }
    }

    pub(super) fn arguments_whole(&mut self, session: &str, index: usize, input: Value) {
        let now = self.now_ms;
        let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(index)) else { return };
        call.input = input;
        call.state = CallState::Running;
        call.started_ms = now;
        self.redirect_misuse(session, index);
        if self.refuse_misuse(session, index) || self.before_call_runs(session, index) {
            return;
        }
        self.tell_running(session, index);
        self.begin_soon(session, index);
        self.suspect_loop(session, index);
    }

    /// Begins a call after all that is already on its way.
    fn begin_soon(&mut self, session: &str, call: usize) {
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            // A line of the shell is taken apart first.
            call.is_to_begin = call.tool != "bash";
        }
        let is_its = |purpose: &Purpose| matches!(purpose, Purpose::Answer(whose) if whose == session);
        let answer = self.waiting.iter().rev().find_map(|(id, purpose)| is_its(purpose).then_some(*id));
        let begin = answer.map_or(Effect::Yield, |within| Effect::Begin { within });
        self.effect(Purpose::CallStart(session.to_owned(), call), begin);
    }

    pub(super) fn begin_call(&mut self, session: &str, call: usize) {
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            call.is_to_begin = false;
        }
        self.start_call(session, call);
    }
}
