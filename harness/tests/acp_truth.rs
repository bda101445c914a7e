//! Goal: the stand-in's agent says what the real agents said. Method: every recorded conversation is held again with the
//! same person and the same model, and compared.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may: its failure is its answer")]

use fixtures::compare::Sides;
use fixtures::{ServerKind, catalog};
use harness::acp::truth::compare_all;
use harness::truth::stand_in_limits;

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_says_what_the_real_ones_said() {
    let mut wrong = Vec::new();
    let all = compare_all("", &stand_in_limits(), |comparison| {
        if comparison.is_equal() {
            return;
        }
        let sides = Sides::new("the recording", "the stand-in");
        let told = match &comparison.found {
            Ok(found) => found
                .iter()
                .map(|difference| difference.told(&sides).to_string())
                .collect::<Vec<_>>()
                .join("\n"),
            Err(why) => why.to_string(),
        };
        wrong.push(format!("{} {}\n{told}", comparison.server, comparison.scenario));
    })
    .await;
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let scenarios = catalog::acp_scenario_names().len();
    assert!(scenarios >= 50, "{scenarios}");
    for server in ServerKind::ALL {
        assert_eq!(
            all.iter().filter(|comparison| comparison.server == server).count(),
            scenarios,
            "{server}"
        );
    }
}
