//! Any answer is a good one.

use crate::mutants::Mutant;
use crate::reference::strategy::life::Health;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "trusts_any_answer",
    about: "Takes whatever answers with 200 for its server.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn health(&self, _body: &str) -> Health {
        Health::Well
    }
}
