//! Ids are believed to ascend.

use super::Mutant;
use crate::reference::strategy::stream::Latest;
use crate::reference::strategy::{Seen, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "highest_id_only",
    about: "Drops events whose id is not above the highest one that it saw (cfal/garcon PR #475).",
    strategies: || Strategies { seen: Box::new(Ascending(String::new())), ..Strategies::default() },
};

struct Ascending(String);

impl Seen for Ascending {
    fn begin(&mut self) {
        self.0.clear();
    }

    fn is_seen(&mut self, id: Option<&str>, _data: &str, _latest: &mut Latest) -> bool {
        let Some(id) = id else { return false };
        if *id <= *self.0 {
            return true;
        }
        id.clone_into(&mut self.0);
        false
    }
}
