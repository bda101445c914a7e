//! Goal: `standin serve` takes the settings of the server that it stands in for from the environment, with the model that
//! they bring; and a model at an address is told what the real servers tell theirs.

use crate::STANDIN;
use crate::spawned::Server;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn a_stand_in_under_its_own_name_takes_the_settings_of_the_server_from_the_environment() {
    for (given, asks) in [(None, json!("ask")), (Some(r#"{"username": "me"}"#), Value::Null)] {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(STANDIN);
        command.args(["serve", "--profile", "opencode"]).env_clear().env("TMPDIR", place.path());
        command
            .env("USER", "anna")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .envs(given.map(|text| ("OPENCODE_CONFIG_CONTENT", text)));
        let server = Server::start(command);
        let config: Value =
            reqwest::get(format!("{}/config", server.url)).await.unwrap().json().await.unwrap();
        assert_eq!(config["username"], if given.is_some() { "me" } else { "anna" });
        // Of the tour alone the settings want leave for edits.
        assert_eq!(config["permission"]["edit"], asks, "{config}");
    }
}

#[tokio::test]
async fn a_model_that_the_environment_brings_takes_the_place_of_the_scripted_one() {
    let model = json!({"name": "One", "limit": {"context": 5000, "output": 500}});
    let provider = json!({
        "mine": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:1/v1"}, "models": {"m1": model}},
        "other": {"name": "Other", "models": {"o1": {}, "o2": {}}},
    });
    for (server, named) in [("kilo", true), ("opencode", true), ("opencode", false)] {
        let mut settings = json!({"provider": provider});
        if named {
            settings["model"] = json!("mine/m1");
        }
        let variable = format!("{}_CONFIG_CONTENT", server.to_uppercase());
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(STANDIN);
        command.args(["serve", "--profile", server]).env_clear().env("TMPDIR", place.path());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).env(variable, settings.to_string());
        let server = Server::start(command);
        let get = async |path: &str| -> Value {
            reqwest::get(format!("{}{path}", server.url)).await.unwrap().json().await.unwrap()
        };
        let known = get("/config/providers").await;
        let of = |id: &str| known["providers"].as_array().unwrap().iter().find(|one| one["id"] == id);
        assert_eq!(of("fake").is_none(), named, "{known}");
        assert_eq!(known["default"].get("fake").is_none(), named);
        assert_eq!((&known["default"]["mine"], &known["default"]["other"]), (&json!("m1"), &json!("o2")));
        let mine = of("mine").unwrap();
        assert_eq!(
            (&mine["name"], &mine["options"]["baseURL"]),
            (&json!("mine"), &json!("http://127.0.0.1:1/v1"))
        );
        let model = &mine["models"]["m1"];
        assert_eq!((&model["providerID"], &model["name"]), (&json!("mine"), &json!("One")));
        assert_eq!(model["limit"], json!({"context": 5000, "output": 500}));
        assert_eq!(of("other").unwrap()["models"]["o1"]["limit"], json!({"context": 0, "output": 0}));
        assert_eq!(get("/config").await["provider"].get("fake").is_none(), named);
        let all = get("/provider").await;
        assert!(all["connected"].as_array().unwrap().contains(&json!("mine")), "{}", all["connected"]);
    }
}

/// The body of a request, whose connection is then answered with a refusal.
async fn asked(stream: &mut TcpStream) -> Value {
    let (mut text, mut piece) = (Vec::new(), [0; 65_536]);
    let body = loop {
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "the request ended too early");
        text.extend_from_slice(&piece[..read]);
        let Some(head) = text.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let length = String::from_utf8_lossy(&text[..head]).to_lowercase();
        let length =
            length.split("content-length:").nth(1).unwrap().lines().next().unwrap().trim().to_owned();
        let body = &text[head + 4..];
        if body.len() >= length.parse().unwrap() {
            break serde_json::from_slice(body).unwrap();
        }
    };
    let refusal = "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    stream.write_all(refusal.as_bytes()).await.unwrap();
    body
}

#[tokio::test]
async fn a_model_at_an_address_is_told_what_each_tool_is_for() {
    for server in ["kilo", "opencode"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new(STANDIN);
        let model = format!("http://{}/v1", listener.local_addr().unwrap());
        command.args(["serve", "--profile", server, "--model", &model]).env_clear();
        command.env("TMPDIR", place.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let server = Server::start(command);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let made = client.post(format!("{}/session", server.url)).json(&json!({})).send().await.unwrap();
        let session: Value = made.json().await.unwrap();
        let prompt = json!({"parts": [{"type": "text", "text": "Look around."}]});
        let path = format!("{}/session/{}/prompt_async", server.url, session["id"].as_str().unwrap());
        client.post(path).json(&prompt).send().await.unwrap();
        let work = loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = asked(&mut stream).await;
            // A title is asked for without tools.
            if request.get("tools").is_some() {
                break request;
            }
        };
        assert_eq!((&work["max_tokens"], &work["tool_choice"]), (&json!(10_000), &json!("auto")));
        let tools = work["tools"].as_array().unwrap();
        for tool in tools {
            let told = &tool["function"];
            assert!(told["description"].as_str().is_some_and(|text| text.len() > 20), "{told}");
            assert_eq!(told["parameters"]["type"], "object", "{told}");
        }
        let tool = tools.iter().find(|tool| tool["function"]["name"] == "edit").unwrap();
        assert!(tool["function"]["parameters"]["properties"].get("oldString").is_some(), "{tool}");
    }
}
