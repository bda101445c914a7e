//! Goal: the stand-in is true to every recording, on every test run and not only when somebody asks. Method: what
//! `cargo xtask truth` does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::ServerKind;
use fixtures::catalog;
use harness::truth::{compare_all, stand_in_limits};
use parity_specs::Matrix;

#[tokio::test]
async fn the_world_and_the_replay_equal_every_recording_but_for_what_is_owed() {
    let comparisons = compare_all(&Matrix::embedded().unwrap(), "", &stand_in_limits(), |_| {}).await;
    let wrong: Vec<String> = comparisons
        .iter()
        .filter(|comparison| !comparison.holds())
        .map(|comparison| {
            let (server, candidate, name) = (comparison.server, comparison.candidate, &comparison.scenario);
            format!("{server} {candidate} {name}: {:#?}", comparison.outcome)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Two candidates for each scenario with each server: none is left out.
    assert_eq!(comparisons.len(), catalog::scenario_names().len() * ServerKind::ALL.len() * 2);
}
