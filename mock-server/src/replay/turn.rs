//! Prompts: one is answered when its turn has ended, another at once, whichever of both was recorded.

use super::asks::Asks;
use super::{Repeated, Replay, json_reply, near_miss};
use crate::performer::{Act, WireReply};
use crate::world::{ApiRequest, Ticket};
use bytes::Bytes;

/// Somebody waits for the end of a turn whose recorded client did not.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) session: String,
    pub(super) ticket: Ticket,
    /// The message of the prompt, when it has been told.
    pub(super) prompt: Option<String>,
}

impl Replay {
    /// A prompt is answered as its sender means it: at once, or when the turn has ended.
    pub(super) fn answering(&self, index: usize, request: &ApiRequest, acts: &mut Vec<Act>) -> Repeated {
        let is_async = |path: &str| path.ends_with("/prompt_async");
        let cause = &self.course.causes[index];
        let status = cause.answer.as_ref().map_or(200, |answer| answer.status);
        let is_turn = matches!(cause.asks, Asks::Turn(_));
        match (is_turn, is_async(&cause.path), is_async(&request.path)) {
            // What was refused on sight is refused on both routes.
            (true, false, true) if !(400..500).contains(&status) => {
                let empty = WireReply::new(204, None, Bytes::new());
                acts.push(Act::Reply(request.ticket, empty));
                Repeated::Answered
            }
            (true, true, false) if status == 204 => Repeated::AtTheEnd(request.ticket),
            _ => Repeated::AsRecorded(request.ticket),
        }
    }

    /// Lets somebody wait for the end of his turn, if it is recorded.
    pub(super) fn await_end(&mut self, at: usize, turn: Turn, acts: &mut Vec<Act>) {
        if self.is_idle_after(at, &turn.session) {
            self.turns.push(turn);
        } else {
            let session = &turn.session;
            let why = format!("the recording ends before the turn of {session}; prompt with prompt_async");
            acts.push(Act::Reply(turn.ticket, near_miss(&why)));
        }
    }

    /// Lets somebody wait for the end of a turn that began before he asked, or has ended already.
    pub(super) fn await_or_end(&mut self, turn: Turn, acts: &mut Vec<Act>) {
        if self.is_idle_after(self.first, &turn.session) {
            return self.turns.push(turn);
        }
        let answer = self.told.answer_to(&turn.session, None);
        let why = || near_miss(&format!("the recorded agent did not answer in {}", turn.session));
        acts.push(Act::Reply(turn.ticket, answer.map_or_else(why, |answer| json_reply(200, &answer))));
    }

    /// The prompts of a session are told in the order in which they were sent.
    pub(super) fn note_prompt(&mut self, session: &str, prompt: &str) {
        let mut open = self.turns.iter_mut().filter(|turn| turn.session == session);
        if let Some(turn) = open.find(|turn| turn.prompt.is_none()) {
            turn.prompt = Some(prompt.to_owned());
        }
    }

    /// The session is idle at `at`: those whose prompts are answered have waited long enough. A turn that is
    /// aborted is idle once before its end is told, and once after; one that was queued begins after an idle.
    pub(super) fn end_turns(&mut self, at: usize, session: &str, acts: &mut Vec<Act>) {
        let is_last = !self.is_idle_after(at + 1, session);
        for turn in std::mem::take(&mut self.turns) {
            let prompt = turn.prompt.as_deref();
            let answer = self.told.answer_to(session, prompt).filter(|_| turn.session == session);
            match answer {
                Some(answer) if is_last || answer["info"]["time"].get("completed").is_some() => {
                    acts.push(Act::Reply(turn.ticket, json_reply(200, &answer)));
                }
                None if is_last && turn.session == session => {
                    let why = format!("the recorded agent did not answer in {session}");
                    acts.push(Act::Reply(turn.ticket, near_miss(&why)));
                }
                _ => self.turns.push(turn),
            }
        }
    }

    /// Does the recording tell from `at` on that a session becomes idle?
    fn is_idle_after(&self, at: usize, session: &str) -> bool {
        let later = self.course.moments[at..].iter().filter_map(|moment| moment.what.sent());
        let mut open = later.filter(|sent| !self.told.has_taken(&sent.event));
        open.any(|sent| sent.kind() == "session.idle" && sent.session() == Some(session))
    }
}
