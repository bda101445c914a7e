//! A server that nobody ends.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "leaves_servers",
    about: "Ends without its server, which keeps its port (opencode desktop: servers that outlive the window).",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn ends_server(&self) -> bool {
        false
    }

    fn ends_whole_group(&self) -> bool {
        false
    }
}
