//! Asks for every kind of leave that it has no dialog for in the words of an edit.

use super::Mutant;
use crate::protocol::Permission;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "calls_all_edits",
    about: "Asks for every kind of leave that it has no dialog for in the words of an edit.",
    strategies: || Strategies { asking: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Asking for Broken {
    fn told(&self, asked: Permission) -> Permission {
        match asked.permission.as_str() {
            "bash" | "read" | "webfetch" => asked,
            _ => Permission { permission: "edit".to_owned(), ..asked },
        }
    }
}
