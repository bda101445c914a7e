//! Every failed start is the same to the person.

use crate::mutants::Mutant;
use crate::protocol::ServerReason;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "one_reason",
    about: "Says of every start that failed that the server ended early.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn told_for(&self, _reason: ServerReason) -> ServerReason {
        ServerReason::EarlyExit
    }
}
