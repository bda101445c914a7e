//! What a person says is the person's: whoever carries it changes nothing of it.

use super::Mutant;
use crate::reference::strategy::{Attaching, Strategies};

pub(super) const STRIPS: Mutant = Mutant {
    name: "strips_words",
    about: "Takes the space at both ends off a prompt.",
    strategies: || changed(|said| said.trim().to_owned()),
};

pub(super) const ESCAPES: Mutant = Mutant {
    name: "escapes_words",
    about: "Sends a prompt as a page would have it, with its signs escaped.",
    strategies: || changed(|said| said.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")),
};

pub(super) const FIRST_LINE: Mutant = Mutant {
    name: "sends_the_first_line",
    about: "Sends the first line of a prompt alone.",
    strategies: || changed(|said| said.lines().next().unwrap_or_default().to_owned()),
};

pub(super) const ASCII: Mutant = Mutant {
    name: "knows_ascii_alone",
    about: "Sends a question mark for each letter that it does not know.",
    strategies: || changed(|said| said.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()),
};

fn changed(how: fn(&str) -> String) -> Strategies {
    Strategies { attaching: Box::new(Broken(how)), ..Strategies::default() }
}

struct Broken(fn(&str) -> String);

impl Attaching for Broken {
    fn words(&self, said: &str) -> String {
        (self.0)(said)
    }
}
