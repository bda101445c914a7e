//! Lets the button of its page that stops the agent ask the server, in place of the program behind it.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "asks_from_a_page",
    about: "Lets the button of its page that stops the agent ask the server, in place of the program behind it.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn origin(&self, path: &str) -> Option<&'static str> {
        path.split('?').next()?.ends_with("/abort").then_some("vscode-webview://0a1b2c3d")
    }
}
