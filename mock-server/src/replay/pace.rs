//! Replays that wait for nobody: everything comes at its time, whether or not the client asks for it as the recorded
//! one did. For clients that only watch, and for what a screen makes of the recorded tempo.
//!
//! An answer comes at its time, too: who asks sooner waits for it, who asks later has it at once.

use super::asks::{Asks, moved_body};
use super::course::What;
use super::turn::Turn;
use super::{Repeated, Replay, near_miss};
use crate::performer::Act;
use crate::world::ApiRequest;

/// What the moments of a recording wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// For the requests that caused them.
    #[default]
    Causal,
    /// For their time, counted from the first stream or the first request that causes something.
    Recorded,
    /// For nothing: all of it comes with the first stream or the first request that causes something.
    AtOnce,
}

impl Replay {
    /// Plays all whose time has come, and asks to be woken for the next.
    pub(super) fn go_on(&mut self, now_ms: u64, acts: &mut Vec<Act>) {
        let begun_ms = *self.begun_ms.get_or_insert(now_ms);
        self.has_begun = true;
        while let Some(moment) = self.course.moments.get(self.first) {
            let at_ms = begun_ms + moment.at_ms;
            if self.pace == Pace::Recorded && at_ms > now_ms {
                return acts.push(Act::WakeAt(at_ms, 0));
            }
            self.come(self.first, acts);
        }
    }

    /// A request that causes something: any that was recorded and has not been repeated.
    pub(super) fn repeat_any(&mut self, request: &ApiRequest, acts: &mut Vec<Act>) {
        let asks = Asks::of(&request.method, &request.path);
        let body = moved_body(request, &self.workspace);
        let mut near = None;
        for (index, cause) in self.course.causes.iter().enumerate() {
            if self.repeated[index].is_some() || cause.is_refused || cause.asks != asks {
                continue;
            }
            let differences = asks.differences(&cause.body, &body);
            if differences.is_empty() {
                self.learn_names(index, &body);
                let how = self.answering(index, request, acts);
                self.repeated[index] = Some(how);
                return self.answer_late(index, how, acts);
            }
            near.get_or_insert(differences);
        }
        let (method, path) = (&request.method, &request.path);
        let why = match near {
            Some(differences) => format!("{method} {path} has another body: {}", differences.join("; ")),
            None => format!("{method} {path} is not in the recording, or not that often"),
        };
        acts.push(Act::Reply(request.ticket, near_miss(&why)));
    }

    /// Answers somebody who asks for what has been answered in the recording before now.
    fn answer_late(&mut self, index: usize, how: Repeated, acts: &mut Vec<Act>) {
        let is_answer = |what: &What| matches!(what, What::Answer(answered) if *answered == index);
        let passed = &self.course.moments[..self.first];
        if !passed.iter().any(|moment| is_answer(&moment.what)) {
            return;
        }
        let cause = &self.course.causes[index];
        match (how, &cause.answer, &cause.asks) {
            (Repeated::AsRecorded(ticket), Some(answer), _) => acts.push(Act::Reply(ticket, answer.clone())),
            (Repeated::AtTheEnd(ticket), _, Asks::Turn(session)) => {
                let turn = Turn { session: session.clone(), ticket, prompt: None };
                self.await_or_end(turn, acts);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
