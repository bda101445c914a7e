//! Sends one image with a prompt, however many are attached.

use super::Mutant;
use crate::protocol::Attachment;
use crate::reference::strategy::{Attaching, Strategies, Went};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_one_image",
    about: "Sends one image with a prompt, however many are attached.",
    strategies: || Strategies { attaching: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Attaching for Broken {
    fn sent(&self, now: Vec<Attachment>, _before: Went) -> Vec<Attachment> {
        now.into_iter().take(1).collect()
    }
}
