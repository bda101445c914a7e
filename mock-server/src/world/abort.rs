//! The person ends a turn: what is open is closed, and what was on its way is forgotten.

use super::summary::Then;
use super::turn::TurnEnd;
use super::{ApiRequest, Output, Purpose, World};
use serde_json::{Value, json};

impl World {
    /// `POST /session/{id}/abort`. It is true for a session without a turn too, even for an unknown one.
    pub(super) fn abort(&mut self, request: &ApiRequest, session: &str) {
        match self.run_mut(session).map(|run| run.retry.is_some()) {
            Some(waits_to_retry) => {
                self.abort_turn(session, waits_to_retry);
                if self.profile.turn_events {
                    self.emit_session(session, "session.drain.interrupted", json!({"sessionID": session}));
                }
            }
            None => {
                let directory = match self.sessions.get(session) {
                    Some(owner) => owner.directory.clone(),
                    None => self.directory_of(request),
                };
                let status = json!({"sessionID": session, "status": {"type": "idle"}});
                self.emit(&directory, "session.status", status);
                self.emit(&directory, "session.idle", json!({"sessionID": session}));
                if self.profile.turn_events {
                    self.emit(&directory, "session.drain.interrupted", json!({"sessionID": session}));
                }
            }
        }
        self.reply_json(request.ticket, json!(true));
    }

    /// A turn that waits to try again is ended without an error; of any other, idle is told twice. Other agents that
    /// work for it are ended too.
    fn abort_turn(&mut self, session: &str, waits_to_retry: bool) {
        let children = self.working_children(session);
        for (call, child) in &children {
            self.tell_abort(child);
            self.cancel_task(session, *call, child);
            if self.profile.turn_events {
                self.emit_session(child, "session.drain.interrupted", json!({"sessionID": child}));
            }
        }
        if !self.profile.children_end_late {
            children.iter().for_each(|(_, child)| self.end_aborted(child, Some(aborted())));
        }
        let error = if waits_to_retry {
            self.forget_turn(session);
            None
        } else {
            self.tell_abort(session);
            Some(aborted())
        };
        if self.profile.children_end_late {
            children.iter().for_each(|(_, child)| self.end_aborted(child, Some(aborted())));
        }
        self.end_aborted(session, error);
    }

    /// The instance of a turn is disposed of.
    pub(super) fn stop_turn(&mut self, session: &str) {
        if let Some(waits_to_retry) = self.run_mut(session).map(|run| run.retry.is_some()) {
            self.abort_turn(session, waits_to_retry);
        }
    }

    fn tell_abort(&mut self, session: &str) {
        self.forget_turn(session);
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": aborted()}));
        self.emit_idle(session);
    }

    fn end_aborted(&mut self, session: &str, error: Option<Value>) {
        self.close_step(session, error);
        self.end_turn(session, TurnEnd::Interrupted);
    }

    /// Nothing that the turn waits for comes any more. Its summary jobs go on.
    pub(crate) fn forget_turn(&mut self, session: &str) {
        let of_turn = self.waiting.iter().filter(|(_, purpose)| purpose.is_of_turn(session));
        let dropped: Vec<_> = of_turn.map(|(id, _)| *id).collect();
        for id in dropped {
            self.waiting.remove(&id);
            self.outputs.push(Output::Drop(id));
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
            | Self::Retry(of)
            | Self::CallStart(of, _)
            | Self::CallRead(of, _)
            | Self::CallStudied(of, _)
            | Self::CallLooked(of, _)
            | Self::CallFetched(of, _)
            | Self::TaskStart(of, _)
            | Self::Shell(of, _)
            | Self::CallWritten(of, _) => of == session,
            Self::RuleKept
            | Self::OutputKept
            | Self::WrittenLate(..)
            | Self::Rewind(_)
            | Self::Place(_)
            | Self::JobSession(_)
            | Self::JobPrompt(_)
            | Self::Title(..) => false,
        }
    }
}
