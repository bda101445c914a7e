//! A lost connection is told as a mistake, and the turn that it hit is never told as over.

use crate::mutants::Mutant;
use crate::protocol::{ConnectionState, Update};
use crate::reference::strategy::{Strategies, Telling};
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) const MUTANT: Mutant = Mutant {
    name: "says_offline_and_no_end",
    about: "Tells of a lost connection, loads all again, and never says that the turn is over.",
    strategies: || Strategies { telling: Box::<Broken>::default(), ..Strategies::default() },
};

/// Was the connection lost?
#[derive(Default)]
struct Broken(AtomicBool);

impl Telling for Broken {
    fn shown(&self, update: Update) -> Vec<Update> {
        match update {
            Update::Connection { state: ConnectionState::Disconnected } => {
                self.0.store(true, Ordering::Relaxed);
                let message = "the connection was lost".to_owned();
                vec![update, Update::Error { task_id: None, message, retry: false }]
            }
            Update::Terminal { .. } if self.0.load(Ordering::Relaxed) => Vec::new(),
            update => vec![update],
        }
    }
}
