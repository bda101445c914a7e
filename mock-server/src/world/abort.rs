//! The person ends a turn: what is open is closed, and what was on its way is forgotten.

use super::run::TurnEnd;
use super::summary::Then;
use super::{ApiRequest, Beside, Effect, FileChange, Purpose, World};
use serde_json::{Value, json};
use std::collections::VecDeque;

impl World {
    /// `POST /session/{id}/abort`. It is true for a session without a turn too, even for an unknown one.
    pub(super) fn abort(&mut self, request: &ApiRequest, session: &str) {
        self.pause_goal(session);
        match self.run_mut(session).map(|run| run.retry.is_some()) {
            Some(_) if self.runs_person_line(session) => self.abort_person_line(session),
            Some(waits_to_retry) => self.abort_turn(session, waits_to_retry),
            None => {
                let directory = match self.sessions.get(session) {
                    Some(owner) => owner.directory.clone(),
                    None => self.directory_of(request),
                };
                self.tell_all_idle(&directory, session);
            }
        }
        self.reply_json(request.ticket, json!(true));
    }

    /// Nothing ran in a session that was to be ended.
    pub(super) fn tell_all_idle(&mut self, directory: &str, session: &str) {
        self.tell_idle(directory, session);
        if self.profile.turn_events {
            for below in self.descendants(session) {
                self.tell_idle(directory, &below);
            }
            self.emit(directory, "session.drain.interrupted", json!({"sessionID": session}));
        }
    }

    fn tell_idle(&mut self, directory: &str, session: &str) {
        let status = json!({"sessionID": session, "status": {"type": "idle"}});
        self.emit(directory, "session.status", status);
        self.emit(directory, "session.idle", json!({"sessionID": session}));
    }

    /// The sessions below one: its children, then theirs.
    pub(super) fn descendants(&self, session: &str) -> Vec<String> {
        let mut all = self.children_of(session);
        let below: Vec<String> = all.iter().flat_map(|child| self.descendants(child)).collect();
        all.extend(below);
        all
    }

    /// A turn that waits to try again is ended without an error; of any other, idle is told twice. Other agents that
    /// work for it are ended too.
    fn abort_turn(&mut self, session: &str, waits_to_retry: bool) {
        self.abort_turn_and(session, waits_to_retry, None);
    }

    /// The same, and something behind it.
    pub(super) fn abort_turn_then(&mut self, session: &str, then: Cut) {
        let waits_to_retry = self.run_mut(session).is_some_and(|run| run.retry.is_some());
        self.abort_turn_and(session, waits_to_retry, Some(then));
    }

    fn abort_turn_and(&mut self, session: &str, waits_to_retry: bool, then: Option<Cut>) {
        if self.asks_about_plan(session) {
            // All its steps are over.
            self.drop_queue(session);
            self.end_turn(session, TurnEnd::Interrupted);
            let told = (!self.disposes).then(|| Cut::Interrupted(session.to_owned()));
            return self.cut(told.into_iter().chain(then).collect());
        }
        let late = self.profile.children_end_late;
        // No call that is cancelled ends the step.
        if let Some(run) = self.run_mut(session) {
            run.finish = None;
        }
        let mut cuts = VecDeque::new();
        let children = self.working_children(session);
        if self.profile.turn_events {
            let directory = self.sessions.get(session).map(|owner| owner.directory.clone());
            for below in self.descendants(session) {
                if self.sessions.get(&below).is_some_and(|owner| owner.run.is_none()) {
                    self.tell_idle(directory.as_deref().unwrap_or_default(), &below);
                }
            }
        }
        for (call, child) in &children {
            cuts.push_back(Cut::Tell(child.clone()));
            cuts.push_back(Cut::Cancel(session.to_owned(), *call, child.clone()));
            cuts.push_back(Cut::GoOn(session.to_owned(), *call));
            cuts.push_back(Cut::Interrupted(child.clone()));
        }
        let end_of = |(_, child): &(usize, String)| {
            Cut::End(child.clone(), Some(aborted()), Some(TurnEnd::Interrupted))
        };
        // Who has asked somebody has a call to end as well, which takes longer than the end of the giver.
        let (asking, plain): (Vec<_>, Vec<_>) =
            children.iter().partition(|(_, child)| late && self.permissions.asks_in(child));
        let ends: Vec<Cut> = plain.into_iter().map(end_of).collect();
        let last: Vec<Cut> = asking.into_iter().map(end_of).collect();
        if !late {
            cuts.extend(ends.iter().cloned());
        }
        cuts.push_back(if waits_to_retry {
            Cut::Forget(session.to_owned())
        } else {
            Cut::Tell(session.to_owned())
        });
        if late {
            cuts.extend(ends);
        }
        let error = (!waits_to_retry).then(aborted);
        cuts.push_back(Cut::End(session.to_owned(), error, Some(TurnEnd::Interrupted)));
        cuts.extend(last);
        if !self.disposes {
            cuts.push_back(Cut::Interrupted(session.to_owned()));
            self.cancel_work(session, &mut cuts);
        }
        cuts.extend(then);
        self.cut(cuts);
    }

