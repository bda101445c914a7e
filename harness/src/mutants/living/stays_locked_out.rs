//! A refused password is the end of it.

use crate::mutants::Mutant;
use crate::protocol::ServerReason;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "stays_locked_out",
    about: "Starts no other server once one has refused its password, though each start has a password of its own.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn starts_after(&self, reason: ServerReason) -> bool {
        reason != ServerReason::Unauthorized
    }
}
