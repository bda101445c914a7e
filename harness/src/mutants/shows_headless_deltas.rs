//! A delta is appended to whatever there is, if only to nothing: the text on the screen has a hole, until the whole
//! text comes and hides it.

use super::Mutant;
use crate::reference::strategy::{Deltas, OnHeadless, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_headless_deltas",
    about: "Shows text whose beginning it has missed, as both servers' own terminal clients do after a cut \
            (opencode#26924 for the order of events).",
    strategies: || Strategies { deltas: Box::new(WhateverComes), ..Strategies::default() },
};

struct WhateverComes;

impl Deltas for WhateverComes {
    fn on_headless(&self) -> OnHeadless {
        OnHeadless::Show
    }
}
