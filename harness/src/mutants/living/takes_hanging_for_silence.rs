//! Whatever takes too long has said nothing.

use crate::mutants::Mutant;
use crate::protocol::ServerReason;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "takes_hanging_for_silence",
    about: "Says of a server that listens and answers nothing that it never said that it listens.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn late_for(&self, _reason: ServerReason) -> ServerReason {
        ServerReason::Silent
    }
}
