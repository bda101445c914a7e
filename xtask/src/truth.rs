//! `cargo xtask truth`: holds the stand-in's world and its replay against every recording.

use crate::outcome::Outcome;
use harness::say;
use harness::truth::{compare_all, stand_in_limits};

/// Compares; needs nothing but the recordings in the repository.
pub(crate) fn run() -> Outcome {
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return Outcome::Untestable(format!("failed to start a runtime: {error}")),
    };
    let comparisons = runtime.block_on(compare_all(&stand_in_limits(), |comparison| {
        let mark = if comparison.is_equal() { "✓" } else { "✗" };
        say!("{mark} {} {} {}", comparison.server, comparison.candidate, comparison.scenario);
        match &comparison.outcome {
            Ok(differences) => {
                let sides = comparison.sides();
                differences.iter().for_each(|difference| say!("    {}", difference.told(&sides)));
            }
            Err(why) => say!("    {why}"),
        }
    }));
    let equal = comparisons.iter().filter(|comparison| comparison.is_equal()).count();
    say!("\n{equal} of {} equal", comparisons.len());
    if equal == comparisons.len() && !comparisons.is_empty() {
        Outcome::Holds
    } else {
        Outcome::Fails(format!("{} comparisons show differences", comparisons.len() - equal))
    }
}
