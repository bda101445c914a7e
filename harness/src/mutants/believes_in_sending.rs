//! Once a prompt is on its way it has arrived, whatever is answered.

use super::Mutant;
use crate::reference::strategy::{OnFailedSend, Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "believes_in_sending",
    about: "Ignores that a prompt was refused: it vanishes without a word (opencode#17536).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn on_failed_send(&self, _status: Option<u16>) -> OnFailedSend {
        OnFailedSend::Believe
    }
}
