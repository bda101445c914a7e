//! From a prompt to idle: one step of the model after the other, until it calls no more tools.

use super::failure::filtered_out;
use super::history::is_finished;
use super::prompt::Queued;
use super::run::{CallState, Run, TurnEnd};
use super::session::Message;
use super::summary::{Job, Then};
use super::tokens::Tokens;
use super::{Beside, Effect, FileChange, Purpose, ReplyBody, World, git_renames, patch};
use crate::model::{Finish, FinishReason};
use crate::profile::{BootTiming, DiffStyle, FollowUps, TitleTiming};
use serde_json::{Value, json};
use std::collections::HashSet;

impl World {
    pub(crate) fn begin_turn(&mut self, session: &str, prompt: Queued) {
        self.open_turn(session);
        self.begin_opened_turn(session, prompt);
    }

    pub(crate) fn open_turn(&mut self, session: &str) {
        if self.profile.turn_events {
            self.emit_session(session, "session.turn.open", json!({"sessionID": session}));
        }
    }

    pub(crate) fn begin_opened_turn(&mut self, session: &str, prompt: Queued) {
        self.emit_status(session, "busy");
        let message = prompt.message.clone();
        if let Some(owner) = self.sessions.get_mut(session) {
            let mut run = Run {
                base: Some(prompt.message.clone()),
                prompt: prompt.message.clone(),
                summed_up: Some(prompt.message.clone()),
                ..Run::default()
            };
            run.take_waiting(prompt);
            owner.run = Some(run);
        }
        if let Some(answer) = self.known_answer(session, &message) {
            if let Some(run) = self.run_mut(session) {
                run.message = answer;
            }
            return self.end_turn(session, TurnEnd::Broken);
        }
        if self.is_first_prompt(session) && self.profile.title == TitleTiming::AtFirstPrompt {
            let until = self.sessions.get(session).map_or(0, |owner| owner.messages.len());
            self.ask_for_title(session, until);
        }
        self.next_step(session);
    }

    /// The latest answer, if it is one to this prompt and needs nothing more.
    fn known_answer(&self, session: &str, prompt: &str) -> Option<String> {
        let mut messages = self.sessions.get(session)?.messages.iter().rev();
        let answer = messages.find(|message| message.role() == "assistant")?;
        let has_calls = answer.parts.iter().any(|part| part["type"] == "tool");
        let is_whole = is_finished(answer) && !has_calls && answer.info["finish"] != "unknown";
        (self.profile.answers_once && is_whole && answer.info["parentID"] == prompt)
            .then(|| answer.id().to_owned())
    }

    pub(crate) fn push_message(&mut self, session: &str, message: &str, info: Value) {
        if let Some(owner) = self.sessions.get_mut(session) {
            match owner.message_mut(message) {
                // Who says an id again says more in the same message.
                Some(known) => known.info = info,
                None => owner.messages.push(Message { info, parts: Vec::new(), began_ms: None }),
            }
        }
        self.emit_message(session, message);
    }

    pub(crate) fn begin_step(&mut self, session: &str) {
        if let Some(run) = self.run_mut(session) {
            run.reminder = None;
        }
        self.remind_of_change(session);
        self.make_room_for_plans(session);
        let message = self.ids.ascending("msg", self.now_ms);
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let directory = owner.directory.clone();
        let Some(prompt) = owner.run.as_ref().map(|run| run.prompt.clone()) else { return };
        let asked = owner.message(&prompt).map(|prompt| prompt.info.clone()).unwrap_or_default();
        let Some(run) = owner.run.as_mut() else { return };
        run.message.clone_from(&message);
        run.begin_answer();
        run.start_tree.clear();
        run.attempt = 0;
        let (agent, model) = (&asked["agent"], &asked["model"]);
        let root = self.worktree_of(&directory);
        let mut info = json!({
            "id": message, "sessionID": session, "role": "assistant", "time": {"created": self.now_ms},
            "parentID": prompt, "modelID": model["modelID"], "providerID": model["providerID"],
            "mode": agent, "agent": agent,
            "path": {"cwd": directory, "root": root}, "cost": 0, "tokens": Tokens::default().wire(),
        });
        if let Some(variant) = model.get("variant") {
            info["variant"] = variant.clone();
        }
        self.push_message(session, &message, info);
        self.effect(Purpose::StepStart(session.to_owned()), self.snapshot_before_step(session, &directory));
    }

