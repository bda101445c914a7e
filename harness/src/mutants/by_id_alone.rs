//! An id is believed to name one event.

use super::Mutant;
use crate::reference::strategy::stream::Latest;
use crate::reference::strategy::{Seen, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "by_id_alone",
    about: "Drops events whose id it has seen, whatever they say.",
    strategies: || Strategies { seen: Box::new(ById), ..Strategies::default() },
};

struct ById;

impl Seen for ById {
    fn is_seen(&mut self, id: Option<&str>, _data: &str, latest: &mut Latest) -> bool {
        id.is_some_and(|id| !latest.add(id))
    }
}
