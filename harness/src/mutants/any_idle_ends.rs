//! An idle is an idle: a late one of the turn before ends this one.

use super::Mutant;
use crate::reference::strategy::turn::Turn;
use crate::reference::strategy::{OnIdle, Strategies, Turns};

pub(super) const MUTANT: Mutant = Mutant {
    name: "any_idle_ends",
    about: "Takes a late second idle of an older turn for the end of the new one (t3code PR #8480).",
    strategies: || Strategies { turns: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Turns for Broken {
    fn on_idle(&self, turn: Turn) -> OnIdle {
        if turn.begun { OnIdle::Over } else { OnIdle::Ignore }
    }
}
