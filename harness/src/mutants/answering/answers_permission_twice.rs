//! It waits for the event that confirms an answer; when a cut swallows that, it sends the answer again.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "answers_permission_twice",
    about: "Sends an answer again after a reconnect when the event about it was lost; the server knows no such \
            question any more (opencode#31874).",
    strategies: || Strategies { asking: Box::new(ToBeSure), ..Strategies::default() },
};

struct ToBeSure;

impl Asking for ToBeSure {
    fn answers_again(&self) -> bool {
        true
    }
}
