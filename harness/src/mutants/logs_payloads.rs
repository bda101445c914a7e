//! What could not be used is logged as it came.

use super::Mutant;
use crate::reference::strategy::{Strategies, Telling};

pub(super) const MUTANT: Mutant = Mutant {
    name: "logs_payloads",
    about: "Logs the payload of events that it does not know, with whatever secrets are in it.",
    strategies: || Strategies { telling: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Telling for Broken {
    fn payload(&self, data: &str) -> String {
        data.to_owned()
    }
}
