//! Goes back to the newest message, whichever is meant.

use super::Mutant;
use crate::reference::strategy::{History, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "goes_back_too_little",
    about: "Goes back to the newest message, whichever is meant.",
    strategies: || Strategies { history: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl History for Broken {
    fn goes_back_to(&self, meant: String, newest: Option<&str>) -> String {
        newest.map_or(meant, str::to_owned)
    }
}
