//! Sends the editor's locale as it is, and the server falls back to English.

use super::Mutant;
use crate::reference::strategy::{Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "passes_locales_on",
    about: "Sends the editor's locale as it is, and the server falls back to English.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn language<'a>(&self, locale: &'a str) -> &'a str {
        locale
    }
}
