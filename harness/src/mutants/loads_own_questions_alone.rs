//! What the agents of sub-tasks ask is heard, and after a gap it is looked for by the session of the task alone.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "loads_own_questions_alone",
    about: "Forgets after a gap what the session of a subtask asks.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn loads_children(&self) -> bool {
        false
    }
}
