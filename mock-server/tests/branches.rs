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
async fn opencode_goes_on_with_the_branch_with_which_an_instance_began() {
    let (main, feature) = ((json!("main"), 0), (json!("feature"), 1));
    assert_eq!(told(ServerKind::Opencode).await, [main.clone(), main, feature]);
}

#[tokio::test]
async fn kilo_sees_a_checkout() {
    let (main, feature) = ((json!("main"), 0), (json!("feature"), 1));
    assert_eq!(told(ServerKind::Kilo).await, [main, feature.clone(), feature]);
}
