//! Goal: the event streams of the next generation carry what they do on the real servers. Method: a plain client on
//! loopback; recordings hold only the older streams.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use reqwest::{Client, Response};
use serde_json::{Value, json};

struct Stream {
    response: Response,
    text: String,
}

impl Stream {
    async fn open(client: &Client, url: String) -> Self {
        Self { response: client.get(url).send().await.unwrap(), text: String::new() }
    }

    /// The next frame.
    async fn next(&mut self) -> String {
        self.try_next().await.expect("the stream ended too early")
    }

    /// The next frame, if the stream does not end.
    async fn try_next(&mut self) -> Option<String> {
        loop {
            if let Some((frame, rest)) = self.text.split_once("\n\n") {
                let (frame, rest) = (frame.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(frame);
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn event(&mut self) -> Value {
        serde_json::from_str(self.next().await.strip_prefix("data: ").unwrap()).unwrap()
    }

    /// The next event that is none of a boot.
    async fn news(&mut self) -> Value {
        loop {
            let event = self.event().await;
            let kind = event["type"].as_str().unwrap();
            if !["plugin.added", "catalog.updated", "integration.updated", "reference.updated"]
                .contains(&kind)
            {
                return event;
            }
        }
    }
}

async fn stand_in(server: ServerKind) -> (StandIn, Client, String) {
    let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
    let stand_in = StandIn::start(options).await.unwrap();
    let url = stand_in.url();
    (stand_in, Client::builder().no_proxy().build().unwrap(), url)
}

async fn post(client: &Client, url: String, body: Value) -> Value {
    client.post(url).json(&body).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn all_events_are_told_in_the_next_form() {
    let (_stand_in, client, url) = stand_in(ServerKind::Opencode).await;
    let mut stream = Stream::open(&client, format!("{url}/api/event")).await;
    assert_eq!(stream.response.headers()["cache-control"], "no-cache, no-transform");
    let hello = stream.event().await;
    assert_eq!((&hello["type"], &hello["data"]), (&json!("server.connected"), &json!({})));
    assert_eq!(stream.next().await, ": heartbeat");
    let older = post(&client, format!("{url}/session"), json!({})).await;
    let created = stream.news().await;
    assert_eq!(created["type"], "session.created");
    assert_eq!(created["durable"], json!({"aggregateID": older["id"], "seq": 0, "version": 1}));
    assert_eq!(created["location"]["directory"], older["directory"]);
    assert_eq!(created["data"]["info"]["id"], older["id"]);
    let model = json!({"id": "other", "providerID": "fake"});
    let newer = post(&client, format!("{url}/api/session"), json!({"model": model})).await;
    let session = newer["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(stream.news().await["data"]["sessionID"], *session);
    post(&client, format!("{url}/api/session/{session}/prompt"), json!({"prompt": {"text": "hi"}})).await;
    for (kind, seq) in [("session.next.prompt.admitted", 1), ("session.next.prompted", 2)] {
        let event = stream.news().await;
        assert_eq!((&event["type"], &event["durable"]["seq"]), (&json!(kind), &json!(seq)));
        assert!(event["data"]["timestamp"].is_u64(), "{event}");
    }
}

#[tokio::test]
async fn a_folder_is_named_from_the_root_or_not_at_all() {
    for server in [ServerKind::Kilo, ServerKind::Opencode] {
        let (_stand_in, client, url) = stand_in(server).await;
        let make = async |directory: &str| {
            let body = json!({"id": "ses_0made", "location": {"directory": directory}});
            client.post(format!("{url}/api/session")).json(&body).send().await.unwrap().status()
        };
        assert_eq!(make("sub").await, 500, "{server}");
        let missing = client.get(format!("{url}/api/session/ses_0made")).send().await.unwrap();
        assert_eq!(missing.status(), 404, "{server}");
        assert_eq!(make("").await, 200, "{server}");
    }
}

#[tokio::test]
async fn what_lasts_of_a_session_is_told_again_and_goes_on() {
    let (_stand_in, client, url) = stand_in(ServerKind::Kilo).await;
    let made = post(&client, format!("{url}/api/session"), json!({})).await;
    let session = format!("{url}/api/session/{}", made["data"]["id"].as_str().unwrap());
    // Who asks before there is anything to tell gets an answer when there is.
    let (asker, target) = (client.clone(), format!("{session}/event"));
    let early = tokio::spawn(async move { Stream::open(&asker, target).await.event().await });
    let agent = |name: &str| client.post(format!("{session}/agent")).json(&json!({"agent": name})).send();
    assert_eq!(agent("plan").await.unwrap().status(), 204);
    assert_eq!(agent("build").await.unwrap().status(), 204);
    let mut late = Stream::open(&client, format!("{session}/event?after=1")).await;
    assert!(!late.response.headers().contains_key("cache-control"));
    assert_eq!(late.event().await["data"]["agent"], "build");
    assert_eq!(agent("plan").await.unwrap().status(), 204);
    assert_eq!(late.event().await["durable"]["seq"], 3);
    let first = early.await.unwrap();
    assert!(["plan", "build"].iter().any(|agent| first["data"]["agent"] == **agent), "{first}");
}

#[tokio::test]
async fn a_model_that_can_not_be_reached_is_told() {
    let (_stand_in, client, url) = stand_in(ServerKind::Opencode).await;
    let made = post(&client, format!("{url}/api/session"), json!({})).await;
    let session = format!("{url}/api/session/{}", made["data"]["id"].as_str().unwrap());
    post(&client, format!("{session}/prompt"), json!({"prompt": {"text": "hi"}})).await;
    let list: Value = client.get(format!("{session}/message")).send().await.unwrap().json().await.unwrap();
    let answer = &list["data"][0];
    assert_eq!(answer["error"], json!({"type": "unknown", "message": "HTTP transport failed"}));
    assert_eq!((&answer["finish"], &answer["agent"]), (&json!("error"), &json!("build")));
    let history: Value =
        client.get(format!("{session}/history?after=2")).send().await.unwrap().json().await.unwrap();
    let kinds: Vec<&Value> = history["data"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["session.next.step.started", "session.next.step.failed"]);
    assert_eq!(history["data"][1]["durable"]["version"], 2);
}

#[tokio::test]
async fn who_has_no_words_for_a_turn_ends_the_stream_and_who_has_leaves_its_bounds_out() {
    for server in ServerKind::ALL {
        let (_stand_in, client, url) = stand_in(server).await;
        let mut stream = Stream::open(&client, format!("{url}/api/event")).await;
        let session = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
        let session = session.json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
        let prompt = json!({"parts": [{"type": "text", "text": "hello"}]});
        client.post(format!("{url}/session/{session}/message")).json(&prompt).send().await.unwrap();
        let mut told = Vec::new();
        let ends = loop {
            if let Some(frame) = stream.try_next().await {
                let Some(event) = frame.strip_prefix("data: ") else { continue };
                let kind = serde_json::from_str::<Value>(event).unwrap()["type"].as_str().unwrap().to_owned();
                if kind == "session.idle" {
                    break false;
                }
                told.push(kind);
            } else {
                break true;
            }
        };
        assert_eq!(ends, server == ServerKind::Opencode, "{server}: {told:?}");
        assert_eq!(told.iter().any(|kind| kind == "session.status"), !ends, "{server}");
        assert!(!told.iter().any(|kind| kind.starts_with("session.turn.")), "{server}: {told:?}");
    }
}
