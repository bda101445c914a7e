//! What nobody hears of: Kilo looks anew in each step whether it keeps files, where its client wants none kept, and what
//! the model says waits for that. Who aborts meanwhile finds a message without parts; the calls have begun by then, and
//! may have asked.

use super::World;

/// So long an answer is unsaid: 40 ms on a quiet machine, 60 to 110 in the recordings.
pub(crate) const UNSAID_MS: u64 = 100;

impl World {
    /// Has the answer of this session just begun, for a client that hears of it later?
    fn is_unsaid(&self, session: &str) -> bool {
        let Some(run) = self.sessions.get(session).and_then(|owner| owner.run.as_ref()) else { return false };
        let is_new = |began: u64| self.now_ms.saturating_sub(began) < UNSAID_MS;
        run.late.is_some() || !self.keeps_files() && run.answer_began_ms.is_some_and(is_new)
    }

    /// The turn ends: what was not told by now never is.
    pub(super) fn unsay(&mut self, session: &str) {
        if !self.is_unsaid(session) {
            return;
        }
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.as_mut() else { return };
        run.begin_answer();
        let id = run.message.clone();
        if let Some(message) = owner.message_mut(&id) {
            message.parts.clear();
        }
    }
}
