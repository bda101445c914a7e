//! Without tools the dialogs are hidden, and what need not ask goes on.

use super::Mutant;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "only_hides_dialogs",
    about: "Hides the dialogs when tools are off, and does not tell the server.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn turns_tools_off(&self) -> bool {
        false
    }
}
