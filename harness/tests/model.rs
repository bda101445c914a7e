//! Goal: a stand-in whose model is at an address behaves as one whose model is its own. Method: scenarios with the
//! scripted model behind HTTP, held against the recordings of the real servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::compare::Sides;
use fixtures::{ServerKind, catalog};
use harness::performance::Piece;
use harness::truth::{differences, stand_in_limits};

const SCENARIOS: &[&str] = &[
    "text/plain",
    "text/reasoning",
    "tool/two-in-a-step",
    "permission/write-rejected",
    "provider/rate-limited",
    "provider/stream-broken",
    "abort/mid-stream",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_model_at_an_address_is_asked_and_heard_like_the_scripted_one() {
    for &name in SCENARIOS {
        for server in ServerKind::ALL {
            let piece = Piece { name: name.to_owned(), scenario: catalog::scenario(name).unwrap(), server };
            let performed = piece.by_stand_in_with_model(&stand_in_limits()).await.unwrap();
            let recorded = catalog::recording(&server.release(), name).unwrap();
            let mut performed = performed.recording;
            // Who answered is told by its address.
            for line in &mut performed.lines {
                if let fixtures::recording::Line::Model(call) = line {
                    "the model".clone_into(&mut call.answered);
                }
            }
            let mut recorded_as = recorded;
            for line in &mut recorded_as.lines {
                if let fixtures::recording::Line::Model(call) = line {
                    "the model".clone_into(&mut call.answered);
                }
            }
            let found = differences(&recorded_as, &performed, &catalog::floats(server).unwrap());
            let sides = Sides::new("the recording", "the stand-in");
            let told: Vec<String> = found.iter().map(|one| one.told(&sides).to_string()).collect();
            assert!(told.is_empty(), "{server} {name}\n{}", told.join("\n"));
        }
    }
}
