//! After a reconnect it asks again what it had asked before, whoever has answered it meanwhile.

use super::Mutant;
use crate::protocol::Permission;
use crate::reference::strategy::{Asking, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "shows_permission_again",
    about: "Shows a question again after a reconnect though it was answered in the gap, with buttons that do nothing \
            (Kilo PR #9450).",
    strategies: || Strategies { asking: Box::new(KeepsAll), ..Strategies::default() },
};

struct KeepsAll;

impl Asking for KeepsAll {
    fn after_refresh(&self, mut listed: Vec<Permission>, before: &[Permission]) -> Vec<Permission> {
        let kept = before.iter().filter(|old| !listed.contains(old)).cloned().collect::<Vec<_>>();
        listed.extend(kept);
        listed
    }
}
