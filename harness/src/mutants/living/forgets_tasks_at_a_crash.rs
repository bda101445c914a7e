//! With a server go its tasks.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "forgets_tasks_at_a_crash",
    about: "Starts the server again, and knows none of the tasks that there were.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn keeps_tasks(&self) -> bool {
        false
    }
}
