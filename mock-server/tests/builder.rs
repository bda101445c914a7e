//! Goal: a test hears from its stand-in what it would not have noticed. Method: stand-ins that are used wrongly, dropped
//! in a task whose panic is caught.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use mock_server::{Builder, StandIn};
use serde_json::json;

/// Prompts, reads routes, and drops the stand-in: what it says then.
async fn last_words(builder: Builder, prompts: &[&str], routes: &[&str]) -> Option<String> {
    let (prompts, routes) = (
        prompts.iter().map(|prompt| (*prompt).to_owned()).collect::<Vec<_>>(),
        routes.iter().map(|route| (*route).to_owned()).collect::<Vec<_>>(),
    );
    let test = tokio::spawn(async move {
        let stand_in = builder.start().await.unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let post = async |route: &str, body: serde_json::Value| -> serde_json::Value {
            let url = format!("{}{route}", stand_in.url());
            client.post(url).json(&body).send().await.unwrap().json().await.unwrap()
        };
        let session = post("/session", json!({})).await["id"].as_str().unwrap().to_owned();
        for prompt in prompts {
            let body = json!({"parts": [{"type": "text", "text": prompt}]});
            post(&format!("/session/{session}/message"), body).await;
        }
        for route in routes {
            client.get(format!("{}{route}", stand_in.url())).send().await.unwrap();
        }
    });
    let panic = test.await.err()?.into_panic();
    Some(
        panic.downcast_ref::<String>().unwrap().lines().skip(1).map(str::trim).collect::<Vec<_>>().join("; "),
    )
}

#[tokio::test]
async fn what_was_missed_is_said_when_the_stand_in_is_dropped() {
    let plain = || StandIn::kilo().scenario("text/plain");
    assert_eq!(last_words(plain(), &["say hello"], &["/doc", "/session", "/SESSION/"]).await, None);
    assert_eq!(
        last_words(plain(), &[], &[]).await.unwrap(),
        "nobody asked for this part of the scenario: turn 1 (on \"hello\")"
    );
    assert_eq!(
        last_words(plain(), &["say hello"], &["/sesion"]).await.unwrap(),
        "the server has no such route: GET /sesion"
    );
    assert!(
        last_words(plain(), &["say hello", "fly"], &[])
            .await
            .unwrap()
            .starts_with("the model was asked in vain: ")
    );
    assert_eq!(last_words(plain().lenient(), &[], &["/sesion"]).await, None);
}

#[tokio::test]
async fn the_friendly_one_need_not_be_used_up_and_answers_any_prompt() {
    assert_eq!(last_words(StandIn::opencode(), &["what is this?"], &[]).await, None);
}

#[tokio::test]
async fn several_scenarios_are_one() {
    let both = StandIn::kilo().scenario("text/plain").scenario("text/reasoning");
    assert!(last_words(both, &["say hello"], &[]).await.unwrap().starts_with("nobody asked for this part"));
    let twice = StandIn::kilo().scenario("text/plain").scenario("text/two-prompts").start().await;
    let error = twice.err().map(|error| error.to_string());
    assert!(error.is_none_or(|error| error.contains("text/plain and text/two-prompts")));
}