    /// The turn may be work that another session's call has given: that waits no more, and the end is told once more.
    fn cancel_work(&mut self, session: &str, cuts: &mut VecDeque<Cut>) {
        let given = self.run_mut(session).and_then(|run| run.for_call.clone());
        let Some((giver, call)) = given.filter(|(giver, _)| self.run_mut(giver).is_some()) else { return };
        let is_stop = |cut: &Cut| matches!(cut, Cut::Tell(of) | Cut::Forget(of) if of == session);
        let stop = cuts.iter().position(is_stop).map_or(0, |at| at + 1);
        let (is_first, goes_on) = (self.profile.children_end_late, Cut::GoOn(giver.clone(), call));
        cuts.insert(if is_first { 0 } else { stop }, Cut::Cancel(giver, call, session.to_owned()));
        cuts.push_back(Cut::Idle(session.to_owned()));
        cuts.push_back(Cut::Interrupted(session.to_owned()));
        let place = if is_first { 1 } else { cuts.len() };
        cuts.insert(place, goes_on);
    }

    /// Is work that a session has given being ended right now? Some servers are done with that first.
    pub(crate) fn cuts_work_of(&self, session: &str) -> bool {
        let is_its = |purpose: &Purpose| match purpose {
            Purpose::CutTree(rest) => {
                let cut = self.sessions.get(&rest.session);
                cut.and_then(|cut| cut.parent.as_deref()) == Some(session)
            }
            _ => false,
        };
        self.profile.children_end_late && self.waiting.values().any(is_its)
    }

    /// The instance of a turn is disposed of.
    pub(super) fn stop_turn(&mut self, session: &str) {
        self.pause_goal(session);
        if self.runs_person_line(session) {
            return self.abort_person_line(session);
        }
        if let Some(waits_to_retry) = self.run_mut(session).map(|run| run.retry.is_some()) {
            self.abort_turn(session, waits_to_retry);
        }
    }

    /// Does what is to be done when turns are cut short, one after the other.
    pub(crate) fn cut(&mut self, mut cuts: VecDeque<Cut>) {
        // An instance that is disposed of looks at no files any more.
        let disposes = self.disposes;
        while let Some(cut) = cuts.pop_front() {
            match cut {
                Cut::Forget(session) => {
                    self.drop_queue(&session);
                    self.forget_turn(&session);
                }
                Cut::Tell(session) => {
                    self.drop_queue(&session);
                    self.tell_end(&session, &aborted());
                }
                Cut::Goal(session, call) => self.answer_goal(&session, *call),
                Cut::Cancel(session, call, child) => self.cancel_task(&session, call, &child),
                Cut::GoOn(session, call) => self.call_done(&session, call),
                Cut::Idle(session) => self.emit_idle(&session),
                Cut::Interrupted(session) => {
                    if self.profile.turn_events {
                        self.emit_session(
                            &session,
                            "session.drain.interrupted",
                            json!({"sessionID": session}),
                        );
                    }
                    self.plan_question_aborted(&session);
                }
                Cut::End(session, error, end) => {
                    let Some(run) = self.run_mut(&session) else { continue };
                    // No call that is stopped ends the step.
                    run.finish = None;
                    let calls = run.calls.len();
                    let has_begun = !run.start_tree.is_empty() && !disposes;
                    for call in 0..calls {
                        self.stop_shell(&session, call);
                        self.stop_question(&session, call);
                        self.stop_suggestion(&session, call);
                    }
                    if end == Some(TurnEnd::Interrupted) {
                        self.unsay(&session);
                    }
                    let Some(owner) = self.sessions.get(&session) else { continue };
                    let directory = owner.directory.clone();
                    let rest = Rest { session, error, end, cuts };
                    if has_begun {
                        let snapshot = Effect::Snapshot { directory, beside: Beside::Nothing };
                        self.effect(Purpose::CutTree(Box::new(rest)), snapshot);
                        return;
                    }
                    cuts = self.end_cut(rest);
                }
            }
        }
    }

    /// The files at the end of a step that is cut short are known.
    pub(crate) fn cut_tree(&mut self, rest: Rest, tree: String) {
        let from = self.run_mut(&rest.session).map(|run| run.start_tree.clone()).unwrap_or_default();
        if tree == from {
            let cuts = self.end_cut(rest);
            self.cut(cuts);
        } else {
            self.effect(
                Purpose::CutChanges(Box::new(rest)),
                Effect::Changes { from, to: tree, beside: Beside::Nothing },
            );
        }
    }

