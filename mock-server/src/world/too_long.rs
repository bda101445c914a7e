//! The provider says that it was told too much: the conversation is summed up, and the turn goes on behind that.

use super::abort::Cut;
use super::run::TurnEnd;
use super::{World, session::merge};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// So many summaries are made in a turn, where a server counts them.
const SUMMARIES_MAX: u32 = 3;

impl World {
    /// The answer to the current step was refused for this.
    pub(crate) fn was_too_long(&mut self, session: &str, error: Value) {
        if !self.sums_up_by_itself(self.folder_of(session)) {
            self.mark_step(session, json!({"finish": "error"}));
            return self.fail_turn(session, error);
        }
        self.forget_turn(session);
        if let Some(run) = self.run_mut(session) {
            run.summed_up = None;
        }
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        self.cut(VecDeque::from([Cut::End(session.to_owned(), None, None)]));
    }

    /// The step that was refused is closed.
    pub(crate) fn sum_up_instead(&mut self, session: &str) {
        let Some(made) = self.run_mut(session).map(|run| run.compactions) else { return };
        if self.profile.replays_prompts && made >= SUMMARIES_MAX {
            let words = format!(
                "Compaction exhausted: context still exceeds model limits after {SUMMARIES_MAX} attempts"
            );
            let error = json!({"name": "ContextOverflowError", "data": {"message": words}});
            let message = self.mark_step(session, json!({"error": error, "finish": "error"}));
            self.emit_message(session, &message);
            self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
            return self.end_turn(session, TurnEnd::Error);
        }
        self.compact_for_run(session, json!({"auto": true, "overflow": true}));
        self.emit_status(session, "busy");
        self.next_step(session);
    }

    /// Puts something into the message of the current step, and says which that is.
    fn mark_step(&mut self, session: &str, how: Value) -> String {
        let id = self.run_mut(session).map(|run| run.message.clone()).unwrap_or_default();
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&id)) {
            merge(&mut message.info, how);
        }
        id
    }
}