    /// The files before the step are known: a summary job runs, then the model is asked.
    pub(crate) fn step_started(&mut self, session: &str, tree: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.as_mut() else { return };
        tree.clone_into(&mut run.start_tree);
        // A turn that begins with a summary tells of nothing yet.
        let due = run.summed_up.take().filter(|_| run.compaction.is_none() || run.has_stepped);
        run.summed_up = Some(run.prompt.clone());
        match due {
            Some(prompt) => self.run_job(Job { session: session.to_owned(), prompt, then: Then::AskModel }),
            None => self.ask_model(session),
        }
    }

    /// Asks the model for the current step. The plugins come with the first one.
    pub(crate) fn ask_model(&mut self, session: &str) {
        if self.breaks_off_nowhere(session) {
            return;
        }
        if let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) {
            self.boot(&directory, BootTiming::AtPrompt);
        }
        self.emit_status(session, "busy");
        self.settle_sandbox(session);
        if !self.waits_for_servers(session) {
            self.ask_offering(session);
        }
    }

    /// Asks the model, with the tools that there are now.
    pub(crate) fn ask_offering(&mut self, session: &str) {
        let request = self.turn_request(session);
        if self.fails_untold(session, &request.messages) {
            return;
        }
        self.effect(Purpose::Answer(session.to_owned()), Effect::AskModel(request));
    }

    /// The step is over when the model has finished and every call has a result.
    pub(crate) fn end_step_if_done(&mut self, session: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        if run.finish.is_some() && run.calls.iter().all(|call| call.state == CallState::Done) {
            let directory = owner.directory.clone();
            self.step_of_calls_ends(session);
            self.effect(Purpose::StepEnd(session.to_owned()), self.snapshot_behind_step(session, &directory));
        }
    }

    /// The files after the step are known.
    pub(crate) fn step_ended(&mut self, session: &str, tree: &str) {
        let now = self.now_ms;
        let nowhere = self.tells_no_tree(session);
        let Some(run) = self.sessions.get_mut(session).and_then(|owner| owner.run.as_mut()) else { return };
        let Some(Finish { reason, usage }) = run.finish else { return };
        let (message, start_tree) = (run.message.clone(), run.start_tree.clone());
        let began = run.answer_began_ms.unwrap_or(now);
        let prices = self.prices(session, &message);
        let tokens = Tokens::of(usage).priced(&prices);
        let Some(run) = self.run_mut(session) else { return };
        let reason = match reason {
            _ if run.unfinished => self.profile.unfinished,
            FinishReason::Stop => "stop",
            FinishReason::ToolCalls => "tool-calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content-filter",
        };
        let mut part = json!({"type": "step-finish", "reason": reason});
        if !tree.is_empty() || nowhere {
            part["snapshot"] = json!(tree);
        }
        if self.profile.step_metrics {
            let elapsed = now.saturating_sub(began).max(1);
            if tokens.written() > 0 {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "tokens and milliseconds of one step are small"
                )]
                let per_second = tokens.written() as f64 * 1000.0 / elapsed as f64;
                part["metrics"] = json!({"generation": per_second, "source": "computed"});
            }
            part["time"] = json!({"start": began, "end": now, "elapsed": elapsed});
        }
        part["cost"] = tokens.wire_cost();
        part["tokens"] = tokens.wire_with_total();
        self.add_part(session, &message, part);
        if self.end_if_lost(session) {
            return;
        }
        if reason == "length" && self.profile.warns_of_length {
            self.warn_of_length(session, &message);
        }
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.tokens.add(tokens);
            if let Some(message) = owner.message_mut(&message) {
                message.info["cost"] = tokens.cost_on(&message.info["cost"]);
                message.info["tokens"] = tokens.wire_with_total();
                message.info["finish"] = json!(reason);
            }
        }
        if !start_tree.is_empty() || !self.profile.tells_as_it_is {
            self.emit_message(session, &message);
        }
        if tree == start_tree && !self.cuts_work_of(session) {
            self.complete_step(session);
        } else {
            let effect = Effect::Changes { from: start_tree, to: tree.to_owned(), beside: Beside::Nothing };
            self.effect(Purpose::StepChanges(session.to_owned()), effect);
        }
    }

    /// It is known which files the step changed.
    pub(crate) fn step_changed(&mut self, session: &str, changes: &[FileChange]) {
        if !changes.is_empty() {
            self.tell_patch(session, changes);
        }
        self.complete_step(session);
    }

    /// Tells which files the step changed.
    pub(crate) fn tell_patch(&mut self, session: &str, changes: &[FileChange]) {
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        let in_folder = |change: &FileChange| {
            // The servers take the backslashes of a quoted name for folders.
            let name = patch::git_name(&change.path).replace('\\', "/").replace("//", "/");
            format!("{}/{name}", self.worktree_of(&owner.directory))
        };
        // Of a file that was moved some servers tell only the new place.
        let tells_moves = self.profile.diff_style == DiffStyle::Git;
        let moved = if tells_moves { HashSet::new() } else { git_renames::old_places(changes) };
        let stays = |change: &&FileChange| !moved.contains(change.path.as_str());
        let files: Vec<String> = changes.iter().filter(stays).map(in_folder).collect();
        let (message, hash) = (run.message.clone(), run.start_tree.clone());
        self.add_part(session, &message, json!({"type": "patch", "hash": hash, "files": files}));
    }

    fn complete_step(&mut self, session: &str) {
        let now = self.now_ms;
        if self.end_if_lost(session) {
            return;
        }
        if self.is_gone(session) {
            return self.end_gone(session);
        }
        let wants_form = self.wants_form(session);
        let structured = self.structured(session);
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.as_mut() else { return };
        run.has_stepped = true;
        let reason = run.finish.filter(|_| !run.unfinished).map(|finish| finish.reason);
        let no_calls = reason == Some(FinishReason::ToolCalls) && run.calls.is_empty();
        let calls = !run.calls.is_empty() || no_calls && !self.profile.empty_calls_end;
        let filtered = reason == Some(FinishReason::ContentFilter) && run.stopped.is_none();
        let unfinished = run.unfinished && self.profile.unfinished_goes_on;
        let stopped = run.stopped.is_some();
        let rejected = run.rejected || stopped;
        let message = run.message.clone();
        let was_kept = !run.start_tree.is_empty();
        let lacks_form = wants_form && structured.is_none() && !calls && !unfinished && !filtered;
        let followed = !rejected
            && !owner.queue.is_empty()
            && (run.has_follow_up || self.profile.follow_ups == FollowUps::NextStep);
        if let Some(message) = owner.message_mut(&message) {
            if no_calls && self.profile.empty_calls_end {
                message.info["finish"] = json!("stop");
            }
            message.info["time"]["completed"] = json!(now);
            if filtered && self.profile.tells_filters_early {
                message.info["error"] = filtered_out();
            }
            if self.profile.tells_filters_early {
                if lacks_form {
                    message.info["error"] = Self::lacks_form();
                }
                if let Some(structured) = &structured {
                    message.info["structured"] = structured.clone();
                }
            }
        }
        if !was_kept && self.profile.tells_as_it_is {
            self.emit_message(session, &message);
        }
        self.emit_message(session, &message);
        if let Some(structured) = structured {
            return self.end_in_form(session, &message, json!({"structured": structured}));
        }
        if lacks_form {
            return self.end_in_form(session, &message, json!({"error": Self::lacks_form()}));
        }
        if filtered {
            return self.end_filtered(session, &message);
        }
        let is_continued = self.finish_compaction(session) || self.compact_after_step(session);
        let goes_on = !rejected && (calls || unfinished || followed || is_continued);
        if followed && self.profile.follow_ups == FollowUps::OwnTurns {
            self.end_turn(session, TurnEnd::Superseded);
            return;
        }
        if goes_on {
            let asks = calls && self.has_planned(session);
            if !asks {
                self.take_follow_ups(session);
            }
            self.emit_status(session, "busy");
            if asks {
                self.ask_what_follows_the_plan(session);
            } else {
                self.next_step(session);
            }
            return;
        }
        if !rejected {
            self.emit_status(session, "busy");
        }
        self.end_turn(session, if stopped { TurnEnd::Error } else { TurnEnd::Completed });
    }

    /// Idle again. Jobs that follow are no part of the turn: idle is not its last event.
    pub(crate) fn end_turn(&mut self, session: &str, end: TurnEnd) {
        let interrupted = end == TurnEnd::Interrupted;
        if interrupted && self.profile.follow_ups == FollowUps::NextStep {
            self.tell_executed(session);
        }
        if interrupted && !self.disposes {
            self.emit_turn_close(session, end);
            self.emit_idle(session);
        } else {
            self.emit_idle(session);
            self.emit_turn_close(session, end);
        }
        if self.is_gone(session) {
            return self.bury(session);
        }
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(mut run) = owner.run.take() else { return };
        if interrupted || self.profile.follow_ups == FollowUps::NextStep {
            // No step of this turn answers them any more.
            owner.queue.drain(..).for_each(|queued| run.take_waiting(queued));
        }
        let answer = owner.message(&run.message).map(Message::wire_as_kept).unwrap_or_default();
        let next = owner.queue.pop_front();
        self.goal_turn_over(session, end, run.base.as_ref(), next.is_some());
        for ticket in run.tickets {
            self.reply(ticket, 200, ReplyBody::Json(answer.clone()));
        }
        for ticket in run.yes {
            self.reply_json(ticket, json!(true));
        }
        for command in run.commands {
            self.executed(session, command, &run.message);
        }
        let then = if interrupted { Then::Nothing } else { Then::Title };
        if matches!(end, TurnEnd::Completed | TurnEnd::Superseded)
            || run.stopped.is_some()
            || run.finish.is_some() && end != TurnEnd::Broken
        {
            if run.summed_up.is_some() {
                self.run_job(Job { session: session.to_owned(), prompt: run.prompt, then });
            } else if !interrupted {
                // That was told when the person was asked what comes after a plan.
                self.title_after_work(session, &run.prompt);
            }
        } else if end == TurnEnd::Error {
            self.title_after_work(session, &run.prompt);
        }
        if !interrupted && end != TurnEnd::Broken {
            self.forget_old_outputs(session);
        }
        if let Some((parent, call)) = run.for_call {
            self.task_done(&parent, call, &answer);
        }
        if let Some(prompt) = next {
            self.emit_queue(session);
            self.begin_turn(session, prompt);
        }
        self.goal_if_due(session);
    }

    pub(super) fn emit_turn_close(&mut self, session: &str, end: TurnEnd) {
        if self.profile.turn_events {
            let mut properties = json!({"sessionID": session});
            if let Some(parent) = self.sessions.get(session).and_then(|owner| owner.parent.as_ref()) {
                properties["parentID"] = json!(parent);
            }
            properties["reason"] = json!(end.word());
            self.emit_session(session, "session.turn.close", properties);
        }
    }
}
