//! The moment between a turn's last event and the answer to the request that began it. The real servers keep the state
//! of the folder in between: in 300 recorded turns the text was told at least 34 ms before the answer. Clients rely on
//! it: `opencode run --attach` leaves with the answer, and what it has not heard by then it never shows.
//!
//! A request that fails is the other way round: who asked is told first, and the events of the failure were seen to come
//! 5 to 100 ms later. The same client shows what it hears first.

use super::{Answer, Core, Inner, Waiting};
use crate::performer::{Act, WireReply};
use crate::world::{ApiRequest, Ticket};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How long the answer waits, on a clock that time passes on.
const MOMENT: Duration = Duration::from_millis(30);

/// What is answered when a turn has ended.
const TURNS: &[&str] = &["message", "command", "shell", "init", "summarize"];

/// Is a request answered when a turn has ended?
pub(super) fn ends_with_a_turn(request: &ApiRequest) -> bool {
    let segments: Vec<&str> = request.path.split('/').skip(1).collect();
    matches!(segments[..], ["session", _, last] if request.method == "POST" && TURNS.contains(&last))
}

impl Core {
    /// Answers at once, or a moment after a turn.
    pub(super) fn answer_in_time(self: &Arc<Self>, ticket: Ticket, reply: WireReply, waiting: Waiting) {
        if !waiting.ends_with_a_turn || reply.status >= 400 || self.clock.is_logical() {
            return self.answer(ticket, reply, waiting);
        }
        let (core, clock) = (Arc::downgrade(self), self.clock.clone());
        tokio::spawn(async move {
            clock.wait(MOMENT).await;
            if let Some(core) = core.upgrade() {
                core.answer(ticket, reply, waiting);
            }
        });
    }

    /// What is to be done now: what was held back, and of a failure its answer without its events.
    pub(super) fn failures_first(self: &Arc<Self>, inner: &mut Inner, acts: Vec<Act>) -> Vec<Act> {
        let mut now = std::mem::take(&mut inner.held_back);
        let fails = |act: &Act| match act {
            Act::Reply(ticket, reply) if reply.status >= 500 => {
                inner.waiting.get(ticket).is_some_and(|waiting| waiting.ends_with_a_turn)
            }
            _ => false,
        };
        // Whose stream begins or ends hears in order what comes before.
        let moves_streams = |act: &Act| matches!(act, Act::Open(..) | Act::Close(_) | Act::HangUp { .. });
        if self.clock.is_logical() || acts.iter().any(moves_streams) || !acts.iter().any(fails) {
            now.extend(acts);
            return now;
        }
        let (sent, others): (Vec<_>, _) = acts.into_iter().partition(|act| matches!(act, Act::Send(..)));
        inner.held_back = sent;
        now.extend(others);
        let (core, clock) = (Arc::downgrade(self), self.clock.clone());
        tokio::spawn(async move {
            clock.wait(MOMENT).await;
            if let Some(core) = core.upgrade() {
                let mut inner = core.inner.lock().unwrap_or_else(PoisonError::into_inner);
                core.act_all(&mut inner, Vec::new());
            }
        });
        now
    }

    pub(super) fn answer(&self, ticket: Ticket, reply: WireReply, waiting: Waiting) {
        let asked = waiting.faults.asked.as_deref();
        let before = asked.and_then(|asked| self.last_answers.swapped(asked, &reply));
        let reply = match before.filter(|_| waiting.faults.is_stale) {
            Some(before) => before,
            None => reply,
        };
        let reply = waiting.faults.altered(reply, self.clock.now_ms());
        self.note_reply(ticket, &reply, &waiting.headers);
        // A client that has left gets no answer.
        let _ = waiting.sender.send(Answer::Reply(reply));
    }
}
