//! Sends the name of an image in place of the image.

use super::Mutant;
use crate::protocol::Attachment;
use crate::reference::strategy::{Attaching, Strategies};
use serde_json::{Value, json};

pub(super) const MUTANT: Mutant = Mutant {
    name: "sends_names_of_images",
    about: "Sends the name of an image in place of the image.",
    strategies: || Strategies { attaching: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Attaching for Broken {
    fn part(&self, file: &Attachment) -> Value {
        json!({ "type": "text", "text": file.name })
    }
}
