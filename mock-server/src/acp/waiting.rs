//! When a turn is over. A server answers a prompt a moment before its last events are out; an agent that answered then
//! would say the turn's end before its last words.

use fixtures::ServerKind;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// The prompts whose turns are not over, by their sessions.
#[derive(Debug)]
pub(super) struct Waiting {
    server: ServerKind,
    state: Mutex<State>,
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
        Self { server, state: Mutex::default() }
    }

    /// A prompt is about to be sent; its number, and its turn's end.
    pub(super) fn begin(&self, session: &str) -> (u64, oneshot::Receiver<()>) {
        let (sender, over) = oneshot::channel();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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
        (number, over)
    }

    /// The message that answers it is known.
    pub(super) fn target(&self, number: u64, message: &str) {
        self.each(|at, prompt| {
            if at == number {
                prompt.target = Some(message.to_owned());
            }
        });
    }

    /// It is waited for no longer.
    pub(super) fn end(&self, number: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).prompts.remove(&number);
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
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
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
