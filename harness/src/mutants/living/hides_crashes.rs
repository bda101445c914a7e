//! A crash is nobody's business.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "hides_crashes",
    about: "Starts the server again and tells no task that it was gone.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn tells_tasks(&self) -> bool {
        false
    }
}
