//! An event that comes twice is taken twice.

use super::Mutant;
use crate::reference::strategy::stream::Latest;
use crate::reference::strategy::{Seen, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "takes_all_events",
    about: "Appends a delta twice that comes twice (cfal/garcon PR #475 for what servers send).",
    strategies: || Strategies { seen: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Seen for Broken {
    fn is_seen(&mut self, _id: Option<&str>, _data: &str, _latest: &mut Latest) -> bool {
        false
    }
}
