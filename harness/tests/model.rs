//! Goal: a stand-in whose model is at an address behaves as one whose model is its own. Method: scenarios with the
//! scripted model behind HTTP, held against the recordings of the real servers.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::compare::Sides;
use fixtures::recording::{Line, Recording};
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

/// The scripted model names its turn; one at an address is told by that.
fn whoever_answered(mut recording: Recording) -> Recording {
    for line in &mut recording.lines {
        if let Line::Model(call) = line {
            "the model".clone_into(&mut call.answered);
        }
    }
    recording
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_at_an_address_is_asked_and_heard_like_the_scripted_one() {
    for &name in SCENARIOS {
        for server in ServerKind::ALL {
            let piece = Piece { name: name.to_owned(), scenario: catalog::scenario(name).unwrap(), server };
            let performed = piece.by_stand_in_with_model(&stand_in_limits()).await.unwrap();
            let recorded = catalog::recording(&server.release(), name).unwrap();
            let (recorded, performed) = (whoever_answered(recorded), whoever_answered(performed.recording));
            let found = differences(&recorded, &performed, &catalog::floats(server).unwrap());
            let sides = Sides::new("the recording", "the stand-in");
            let told: Vec<String> = found.iter().map(|one| one.told(&sides).to_string()).collect();
            assert!(told.is_empty(), "{server} {name}\n{}", told.join("\n"));
        }
    }
}
