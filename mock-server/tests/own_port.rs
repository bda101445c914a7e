//! Goal: a stand-in that is a program of its own keeps its port, whatever is armed over HTTP: whoever started it knows no
//! other. Method: the control API of one that is told that it is.

#![allow(clippy::unwrap_used, reason = "a test may: its failure is its answer")]

use fixtures::fault_plan::Performed;
use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::Client;
use serde_json::{Value, json};

#[tokio::test]
async fn a_program_of_its_own_stays_at_its_port() {
    let mut options = Options::scenario(ServerKind::Opencode, catalog::scenario("text/plain").unwrap());
    options.control_token = Some("key".to_owned());
    options.performed = Performed::Process;
    let stand_in = StandIn::start(options).await.unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let at = |path: &str| format!("{}/__standin__{path}", stand_in.url());
    let elsewhere = json!({"restart": "killed", "port": "new"});
    let ways = [
        ("/faults", json!({"faults": [{"when": {"request": "rest"}, "do": elsewhere}]})),
        ("/now", json!({"do": elsewhere})),
    ];
    for (path, body) in ways {
        let answer = client.post(at(path)).bearer_auth("key").json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        let said: Value = answer.json().await.unwrap();
        assert!(status == 400 && said["error"].as_str().unwrap().contains("port"), "{path}: {status} {said}");
    }
    let listed = client.get(at("/faults")).bearer_auth("key").send().await.unwrap();
    assert_eq!(listed.json::<Value>().await.unwrap(), json!([]), "nothing is armed");
}
