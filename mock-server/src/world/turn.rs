//! From a prompt to idle: one step of the model after the other, until it calls no more tools.

use super::session::{Message, Tokens};
use super::summary::{Job, Then};
use super::{Effect, FileChange, Purpose, ReplyBody, Ticket, World, patch};
use crate::model::{Finish, FinishReason};
use crate::profile::{BootTiming, TitleTiming};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a person sent.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    /// Waits for the end of the turn.
    pub(crate) ticket: Option<Ticket>,
    /// The texts, one part each.
    pub(crate) texts: Vec<String>,
}

/// A turn in progress.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) ticket: Option<Ticket>,
    /// The prompt's message.
    pub(crate) prompt: String,
    /// The assistant message of the current step.
    pub(crate) message: String,
    /// The files before the turn's first step.
    pub(crate) first_tree: Option<String>,
    /// The files before and after the current step.
    pub(crate) start_tree: String,
    pub(crate) end_tree: String,
    /// The parts of the current step that are still written to.
    pub(crate) open_text: Option<usize>,
    pub(crate) open_reasoning: Option<usize>,
    /// What the model has written of the open parts so far.
    pub(crate) partial: BTreeMap<usize, String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Option<Finish>,
    /// When the model's answer to the current step began.
    pub(crate) answer_began_ms: Option<u64>,
    /// The person said no to a call: the turn ends with this step.
    pub(crate) rejected: bool,
}

/// A tool call of the current step.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    /// Its part in the message.
    pub(crate) part: usize,
    pub(crate) state: CallState,
    pub(crate) input: Value,
    pub(crate) started_ms: u64,
    /// What the tool found out before it asked for permission.
    pub(crate) plan: Option<super::tools::Plan>,
    /// Who allowed it.
    pub(crate) approval: Value,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallState {
    /// The model is still writing its arguments.
    Written,
    /// It runs, or waits for permission.
    Running,
    /// It has a result, good or bad.
    Done,
}

