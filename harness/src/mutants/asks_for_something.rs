//! Only the dialog for an edit has room for what leave is asked for.

use super::Mutant;
use crate::protocol::Permission;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_for_something",
    about: "Asks for leave and does not say for what, unless it is an edit.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn told(&self, asked: Permission) -> Permission {
        match asked.permission.as_str() {
            "edit" => asked,
            _ => Permission { patterns: Vec::new(), ..asked },
        }
    }
}
