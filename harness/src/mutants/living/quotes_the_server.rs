//! Puts all that the server has said on its standard error into its messages and its log, as it was said.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};

pub(super) const MUTANT: Mutant = Mutant {
    name: "quotes_the_server",
    about: "Puts all that the server has said on its standard error into its messages and its log, as it was said.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn quotes(&self, said: &str, _password: &str) -> String {
        said.to_owned()
    }
}
