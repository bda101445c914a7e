//! A set of the kinds that it has met, where a number was wanted.

use super::Mutant;
use crate::reference::strategy::{OnUnknown, Strategies, UnknownEvents};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

pub(super) const MUTANT: Mutant = Mutant {
    name: "counts_kinds",
    about: "Counts each kind of unknown event once, however often it comes.",
    strategies: || Strategies { unknown: Box::<Broken>::default(), ..Strategies::default() },
};

#[derive(Default)]
struct Broken {
    met: Mutex<BTreeSet<String>>,
}

impl UnknownEvents for Broken {
    fn on_unknown(&self, kind: &str) -> OnUnknown {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        if met.insert(kind.to_owned()) { OnUnknown::Count } else { OnUnknown::Ignore }
    }
}
