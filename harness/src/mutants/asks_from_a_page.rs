//! Lets its page ask the server, beside the program that should.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_from_a_page",
    about: "Lets its page ask the server, beside the program that should.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn origin(&self) -> Option<&'static str> {
        Some("vscode-webview://0a1b2c3d")
    }
}
