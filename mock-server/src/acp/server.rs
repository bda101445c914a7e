//! The stand-in as its agent asks it: REST with a folder in each request, and one stream of everything.

use crate::standin::StandIn;
use crate::target::folder_named;
use fixtures::sse::Parser;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// What of an id would leave its segment of a path.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'-');

/// A route of the session of this id, whatever the client takes for an id.
pub(super) fn in_session(id: &str, rest: &str) -> String {
    // Dots alone lead up, also those that are escaped.
    let own = if id.bytes().all(|byte| byte == b'.') { "ses_" } else { "" };
    format!("/session/{own}{}{rest}", utf8_percent_encode(id, ESCAPED))
}

/// How an agent reaches the server that it translates for.
#[derive(Debug, Clone)]
pub(super) struct Server {
    client: reqwest::Client,
    url: String,
    user: String,
    password: String,
}

/// A server has refused something, or is gone: an agent tells no more of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refused;

impl Server {
    pub(super) fn of(stand_in: &StandIn, password: String) -> Result<Self, String> {
        let client = reqwest::Client::builder().no_proxy().retry(reqwest::retry::never()).build();
        let client = client.map_err(|error| format!("failed to make the agent's client: {error}"))?;
        Ok(Self { client, url: stand_in.url(), user: stand_in.username().to_owned(), password })
    }

    pub(super) async fn get(&self, path: &str, folder: &str) -> Result<Value, Refused> {
        self.ask(reqwest::Method::GET, path, folder, None).await
    }

    pub(super) async fn post(&self, path: &str, folder: &str, body: &Value) -> Result<Value, Refused> {
        self.ask(reqwest::Method::POST, path, folder, Some(body)).await
    }

    async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        folder: &str,
        body: Option<&Value>,
    ) -> Result<Value, Refused> {
        let lost = |_| Refused;
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        request = request.basic_auth(&self.user, Some(&self.password));
        if !folder.is_empty() {
            request = request.query(&[("directory", folder_named(folder))]);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(lost)?;
        let status = response.status();
        let text = response.text().await.map_err(lost)?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if status.is_success() { Ok(body) } else { Err(Refused) }
    }

    /// All events of all folders; `begun` is called when they are listened to.
    pub(super) async fn listen(&self, begun: impl FnOnce(), mut take: impl FnMut(Value)) {
        let request = self.client.get(format!("{}/global/event", self.url));
        let request = request.basic_auth(&self.user, Some(&self.password));
        let Ok(mut response) = request.send().await else { return };
        begun();
        let mut parser = Parser::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            for frame in parser.feed(&bytes) {
                if let Ok(mut event) = serde_json::from_str::<Value>(&frame.data) {
                    take(event["payload"].take());
                }
            }
        }
    }
}
