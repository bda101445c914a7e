//! What has failed once has failed.

use crate::mutants::Mutant;
use crate::protocol::ServerReason;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "never_starts_again",
    about: "Takes no second start: whoever starts the server again after it has failed is told that there is one already.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn starts_after(&self, reason: ServerReason) -> bool {
        let _ = reason;
        false
    }
}