    /// What that step changed is known.
    pub(crate) fn cut_changes(&mut self, rest: Rest, changes: &[FileChange]) {
        self.tell_patch(&rest.session, changes);
        let cuts = self.end_cut(rest);
        self.cut(cuts);
    }

    fn end_cut(&mut self, rest: Rest) -> VecDeque<Cut> {
        self.close_step(&rest.session, rest.error);
        match rest.end {
            Some(end) => self.end_turn(&rest.session, end),
            None => self.sum_up_instead(&rest.session),
        }
        rest.cuts
    }

    /// The prompts that wait are forgotten; who sent them gets the answer of the turn that is cut.
    fn drop_queue(&mut self, session: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        if owner.queue.is_empty() {
            return;
        }
        let queued: Vec<_> = owner.queue.drain(..).collect();
        if let Some(run) = owner.run.as_mut() {
            queued.into_iter().for_each(|queued| run.take_waiting(queued));
        }
        self.emit_queue(session);
    }

    /// Why a turn ends, and that it is over: the message of the step is closed behind it.
    pub(crate) fn tell_end(&mut self, session: &str, error: &Value) {
        self.forget_turn(session);
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        self.emit_idle(session);
    }

    /// Nothing that the turn waits for comes any more. Its summary jobs go on.
    pub(crate) fn forget_turn(&mut self, session: &str) {
        self.drop_waiting(|purpose| purpose.is_of_turn(session));
        self.cancel_calls(session);
        if !self.profile.session_summary {
            return;
        }
        for purpose in self.waiting.values_mut() {
            if let Purpose::JobSession(job) | Purpose::JobPrompt(job) = purpose
                && job.session == session
                && job.then == Then::AskModel
            {
                job.then = Then::Nothing;
            }
        }
    }
}

/// One of the things that are done when turns are cut short.
#[derive(Debug, Clone)]
pub(crate) enum Cut {
    /// The command is answered for which the turn was ended.
    Goal(String, Box<super::goal::GoalCall>),
    /// Nothing of the turn comes any more.
    Forget(String),
    /// The same, and it is told that the person ended it.
    Tell(String),
    /// A call waits for this other session no more.
    Cancel(String, usize, String),
    /// The session is told to be idle.
    Idle(String),
    /// Who has made a call that waits no more goes on.
    GoOn(String, usize),
    /// What ran for the session has been stopped.
    Interrupted(String),
    /// The step that runs is closed, perhaps with an error, and with it the turn; or what was said is summed up.
    End(String, Option<Value>, Option<TurnEnd>),
}

/// A turn that is about to end, and what is to be done behind it.
#[derive(Debug)]
pub(crate) struct Rest {
    pub(crate) session: String,
    error: Option<Value>,
    end: Option<TurnEnd>,
    cuts: VecDeque<Cut>,
}

fn aborted() -> Value {
    json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}})
}

impl Purpose {
    /// Is it for the running turn of this session?
    fn is_of_turn(&self, session: &str) -> bool {
        match self {
            Self::StepStart(of)
            | Self::StepEnd(of)
            | Self::StepChanges(of)
            | Self::Answer(of)
            | Self::AnswerEnd(of, ..)
            | Self::Late(of, _)
            | Self::Retry(of)
            | Self::CallStart(of, _)
            | Self::CallRead(of, _)
            | Self::CallStudied(of, _)
            | Self::CallLooked(of, _)
            | Self::CallFetched(of, _)
            | Self::TaskStart(of, _)
            | Self::Shell(of, _)
            | Self::PersonLine(of)
            | Self::CallWritten(of, _) => of == session,
            Self::FormatterLine(written) => written.is_of_turn(session),
            Self::Place(ask) => ask.is_of_turn(session),
            Self::ToolServer
            | Self::ToolPatience(..)
            | Self::News(_)
            | Self::RuleKept
            | Self::OutputKept
            | Self::CutTree(_)
            | Self::CutChanges(_)
            | Self::WrittenLate(..)
            | Self::Rewind(_)
            | Self::GoalRest(_)
            | Self::Letter(_)
            | Self::CommandLine(_)
            | Self::Terminal(_)
            | Self::Process(_)
            | Self::Alongside(_)
            | Self::Worktree(_)
            | Self::WorktreeLine(_)
            | Self::CommandName(_)
            | Self::Folder(_)
            | Self::Project(_)
            | Self::NextFiles(..)
            | Self::JobSession(_)
            | Self::JobPrompt(_)
            | Self::NextStep(_)
            | Self::NextRevert(..)
            | Self::Aside(_)
            | Self::AsideAgain(_)
            | Self::WordsLate(_) => false,
        }
    }
}
