//! Goal: a session is named by the agent for titles that the settings make of it, and by nobody where they take it away;
//! what the script says for a turn is said in the turn. Method: the settings, and the calls of the model in the journal.

use crate::stage::Stage;
use fixtures::recording::{Line, ModelPurpose};
use fixtures::{ServerKind, catalog};
use mock_server::Options;
use serde_json::{Value, json};

/// What the model was asked for in a first turn under these settings, and what it answered.
async fn first_turn(server: ServerKind, title: Value) -> (Vec<ModelPurpose>, String) {
    let mut options = Options::scenario(server, catalog::scenario("text/plain").unwrap());
    options.settings.insert("agent".to_owned(), json!({"title": title}));
    let mut stage = Stage::open(options).await;
    let session = stage.session().await;
    let answer = stage.prompt(&session, "say hello").await;
    stage.until_kind("session.idle").await;
    let lines = stage.stand_in.journal().lines().into_iter();
    let purposes =
        lines.filter_map(|line| if let Line::Model(call) = line { Some(call.purpose) } else { None });
    let texts = answer["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str());
    (purposes.collect(), texts.collect())
}

#[tokio::test]
async fn who_writes_titles_is_known_whatever_it_is_told_of_itself() {
    for server in ServerKind::ALL {
        let (plain, text) = first_turn(server, json!({})).await;
        assert!(!text.is_empty() && plain.contains(&ModelPurpose::Turn), "{server}: {plain:?} {text:?}");
        let own = first_turn(server, json!({"prompt": "Name it."})).await;
        assert_eq!(own, (plain.clone(), text.clone()), "{server}");
        let nobody = first_turn(server, json!({"disable": true})).await;
        assert_eq!(nobody, (vec![ModelPurpose::Turn], text), "{server}");
    }
    assert!(first_turn(ServerKind::Opencode, json!({})).await.0.contains(&ModelPurpose::Title));
}
