//! A failed request is sent again, also one that must not happen twice.

use super::Mutant;
use crate::reference::strategy::{OnFailedSend, Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_again",
    about: "Sends a prompt again whose answer was an error, though the server has it already.",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn on_failed_send(&self, _status: Option<u16>) -> OnFailedSend {
        OnFailedSend::Again
    }
}
