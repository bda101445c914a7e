//! Loses the images of a message whose words are edited.

use super::Mutant;
use crate::reference::strategy::{Attaching, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "edits_images_away",
    about: "Loses the images of a message whose words are edited.",
    strategies: || Strategies { attaching: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Attaching for Broken {
    fn keeps_when_edited(&self) -> bool {
        false
    }
}
