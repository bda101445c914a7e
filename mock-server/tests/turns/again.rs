//! Goal: who says a message again under its id adds to it, and has his answer already where the real server thinks so.
//! Method: one message said twice, with a part that is said again, and what is read of it. Seen on the real servers.

use crate::stage::Stage;
use fixtures::ServerKind;
use fixtures::scenario::Scenario;
use mock_server::Options;
use serde_json::{Value, json};
use std::path::Path;

const SCENARIO: &str = r#"
about = "x"
[[agent]]
on = { prompt_contains = "early" }
steps = [{ say = "One." }, { finish = "stop" }, { say = "Two." }]
[user]
steps = [{ prompt = "early" }]
"#;

fn letter(parts: Value) -> Value {
    json!({"messageID": "msg_0000000000000000000000000a", "parts": parts})
}

fn texts(told: &Value) -> Vec<&str> {
    told["parts"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test]
async fn a_message_that_is_said_again_is_one_message() {
    for server in ServerKind::ALL {
        let scenario = Scenario::parse(Path::new("s.toml"), SCENARIO).unwrap();
        let stage = Stage::open(Options::scenario(server, scenario)).await;
        let route = format!("/session/{}/message", stage.session().await);
        let first = json!([{"type": "text", "text": "early", "id": "prt_0000000000000000000000000a"}]);
        let one = stage.post(&route, letter(first)).await;
        let two = stage.post(&route, letter(json!([{"type": "text", "text": "early again"}]))).await;
        let answers_once = server == ServerKind::Opencode;
        assert_eq!(one["info"]["id"] == two["info"]["id"], answers_once, "{server}");
        assert_eq!(texts(&two), if answers_once { ["One."] } else { ["Two."] });

        let changed = json!([{"type": "text", "text": "late", "id": "prt_0000000000000000000000000a"}]);
        let mut changed = letter(changed);
        changed["noReply"] = json!(true);
        assert_eq!(texts(&stage.post(&route, changed).await), ["late"], "only what was said now");
        let all = stage.get(&route).await;
        let all = all.as_array().unwrap();
        assert_eq!(all.len(), if answers_once { 2 } else { 3 }, "{server}");
        assert_eq!(texts(&all[0]), ["late", "early again"]);
    }
}
