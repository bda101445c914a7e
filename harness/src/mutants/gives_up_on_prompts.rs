//! An answer that is an error means that nothing happened; it may have.

use super::Mutant;
use crate::reference::strategy::{OnFailedSend, Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "gives_up_on_prompts",
    about: "Tells the person that a prompt failed which the server has, so that it is typed twice.",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn on_failed_send(&self, _status: Option<u16>) -> OnFailedSend {
        OnFailedSend::Fail
    }
}
