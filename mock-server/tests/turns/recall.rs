//! Goal: what an agent recalls is what was said elsewhere or before, the best first. Method: a plain client on loopback, two
//! sessions with words in them.

use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::Options;
use serde_json::Value;
use std::path::Path;

const TALKS: &str = r#"
about = "Somebody talks of pears and plums, and asks for them later."

[[agent]]
on = { prompt_contains = "pears please" }
steps = [{ say = "Ripe pears." }]

[[agent]]
on = { prompt_contains = "a plum" }
steps = [{ say = "One plum, and no pear: pears are gone." }]

[[agent]]
on = { prompt_contains = "who spoke of ripe pears" }
steps = [
  { tool = "kilo_local_recall", input = { mode = "search", query = "ripe pears" } },
  { finish = "tool_calls" },
  { tool = "kilo_local_recall", input = { mode = "search", query = "spoke" } },
  { finish = "tool_calls" },
  { tool = "kilo_local_recall", input = { mode = "search", query = "plum quince" } },
  { finish = "tool_calls" },
  { say = "I know." },
]

[user]
steps = [
  { prompt = "pears please" },
  { wait_for = "idle" },
  { prompt = "a plum" },
  { wait_for = "idle" },
  { prompt = "who spoke of ripe pears?" },
  { wait_for = "idle" },
]
"#;

#[tokio::test]
async fn the_best_is_told_first_and_nobody_finds_their_own_question() {
    let scenario = Scenario::parse(Path::new("talks.toml"), TALKS).unwrap();
    let stage = Stage::open(Options::scenario(ServerKind::Kilo, scenario)).await;
    let ripe = stage.session().await;
    stage.prompt(&ripe, "pears please").await;
    let plum = stage.session().await;
    stage.prompt(&plum, "a plum").await;
    stage.prompt(&plum, "who spoke of ripe pears?").await;
    let messages = stage.get(&format!("/session/{plum}/message")).await;
    let parts = messages.as_array().unwrap().iter().flat_map(|message| message["parts"].as_array().unwrap());
    let outputs: Vec<&Value> =
        parts.filter(|part| part["type"] == "tool").map(|part| &part["state"]["output"]).collect();
    let [found, own, partial] = outputs.as_slice() else { panic!("{outputs:?}") };
    let found = found.as_str().unwrap();
    assert!(found.contains(&ripe) && found.contains("assistant") && found.contains("Ripe pears."), "{found}");
    assert!(!found.contains(&format!("ID: {plum}")), "it has not both words: {found}");
    assert!(own.as_str().unwrap().starts_with("No sessions found"), "{own}");
    let partial = partial.as_str().unwrap();
    assert!(partial.contains("Partial match, missing: quince") && partial.contains("a plum"), "{partial}");
}
