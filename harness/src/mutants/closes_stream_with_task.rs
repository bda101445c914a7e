//! Closes the stream of events with a task, though other tasks need it.

use super::Mutant;
use crate::reference::strategy::{Cutover, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "closes_stream_with_task",
    about: "Closes the stream of events with a task, though other tasks need it.",
    strategies: || Strategies { cutover: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Cutover for Broken {
    fn closes_stream(&self) -> bool {
        true
    }
}
