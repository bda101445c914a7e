//! Takes what stands before the dash: pt for Brazil, simplified for Taiwan.

use super::Mutant;
use crate::reference::strategy::{Careful, Features, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "cuts_locales",
    about: "Takes what stands before the dash: pt for Brazil, simplified for Taiwan.",
    strategies: || Strategies { features: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Features for Broken {
    fn language<'a>(&self, locale: &'a str) -> &'a str {
        let language = locale.split('-').next().unwrap_or(locale);
        Careful.language(language)
    }
}
