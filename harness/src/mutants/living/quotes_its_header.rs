//! Logs the header with which it asks; the password stands in it in base64.

use crate::mutants::Mutant;
use crate::reference::strategy::{Living, Strategies};
use base64::prelude::{BASE64_STANDARD, Engine as _};

pub(super) const MUTANT: Mutant = Mutant {
    name: "quotes_its_header",
    about: "Puts the `Basic` header with which it asks into what it tells of a server's end.",
    strategies: || Strategies { life: Box::new(Broken), ..Strategies::default() },
};

struct Broken;

impl Living for Broken {
    fn quotes(&self, _said: &str, password: &str) -> String {
        format!(
            "it was asked with authorization: Basic {}",
            BASE64_STANDARD.encode(format!("kilo:{password}"))
        )
    }
}
