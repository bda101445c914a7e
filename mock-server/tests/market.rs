//! Goal: what a client installs from the marketplace is there for the next request, in the project or everywhere, and gone when it is
//! taken away; a stand-in that keeps to its workspace and home puts nothing elsewhere. Method: a plain client on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::{Client, Method};
use serde_json::{Value, json};

async fn stand_in() -> StandIn {
    let options = Options::scenario(ServerKind::Kilo, catalog::scenario("text/welcome").unwrap());
    StandIn::start(options).await.unwrap()
}

async fn ask(stand_in: &StandIn, method: Method, path: &str, body: Value) -> Value {
    let client = Client::builder().no_proxy().build().unwrap();
    let url = format!("{}{path}", stand_in.url());
    let response = client.request(method, url).json(&body).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200, "{path}");
    response.json().await.unwrap()
}

async fn installed(stand_in: &StandIn) -> Value {
    let told = ask(stand_in, Method::GET, "/kilocode/marketplace", Value::Null).await;
    assert_eq!(
        (&told["items"], told["errors"].as_array().unwrap().len()),
        (&json!([]), 3),
        "there is no network"
    );
    told["installed"].clone()
}

async fn change(stand_in: &StandIn, what: &str, body: Value) {
    let told = ask(stand_in, Method::POST, &format!("/kilocode/marketplace/{what}"), body).await;
    assert_eq!(told["success"], true, "{told}");
}

#[tokio::test]
async fn what_is_installed_is_told_where_it_lies() {
    let stand_in = stand_in().await;
    let own = json!({"skill:kilo-config": {"type": "skill"}});
    assert_eq!(installed(&stand_in).await, json!({"project": {}, "global": own}));
    let agent = |id: &str| {
        let content = json!({"mode": "subagent", "description": "Helps", "prompt": "Help."});
        json!({"type": "agent", "id": id, "content": content})
    };
    let server = json!({"type": "mcp", "id": "tools", "content": "{\"command\": \"x\", \"enabled\": false}"});
    change(&stand_in, "install", json!({"item": agent("near")})).await;
    change(&stand_in, "install", json!({"item": server})).await;
    change(&stand_in, "install", json!({"item": agent("far"), "target": "global"})).await;
    change(&stand_in, "install", json!({"item": server, "target": "global"})).await;
    let told = installed(&stand_in).await;
    let names = |place: &str| told[place].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names("project"), ["agent:near", "mcp:tools"]);
    assert_eq!(names("global"), ["agent:far", "mcp:tools", "skill:kilo-config"]);
    let agents = ask(&stand_in, Method::GET, "/agent", Value::Null).await;
    let is_there = |name: &str| agents.as_array().unwrap().iter().any(|agent| agent["name"] == name);
    assert!(is_there("near") && is_there("far"), "{agents}");
    for (kind, id, scope) in [
        ("agent", "near", "project"),
        ("mcp", "tools", "project"),
        ("agent", "far", "global"),
        ("mcp", "tools", "global"),
    ] {
        change(&stand_in, "remove", json!({"item": {"type": kind, "id": id}, "scope": scope})).await;
    }
    assert_eq!(installed(&stand_in).await, json!({"project": {}, "global": own}));
}

#[tokio::test]
async fn an_agent_of_all_projects_is_made_and_taken_away() {
    let stand_in = stand_in().await;
    let mine = json!({"prompt": "Be mine.", "scope": "global"});
    let told = ask(&stand_in, Method::PUT, "/agent-builder/mine", mine).await;
    assert!(told["path"].as_str().unwrap().ends_with("/.config/kilo/agent/mine.md"), "{told}");
    let agents = async || ask(&stand_in, Method::GET, "/agent", Value::Null).await.to_string();
    assert!(agents().await.contains("Be mine."));
    let gone = json!({"name": "mine", "scope": "global"});
    assert_eq!(ask(&stand_in, Method::POST, "/kilocode/agent/remove", gone).await, true);
    assert!(!agents().await.contains("Be mine."));
}
