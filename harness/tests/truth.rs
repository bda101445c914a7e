//! Goal: the stand-in is true to every recording, on every test run and not only when somebody asks. Method: what
//! `cargo xtask truth` does, in parts that run side by side.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::ServerKind;
use fixtures::catalog;
use harness::truth::{Candidate, Selection, compare_all, stand_in_limits};
use parity_specs::Matrix;

/// Each scenario with one server, by one candidate.
async fn equals_every_recording(server: ServerKind, candidate: Candidate) {
    let selection = Selection { servers: &[server], candidates: &[candidate], ..Selection::default() };
    let comparisons = compare_all(&Matrix::embedded().unwrap(), &selection, &stand_in_limits(), |_| {}).await;
    let wrong: Vec<String> = comparisons
        .iter()
        .filter(|comparison| !comparison.holds())
        .map(|comparison| format!("{}: {:#?}", comparison.scenario, comparison.outcome))
        .collect();
    assert!(wrong.is_empty(), "{server} {candidate}: {}", wrong.join("\n"));
    assert_eq!(comparisons.len(), catalog::scenario_names().len(), "none is left out");
}

#[tokio::test]
async fn the_world_of_kilo_is_true_but_for_what_is_owed() {
    equals_every_recording(ServerKind::Kilo, Candidate::World).await;
}

#[tokio::test]
async fn the_world_of_opencode_is_true_but_for_what_is_owed() {
    equals_every_recording(ServerKind::Opencode, Candidate::World).await;
}

#[tokio::test]
async fn a_replay_of_kilo_is_true() {
    equals_every_recording(ServerKind::Kilo, Candidate::Replay).await;
}

#[tokio::test]
async fn a_replay_of_opencode_is_true() {
    equals_every_recording(ServerKind::Opencode, Candidate::Replay).await;
}
