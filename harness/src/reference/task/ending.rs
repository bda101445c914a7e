//! How the answer to a prompt ends, and how it is found out.

use super::super::event::{Failure, Message};
use super::super::strategy::Turns;
use super::super::strategy::turn::{OnIdle, Turn as Known};
use super::super::turn::{News, Turn};
use super::Task;
use crate::protocol::{Outcome, TaskState, Update};

impl Task {
    pub(super) fn idle(&mut self, turns: &dyn Turns) -> News {
        let mut news = News::of(self.set_status(TaskState::Idle));
        let Some(turn) = &self.turn else { return news };
        let answer = self.answer_to(turn);
        // Of an answer that was cut a last word may be missing, which comes at once and in one event.
        let is_sure = |answer: &Message| answer.failure.is_none() && !answer.is_cut;
        let answered = answer.is_some_and(|answer| answer.completed && answer.last && is_sure(answer));
        // A turn that is over has no call at work: of one that has, the end was not heard.
        let is_whole = turn.failure.is_none() && !self.timeline.has_running_tool();
        let known = Known { begun: turn.begun, answered: answered && is_whole };
        match turns.on_idle(known) {
            OnIdle::Over => {
                let next = self.unanswered();
                news.updates.push(self.end(Outcome::Completed));
                self.turn = next;
            }
            OnIdle::Ask => news.doubt = true,
            OnIdle::Ignore => {}
        }
        news
    }

    pub(super) fn error(&mut self, failure: Failure, turns: &dyn Turns) -> News {
        if turns.error_ends() {
            return News::of(self.failed(&failure));
        }
        // Whose it is, is not known yet: it may be an older turn's, and late.
        if let Some(turn) = &mut self.turn {
            turn.failure = Some(failure);
        }
        News::default()
    }

    /// Prompts that were sent and are not answered by what has ended are a turn of their own.
    fn unanswered(&self) -> Option<Turn> {
        let turn = self.turn.as_ref()?;
        let newest = self.timeline.newest();
        let all = self.timeline.prompts();
        let arrived = all.difference(&turn.prompts).count().min(turn.sent);
        // Ids ascend, so what came after the prompt that was answered waits.
        let answered = newest.and_then(|newest| newest.parent.as_ref());
        let waits = |prompt: &&String| answered.is_some_and(|answered| *prompt > answered);
        let waiting = all.difference(&turn.prompts).filter(waits).count();
        let sent = waiting + (turn.sent - arrived);
        let prompts = all.iter().filter(|prompt| !waits(prompt)).cloned().collect();
        let before = newest.map(|message| message.id.clone());
        let (begun, failure, asked_about, waits_since_ms) = (false, None, 0, Some(self.heard_ms));
        (sent > 0).then_some(Turn { before, prompts, sent, begun, failure, asked_about, waits_since_ms })
    }

    /// The newest message of the assistant, if it came after the prompt.
    fn answer_to(&self, turn: &Turn) -> Option<&Message> {
        self.timeline.newest().filter(|newest| Some(&newest.id) != turn.before.as_ref())
    }

    /// The turn is over, and the person learns why.
    pub(in crate::reference) fn failed(&mut self, failure: &Failure) -> Vec<Update> {
        let over = self.turn.take().is_some();
        let outcome = if failure.aborted { Outcome::Aborted } else { Outcome::Error };
        let told = (!failure.aborted).then(|| Update::Error {
            task_id: Some(self.id.clone()),
            message: format!("the agent failed: {}", failure.message),
            retry: false,
        });
        told.into_iter().chain(over.then(|| self.terminal(outcome))).collect()
    }

    /// The turn is over.
    pub(in crate::reference) fn end(&mut self, outcome: Outcome) -> Update {
        self.turn = None;
        self.terminal(outcome)
    }

    fn terminal(&self, outcome: Outcome) -> Update {
        Update::Terminal { task_id: self.id.clone(), outcome }
    }

    /// After a refresh: if the turn ended in the gap, nobody will say so any more.
    pub(in crate::reference) fn settle(&mut self, patience: u32) -> Vec<Update> {
        let Some(turn) = &mut self.turn else { return Vec::new() };
        if self.status != TaskState::Idle {
            // It goes on: what was told of a failure was told of an older turn.
            turn.failure = None;
            return Vec::new();
        }
        let Some(turn) = &self.turn else { return Vec::new() };
        let answer = self.answer_to(turn);
        // An answer that is whole says itself whether it failed: what else was told is of an older turn.
        let is_whole = answer.is_some_and(|answer| answer.completed && answer.last);
        let told = turn.failure.clone().filter(|_| !is_whole);
        let failure = answer.and_then(|answer| answer.failure.clone()).or(told);
        let has_answer = answer.is_some_and(|answer| answer.completed);
        // What was sent while this was asked has an end of its own.
        let next = answer.and_then(|_| self.unanswered());
        match failure {
            Some(failure) if turn.begun || answer.is_some() || turn.asked_about > 0 => {
                let told = self.failed(&failure);
                self.turn = next;
                told
            }
            // A server that died in mid-turn leaves a message that nobody completes.
            _ if turn.begun || has_answer => {
                let told = self.end(if has_answer { Outcome::Completed } else { Outcome::Aborted });
                self.turn = next;
                vec![told]
            }
            _ if turn.asked_about >= patience => {
                let message =
                    "the server took the prompt and did not begin with it; send it again".to_owned();
                let told = Update::Error { task_id: Some(self.id.clone()), message, retry: false };
                vec![told, self.end(Outcome::Error)]
            }
            _ => Vec::new(),
        }
    }
}
