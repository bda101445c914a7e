//! Goal: the stand-in is true to every recording, on every test run and not only when somebody asks. Method: what
//! `cargo xtask truth` does, in parts that run side by side. And nothing is sent that the release does not document, but
//! for what the real servers send, too.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod documented;

use documented::{Documented, unknown};
use fixtures::ServerKind;
use fixtures::catalog;
use harness::truth::{Candidate, Selection, compare_all, stand_in_limits};
use parity_specs::Matrix;

/// Each scenario with one server, by one candidate.
async fn equals_every_recording(server: ServerKind, candidate: Candidate) {
    let selection = Selection { servers: &[server], candidates: &[candidate], ..Selection::default() };
    let documented = Documented::by(server);
    let mut undocumented = Vec::new();
    let matrix = Matrix::embedded().unwrap();
    let comparisons = compare_all(&matrix, &selection, &stand_in_limits(), |comparison, performed| {
        for recording in performed {
            let broken = unknown(server, &documented.breaches(&recording.lines));
            undocumented
                .extend(broken.into_iter().map(|broken| format!("{}: {broken}", comparison.scenario)));
        }
    })
    .await;
    let wrong: Vec<String> = comparisons
        .iter()
        .filter(|comparison| !comparison.holds())
        .map(|comparison| format!("{}: {:#?}", comparison.scenario, comparison.outcome))
        .collect();
    assert!(wrong.is_empty(), "{server} {candidate}: {}", wrong.join("\n"));
    assert!(undocumented.is_empty(), "{server} {candidate}: {}", undocumented.join("\n"));
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
