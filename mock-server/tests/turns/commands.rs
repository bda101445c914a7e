//! Goal: what a client says beside a command is what the real servers make of it. Method: a command of the settings, and the
//! answers of the real servers.

use crate::stage::Stage;
use fixtures::{ServerKind, catalog};
use mock_server::Options;
use serde_json::json;

#[tokio::test]
async fn a_model_without_a_slash_is_one_of_a_provider_that_there_is_not() {
    for server in ServerKind::ALL {
        let mut options = Options::scenario(server, catalog::scenario("text/plain").unwrap());
        options.settings.insert("command".to_owned(), json!({"greet": {"template": "say hello"}}));
        let mut stage = Stage::open(options).await;
        let session = stage.session().await;
        let path = format!("/session/{session}/command");
        let wish = json!({"command": "greet", "arguments": "", "model": "bad"});
        assert_eq!(stage.post_text(&path, &wish.to_string()).await.0, 500, "{server}");
        let told = stage.until_kind("session.error").await;
        let message = told["properties"]["error"]["data"]["message"].as_str().unwrap();
        assert!(message.starts_with("Model not found: bad/."), "{server}: {message}");
        let wish = json!({"command": "greet", "arguments": "", "model": ""});
        assert_eq!(stage.post_text(&path, &wish.to_string()).await.0, 200, "{server}");
    }
}
