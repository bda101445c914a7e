//! What is attached is cleared when a prompt is taken, and not when it was refused.

use super::Mutant;
use crate::protocol::Attachment;
use crate::reference::strategy::{Attaching, Strategies, Went};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_refused_images",
    about: "Sends the images of a prompt that was refused with the next one.",
    strategies: || Strategies { attaching: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Attaching for Broken {
    fn sent(&self, now: Vec<Attachment>, before: Went) -> Vec<Attachment> {
        let kept = if before.was_refused { before.files } else { Vec::new() };
        kept.into_iter().chain(now).collect()
    }
}
