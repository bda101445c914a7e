//! Paths: at which of them a tool may be let.

use crate::protocol::Reply;
use fixtures::paths::realpath::{Links, contains as leads_inside};
use fixtures::paths::{Policy, posix, windows};

/// Decides about paths.
pub trait Guarding: Send {
    /// May a tool be let at this path, when it may work in these roots and nowhere else?
    fn lets(&self, policy: Policy, roots: &[String], path: &str, disk: &dyn Links) -> bool {
        match policy {
            Policy::Lexical => posix::contains(roots, path),
            Policy::Realpath => leads_inside(roots, path, disk),
            Policy::Windows => windows::contains(roots, path),
        }
    }

    /// From which folders on is a path read that the server names: the task's `own`, the one of `connect`?
    fn read_from<'a>(&self, own: &'a str, main: &'a str) -> [&'a str; 2] {
        [own, main]
    }

    /// Is a yes of this kind held against the disk?
    fn holds(&self, _yes: Reply) -> bool {
        true
    }

    /// Is a yes held against the disk that a rule gives in the person's place?
    fn holds_rules(&self) -> bool {
        true
    }

    /// And one that the person gives to all that is asked?
    fn holds_all(&self) -> bool {
        true
    }

    /// Of all that is answered at once, is what is refused refused last? A no takes with it whatever is asked beside it.
    fn refuses_last(&self) -> bool {
        true
    }

    /// By which rules is a yes of the person held against the disk, before it is sent?
    fn yes_is_held_by(&self) -> Option<Policy> {
        Some(Policy::Realpath)
    }
}
