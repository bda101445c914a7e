//! Only events count as signs of life.

use super::Mutant;
use crate::reference::strategy::{Liveness, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "deaf_to_comments",
    about: "Leaves a stream whose heartbeats are comments (opencode PR #41299, openchamber#1769).",
    strategies: || Strategies { liveness: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Liveness for Broken {
    fn hears_bytes(&self) -> bool {
        false
    }
}
