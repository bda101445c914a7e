//! Goal: `standin serve` takes the settings of the server that it stands in for from the environment.

use crate::STANDIN;
use crate::spawned::Server;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

#[tokio::test]
async fn a_stand_in_under_its_own_name_takes_the_settings_of_the_server_from_the_environment() {
    for (given, asks) in [(None, json!("ask")), (Some(r#"{"username": "me"}"#), Value::Null)] {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(STANDIN);
        command.args(["serve", "--profile", "opencode"]).env_clear().env("TMPDIR", place.path());
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .envs(given.map(|text| ("OPENCODE_CONFIG_CONTENT", text)));
        let server = Server::start(command);
        let config: Value =
            reqwest::get(format!("{}/config", server.url)).await.unwrap().json().await.unwrap();
        assert_eq!(config["username"] == "me", given.is_some());
        // Of the tour alone the settings want leave for edits.
        assert_eq!(config["permission"]["edit"], asks, "{config}");
    }
}
