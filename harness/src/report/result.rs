//! What comes of a gate, in a word and a code.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// What comes of a gate, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateResult {
    /// All is proven.
    Pass,
    /// All is proven but so many requirements, and the ledger knows them.
    PassWithDebt(usize),
    /// It can't be said.
    CouldNotCheck,
    /// Something does not hold.
    Fail,
}

impl GateResult {
    /// The exit code of a command that ends with this.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Pass | Self::PassWithDebt(_) => 0,
            Self::Fail => 1,
            Self::CouldNotCheck => 3,
        }
    }
}

impl fmt::Display for GateResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("PASS"),
            Self::PassWithDebt(owed) => write!(f, "PASS WITH DEBT ({owed})"),
            Self::Fail => f.write_str("FAIL"),
            Self::CouldNotCheck => f.write_str("COULD NOT CHECK"),
        }
    }
}

impl Serialize for GateResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GateResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = String::deserialize(deserializer)?;
        let owed = words.strip_prefix("PASS WITH DEBT (").and_then(|rest| rest.strip_suffix(')'));
        match (words.as_str(), owed.and_then(|owed| owed.parse().ok())) {
            (_, Some(owed)) => Ok(Self::PassWithDebt(owed)),
            ("PASS", _) => Ok(Self::Pass),
            ("FAIL", _) => Ok(Self::Fail),
            ("COULD NOT CHECK", _) => Ok(Self::CouldNotCheck),
            _ => Err(de::Error::custom(format!("'{words}' is no result of a gate"))),
        }
    }
}