impl World {
    /// Takes a prompt: at once, or after the turn that is running.
    pub(crate) fn prompt(&mut self, session: &str, prompt: Prompt) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        if owner.is_busy() {
            owner.queue.push_back(prompt);
        } else {
            self.begin_turn(session, prompt);
        }
    }

    fn begin_turn(&mut self, session: &str, prompt: Prompt) {
        let message = self.ids.ascending("msg", self.now_ms);
        let now = self.now_ms;
        let Some(owner) = self.sessions.get_mut(session) else { return };
        owner.touch(now);
        let first = !std::mem::replace(&mut owner.prompted, true);
        let directory = owner.directory.clone();
        if first {
            self.emit_session_updated(session);
        }
        let info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": now},
            "agent": self.profile.agent, "model": {"providerID": "fake", "modelID": "fake"},
        });
        self.push_message(session, &message, info);
        for text in &prompt.texts {
            self.add_part(session, &message, json!({"type": "text", "text": text}));
        }
        self.emit_session_updated(session);
        if self.profile.turn_events {
            self.emit_session(session, "session.turn.open", json!({"sessionID": session}));
        }
        self.emit_status(session, "busy");
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.run = Some(Run {
                ticket: prompt.ticket,
                prompt: message,
                message: String::new(),
                first_tree: None,
                start_tree: String::new(),
                end_tree: String::new(),
                open_text: None,
                open_reasoning: None,
                partial: BTreeMap::new(),
                calls: Vec::new(),
                finish: None,
                answer_began_ms: None,
                rejected: false,
            });
        }
        self.boot(&directory, BootTiming::AtPrompt);
        if first && self.profile.title == TitleTiming::AtFirstPrompt {
            self.ask_for_title(session);
        }
        self.begin_step(session);
    }

    fn push_message(&mut self, session: &str, message: &str, info: Value) {
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.messages.push(Message { info, parts: Vec::new() });
        }
        self.emit_message(session, message);
    }

    fn begin_step(&mut self, session: &str) {
        let message = self.ids.ascending("msg", self.now_ms);
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let directory = owner.directory.clone();
        let Some(run) = owner.run.as_mut() else { return };
        run.message.clone_from(&message);
        run.open_text = None;
        run.open_reasoning = None;
        run.calls.clear();
        run.finish = None;
        run.answer_began_ms = None;
        let info = json!({
            "id": message, "sessionID": session, "role": "assistant", "time": {"created": self.now_ms},
            "parentID": run.prompt, "modelID": "fake", "providerID": "fake",
            "mode": self.profile.agent, "agent": self.profile.agent,
            "path": {"cwd": directory, "root": directory}, "cost": 0, "tokens": Tokens::default().wire(),
        });
        self.push_message(session, &message, info);
        self.effect(Purpose::StepStart(session.to_owned()), Effect::Snapshot { directory });
    }

    /// The files before the step are known: a summary job runs, then the model is asked.
    pub(crate) fn step_started(&mut self, session: &str, tree: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        owner.first_tree.get_or_insert_with(|| tree.to_owned());
        let Some(run) = owner.run.as_mut() else { return };
        run.first_tree.get_or_insert_with(|| tree.to_owned());
        tree.clone_into(&mut run.start_tree);
        self.summarise(session, tree, Then::AskModel);
    }

    /// Asks the model for the current step.
    pub(crate) fn ask_model(&mut self, session: &str) {
        self.emit_status(session, "busy");
        let request = self.turn_request(session);
        self.effect(Purpose::Answer(session.to_owned()), Effect::AskModel(request));
    }

    /// The step is over when the model has finished and every call has a result.
    pub(crate) fn end_step_if_done(&mut self, session: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        if run.finish.is_some() && run.calls.iter().all(|call| call.state == CallState::Done) {
            let directory = owner.directory.clone();
            self.effect(Purpose::StepEnd(session.to_owned()), Effect::Snapshot { directory });
        }
    }

    /// The files after the step are known.
    pub(crate) fn step_ended(&mut self, session: &str, tree: &str) {
        let now = self.now_ms;
        let Some(run) = self.sessions.get_mut(session).and_then(|owner| owner.run.as_mut()) else { return };
        tree.clone_into(&mut run.end_tree);
        let Some(Finish { reason, usage }) = run.finish else { return };
        let (message, start_tree) = (run.message.clone(), run.start_tree.clone());
        let began = run.answer_began_ms.unwrap_or(now);
        let tokens = Tokens { input: usage.input, output: usage.output };
        let reason = match reason {
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool-calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content-filter",
        };
        let mut part = json!({"type": "step-finish", "reason": reason, "snapshot": tree});
        if self.profile.step_metrics {
            let elapsed = now.saturating_sub(began).max(1);
            #[expect(clippy::cast_precision_loss, reason = "tokens and milliseconds of one step are small")]
            let per_second = tokens.output as f64 * 1000.0 / elapsed as f64;
            part["metrics"] = json!({"generation": per_second, "source": "computed"});
            part["time"] = json!({"start": began, "end": now, "elapsed": elapsed});
        }
        part["cost"] = json!(0);
        part["tokens"] = tokens.wire_with_total();
        self.add_part(session, &message, part);
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.tokens.input += tokens.input;
            owner.tokens.output += tokens.output;
            if let Some(message) = owner.message_mut(&message) {
                message.info["tokens"] = tokens.wire_with_total();
                message.info["finish"] = json!(reason);
            }
        }
        self.emit_message(session, &message);
        if tree == start_tree {
            self.complete_step(session);
        } else {
            let effect = Effect::Changes { from: start_tree, to: tree.to_owned() };
            self.effect(Purpose::StepChanges(session.to_owned()), effect);
        }
    }

    /// It is known which files the step changed.
    pub(crate) fn step_changed(&mut self, session: &str, changes: &[FileChange]) {
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        let in_folder = |change: &FileChange| {
            // The servers take the backslashes of a quoted name for folders.
            let name = patch::git_name(&change.path).replace('\\', "/").replace("//", "/");
            format!("{}/{name}", owner.directory)
        };
        let files: Vec<String> = changes.iter().map(in_folder).collect();
        let (message, hash) = (run.message.clone(), run.start_tree.clone());
        self.add_part(session, &message, json!({"type": "patch", "hash": hash, "files": files}));
        self.complete_step(session);
    }

    fn complete_step(&mut self, session: &str) {
        let now = self.now_ms;
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        let goes_on =
            run.finish.is_some_and(|finish| finish.reason == FinishReason::ToolCalls) && !run.rejected;
        let rejected = run.rejected;
        let message = run.message.clone();
        if let Some(message) = owner.message_mut(&message) {
            message.info["time"]["completed"] = json!(now);
        }
        self.emit_message(session, &message);
        if goes_on {
            self.emit_status(session, "busy");
            self.begin_step(session);
            return;
        }
        if !rejected {
            self.emit_status(session, "busy");
        }
        self.end_turn(session, "completed");
    }

    /// Idle again. Jobs that follow are no part of the turn: idle is not its last event.
    pub(crate) fn end_turn(&mut self, session: &str, reason: &str) {
        self.emit_status(session, "idle");
        self.emit_session(session, "session.idle", json!({"sessionID": session}));
        if self.profile.turn_events {
            let properties = json!({"sessionID": session, "reason": reason});
            self.emit_session(session, "session.turn.close", properties);
        }
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.take() else { return };
        let mut answer = owner.message(&run.message).map(Message::wire).unwrap_or_default();
        if self.profile.step_metrics
            && let Some(part) = answer.pointer_mut("/parts/0")
            && part["type"] == "step-start"
        {
            // The answer to a blocking prompt tells it; events and lists do not.
            part["time"] = json!({"start": run.answer_began_ms});
        }
        let next = owner.queue.pop_front();
        if let Some(ticket) = run.ticket {
            self.reply(ticket, 200, ReplyBody::Json(answer));
        }
        if reason == "completed" {
            let job = Job {
                session: session.to_owned(),
                prompt: run.prompt,
                prompt_tree: run.first_tree.unwrap_or_default(),
                tree: run.end_tree,
                then: Then::Title,
            };
            self.run_job(job);
        }
        if let Some(prompt) = next {
            self.begin_turn(session, prompt);
        }
    }
}
