//! What could not be fetched of one conversation is taken for a failure of the whole refresh, as with requests that are
//! awaited together and fail together.

use super::Mutant;
use crate::reference::strategy::{GapPolicy, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "fails_together",
    about: "If one task can't be fetched after a reconnect, none of them is shown anew, and each tells an error.",
    strategies: || Strategies { gap: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl GapPolicy for Broken {
    fn concerned(&self, _task: Option<String>) -> Option<String> {
        None
    }
}
