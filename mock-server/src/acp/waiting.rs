//! When a turn is over. A server answers a prompt a moment before its last events are out; an agent that answered then
//! would say the turn's end before its last words.

use fixtures::ServerKind;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, oneshot};

/// The prompts whose turns are not over, by their sessions.
#[derive(Debug)]
pub(super) struct Waiting {
    server: ServerKind,
    state: Mutex<State>,
    /// Tells when a prompt is waited for no longer.
    ended: Notify,
}

/// A prompt whose turn is not told to be over yet. Dropping it says that it is.
#[derive(Debug)]
pub(super) struct Unended<'a> {
    waiting: &'a Waiting,
    number: u64,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    prompts: BTreeMap<u64, Prompt>,
}

#[derive(Debug)]
struct Prompt {
    session: String,
    over: Option<oneshot::Sender<()>>,
    /// Kilo's agent waits for the idleness behind the message that answers the prompt; OpenCode's for the next one, whose
    /// ever it is: two prompts of one session are answered together.
    seq: u64,
    idle: u64,
    seen: BTreeMap<String, u64>,
    target: Option<String>,
}

impl Waiting {
    pub(super) fn of(server: ServerKind) -> Self {
        Self { server, state: Mutex::default(), ended: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prompt is about to be sent; and its turn's end.
    pub(super) fn begin(&self, session: &str) -> (Unended<'_>, oneshot::Receiver<()>) {
        let (sender, over) = oneshot::channel();
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        let prompt = Prompt {
            session: session.to_owned(),
            over: Some(sender),
            seq: 0,
            idle: 0,
            seen: BTreeMap::new(),
            target: None,
        };
        state.prompts.insert(number, prompt);
        (Unended { waiting: self, number }, over)
    }

    /// A message of this session was told.
    pub(super) fn message(&self, session: &str, id: &str) {
        self.each(|_, prompt| {
            if prompt.session == session {
                prompt.seq += 1;
                prompt.seen.insert(id.to_owned(), prompt.seq);
            }
        });
    }

    /// This session is idle.
    pub(super) fn idle(&self, session: &str) {
        let is_kilo = self.server == ServerKind::Kilo;
        self.each(|_, prompt| {
            if prompt.session != session {
                return;
            }
            prompt.seq += 1;
            prompt.idle = prompt.seq;
            if !is_kilo && let Some(over) = prompt.over.take() {
                over.send(()).ok();
            }
        });
    }

    fn each(&self, mut change: impl FnMut(u64, &mut Prompt)) {
        let mut state = self.state();
        for (number, prompt) in &mut state.prompts {
            change(*number, prompt);
            let seen = prompt.target.as_ref().and_then(|target| prompt.seen.get(target));
            if seen.is_some_and(|seen| prompt.idle > *seen)
                && let Some(over) = prompt.over.take()
            {
                over.send(()).ok();
            }
        }
    }
}

impl Unended<'_> {
    /// The message that answers it is known.
    pub(super) fn target(&self, message: &str) {
        self.waiting.each(|at, prompt| {
            if at == self.number {
                prompt.target = Some(message.to_owned());
            }
        });
    }

    /// Waits until those are answered that came before it and are over, too: one idleness ends several prompts, and they are
    /// answered in the order in which they came.
    pub(super) async fn in_turn(&self) {
        loop {
            let news = self.waiting.ended.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if !self.has_one_before() {
                return;
            }
            news.await;
        }
    }

    fn has_one_before(&self) -> bool {
        let state = self.waiting.state();
        let session = state.prompts.get(&self.number).map(|prompt| prompt.session.as_str());
        let mut before = state.prompts.range(..self.number);
        before.any(|(_, prompt)| prompt.over.is_none() && Some(prompt.session.as_str()) == session)
    }
}

impl Drop for Unended<'_> {
    fn drop(&mut self) {
        self.waiting.state().prompts.remove(&self.number);
        self.waiting.ended.notify_waiters();
    }
}
