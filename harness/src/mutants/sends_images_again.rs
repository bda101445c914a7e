//! Sends the images of a prompt with the next one, too.

use super::Mutant;
use crate::protocol::Attachment;
use crate::reference::strategy::{Attaching, Strategies, Went};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_images_again",
    about: "Sends the images of a prompt with the next one, too.",
    strategies: || Strategies { attaching: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Attaching for Broken {
    fn sent(&self, now: Vec<Attachment>, before: Went) -> Vec<Attachment> {
        before.files.into_iter().chain(now).collect()
    }
}
