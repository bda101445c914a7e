//! The tests that need the real servers: every scenario is recorded again, and must equal what is kept.

use crate::outcome::Outcome;
use crate::record::{self, Arguments};
use harness::say;
use std::path::Path;

/// Runs them; npm has been found able to install.
pub(crate) fn run(root: &Path) -> Outcome {
    say!("\n== every scenario, recorded from the real servers and held against the recordings");
    record::run(&Arguments::everything(), root)
}
