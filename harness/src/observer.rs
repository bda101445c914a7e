//! The harness's own eyes: a subscriber and reader on a lane that no fault touches. What it sees is in the journal.

use fixtures::fault_plan::StreamName;
use reqwest::{Client, RequestBuilder};
use serde_json::Value;
use tokio::task::JoinHandle;

/// Reads the server, and keeps its event stream flowing.
pub(crate) struct Observer {
    client: Client,
    url: String,
    user: String,
    password: String,
    stream: JoinHandle<()>,
}

impl Observer {
    pub(crate) async fn start(url: &str, user: &str, password: &str) -> Result<Self, String> {
        let failed = |error: reqwest::Error| format!("the harness can't watch the stand-in: {error}");
        let client = Client::builder().no_proxy().build().map_err(failed)?;
        let request =
            client.get(format!("{url}{}", StreamName::Event.path())).basic_auth(user, Some(password));
        let mut response =
            request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        let stream = tokio::spawn(async move { while let Ok(Some(_)) = response.chunk().await {} });
        Ok(Self { client, url: url.to_owned(), user: user.to_owned(), password: password.to_owned(), stream })
    }

    /// Reads a path as JSON.
    pub(crate) async fn read(&self, path: &str) -> Result<Value, String> {
        let failed = |error: reqwest::Error| format!("the harness can't read {path}: {error}");
        let response =
            self.get(path).send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        response.json().await.map_err(failed)
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("{}{path}", self.url)).basic_auth(&self.user, Some(&self.password))
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stream.abort();
    }
}
