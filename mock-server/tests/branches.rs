//! Goal: a branch that is checked out meanwhile is told as the real servers tell it. Method: a plain client on loopback and
//! a line that it runs; recordings hold no such line, for the servers see the files of git now and then.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::Client;
use serde_json::{Value, json};

/// The branch that is told, and how many files differ from the default one: before a checkout, behind it, and when the
/// instance has begun anew.
async fn told(server: ServerKind) -> Vec<(Value, usize)> {
    let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
    let stand_in = StandIn::start(options).await.unwrap();
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let get = async |path: &str| -> Value {
        client.get(format!("{url}{path}")).send().await.unwrap().json().await.unwrap()
    };
    let post = async |path: &str, body: Value| -> Value {
        client.post(format!("{url}{path}")).json(&body).send().await.unwrap().json().await.unwrap()
    };
    let look = async || {
        let changed = get("/vcs/diff?mode=branch").await;
        (get("/vcs").await["branch"].clone(), changed.as_array().unwrap().len())
    };
    let session = post("/session", json!({})).await["id"].as_str().unwrap().to_owned();
    let mut seen = vec![look().await];
    let line = json!({"agent": "build", "command": "git checkout -q -b feature; echo new > new.txt"});
    post(&format!("/session/{session}/shell"), line).await;
    seen.push(look().await);
    post("/instance/dispose", json!({})).await;
    seen.push(look().await);
    seen
}

#[tokio::test]
async fn a_checkout_is_seen() {
    let (main, feature) = ((json!("main"), 0), (json!("feature"), 1));
    for server in ServerKind::ALL {
        assert_eq!(told(server).await, [main.clone(), feature.clone(), feature.clone()], "{server}");
    }
}

/// The branches that the streams tell of, while lines are run.
async fn announced(server: ServerKind, lines: &[&str]) -> Vec<Value> {
    let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
    let stand_in = StandIn::start(options).await.unwrap();
    let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
    let mut stream = client.get(format!("{url}/event")).send().await.unwrap();
    let new = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
    let session = new.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    for line in lines.iter().chain(&["echo the end"]) {
        let line = json!({"agent": "general", "command": line});
        let done = client.post(format!("{url}/session/{session}/shell")).json(&line).send().await.unwrap();
        assert_eq!(done.status(), 200, "{server}");
    }
    client.post(format!("{url}/instance/dispose")).send().await.unwrap();
    let mut text = String::new();
    while !text.contains("server.instance.disposed") {
        let chunk = stream.chunk().await.unwrap().expect("the stream ended too early");
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = events.map(|event| serde_json::from_str::<Value>(event).unwrap());
    events
        .filter(|event| event["type"] == "vcs.branch.updated")
        .map(|event| event["properties"].clone())
        .collect()
}

#[tokio::test]
async fn a_checkout_is_told_once() {
    let lines =
        ["git checkout -q -b feature", "git status", "git checkout -q --detach", "git checkout -q main"];
    for server in ServerKind::ALL {
        let told = [json!({"branch": "feature"}), json!({}), json!({"branch": "main"})];
        assert_eq!(announced(server, &lines).await, told, "{server}");
    }
}
