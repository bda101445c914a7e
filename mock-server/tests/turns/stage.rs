//! A stand-in and a client that sends, reads, and waits for events.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use fixtures::sse;
use mock_server::{Options, StandIn};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// A stand-in, a client of it, and its events.
pub(crate) struct Stage {
    pub(crate) stand_in: StandIn,
    client: Client,
    response: Response,
    parser: sse::Parser,
    pub(crate) seen: Vec<Value>,
}

impl Stage {
    pub(crate) async fn open(options: Options) -> Self {
        let credentials = options.username.as_ref().zip(options.password.as_ref()).map(|(name, password)| {
            let word = BASE64_STANDARD.encode(format!("{name}:{password}"));
            HeaderMap::from_iter([(AUTHORIZATION, format!("Basic {word}").parse().unwrap())])
        });
        let stand_in = StandIn::start(options).await.unwrap();
        let client = Client::builder().no_proxy().default_headers(credentials.unwrap_or_default());
        let client = client.build().unwrap();
        let response = client.get(format!("{}/event", stand_in.url())).send().await.unwrap();
        Self { stand_in, client, response, parser: sse::Parser::new(), seen: Vec::new() }
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let url = format!("{}{path}", self.stand_in.url());
        self.client.post(url).json(&body).send().await.unwrap().json().await.unwrap()
    }

    /// Sends a request beside all else; its answer's status is there when it has come.
    pub(crate) fn beside(&self, method: Method, path: &str, body: &Value) -> JoinHandle<u16> {
        let url = format!("{}{path}", self.stand_in.url());
        let request = self.client.request(method, url).json(body);
        tokio::spawn(async move { request.send().await.unwrap().status().as_u16() })
    }

    /// A body as it is written, with the status of its answer.
    pub(crate) async fn post_text(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}{path}", self.stand_in.url());
        let response = self.client.post(url).body(body.to_owned()).send().await.unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&response.bytes().await.unwrap()).unwrap_or_default())
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.stand_in.url());
        self.client.get(url).send().await.unwrap().json().await.unwrap()
    }

    pub(crate) async fn session(&self) -> String {
        self.post("/session", json!({})).await["id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn prompt(&self, session: &str, text: &str) -> Value {
        self.post(&format!("/session/{session}/message"), said(text)).await
    }

    /// Sends a prompt and does not wait for its end.
    pub(crate) async fn begin(&self, session: &str, text: &str) {
        let url = format!("{}/session/{session}/prompt_async", self.stand_in.url());
        self.client.post(url).json(&said(text)).send().await.unwrap();
    }

    pub(crate) async fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(event) = self.seen.iter().find(|event| fits(event)) {
                return event.clone();
            }
            let chunk = self.response.chunk().await.unwrap().expect("the stream ended too early");
            let frames = self.parser.feed(&chunk).into_iter();
            self.seen.extend(frames.map(|frame| serde_json::from_str::<Value>(&frame.data).unwrap()));
        }
    }

    pub(crate) async fn until_kind(&mut self, kind: &str) -> Value {
        self.until(|event| event["type"] == kind).await
    }
}

fn said(text: &str) -> Value {
    json!({"parts": [{"type": "text", "text": text}]})
}
