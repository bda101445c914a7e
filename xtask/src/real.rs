//! The tests that need the real servers: every scenario is recorded again, and must equal what is kept; and what agents may
//! do must be what the stand-ins say.

use crate::outcome::Outcome;
use crate::probe;
use crate::record::{self, Arguments};
use harness::say;
use std::path::Path;

/// Runs them; npm has been found able to install.
pub(crate) fn run(root: &Path) -> Outcome {
    say!("\n== every scenario, recorded from the real servers and held against the recordings");
    let recorded = record::run(&Arguments::everything(), root);
    say!("\n== what agents may do, by the real servers and by the stand-ins");
    Outcome::of_all([recorded, probe::run(&probe::Arguments { npm_dir: None }, root)])
}
