//! What a test would not have noticed: prompts that nobody answers, answers that nobody asks for, routes that no server
//! has; and in [`calls`], which requests a test expects.

mod calls;
mod near;

pub use calls::{Broken, Call, Calls, UnmetCall, UnmetCalls};

use fixtures::fault_plan::Fault;
use std::collections::BTreeSet;
use std::fmt;

/// More of them tell nothing more.
const ROUTES_KEPT: usize = 100;

/// What did not go as a test means it to go.
///
/// ```
/// use mock_server::StandIn;
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stand_in = StandIn::kilo().scenario("text/plain").start().await?;
/// reqwest::get(format!("{}/sesion", stand_in.url())).await?;
/// let unmet = stand_in.verify().unwrap_err();
/// assert_eq!(unmet.unknown, ["GET /sesion"]);
/// assert_eq!(unmet.unused.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Unmet {
    /// What the model was asked in vain.
    pub unscripted: Vec<String>,
    /// Parts of the scenario that nobody asked for.
    pub unused: Vec<String>,
    /// Requests for routes that the server does not have.
    pub unknown: Vec<String>,
    /// Requests for what the server has and the stand-in has not.
    pub unplayed: Vec<String>,
    /// Faults that never fired, with their numbers in the plan.
    pub unfired: Vec<(usize, Fault)>,
}

impl Unmet {
    /// Is there nothing?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unscripted.is_empty()
            && self.unused.is_empty()
            && self.unknown.is_empty()
            && self.unplayed.is_empty()
            && self.unfired.is_empty()
    }
}

impl std::error::Error for Unmet {}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the stand-in was not used as it was meant to be:")?;
        let faults: Vec<String> =
            self.unfired.iter().map(|(number, fault)| format!("fault {number}: it {fault}")).collect();
        for (what, which) in [
            ("the model was asked in vain", &self.unscripted),
            ("nobody asked for this part of the scenario", &self.unused),
            ("the server has no such route", &self.unknown),
            ("the server has this route and the stand-in has not", &self.unplayed),
            ("this fault never fired", &faults),
        ] {
            for one in which {
                write!(f, "\n  {what}: {one}")?;
            }
        }
        Ok(())
    }
}

/// Requests that were in vain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strays {
    pub(crate) unknown: BTreeSet<String>,
    pub(crate) unplayed: BTreeSet<String>,
}

impl Strays {
    pub(crate) fn note_unknown(&mut self, method: &str, path: &str) {
        note(&mut self.unknown, method, path);
    }

    pub(crate) fn note_unplayed(&mut self, method: &str, path: &str) {
        note(&mut self.unplayed, method, path);
    }
}

fn note(set: &mut BTreeSet<String>, method: &str, path: &str) {
    if set.len() < ROUTES_KEPT {
        set.insert(format!("{method} {path}"));
    }
}
