//! The harness's own eyes: a subscriber and reader on a lane that no fault touches. What it sees is in the journal.

use crate::clock::pause;
use fixtures::fault_plan::StreamName;
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Before the stream of a server that is started again is asked for again.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads the server, and keeps its event stream flowing: that of all folders.
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
            client.get(format!("{url}{}", StreamName::GlobalEvent.path())).basic_auth(user, Some(password));
        let again = request.try_clone();
        let mut response =
            request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        let stream = tokio::spawn(async move {
            loop {
                while let Ok(Some(_)) = response.chunk().await {}
                // The server ended, and starts again.
                let Some(next) = reopened(again.as_ref()).await else { return };
                response = next;
            }
        });
        Ok(Self { client, url: url.to_owned(), user: user.to_owned(), password: password.to_owned(), stream })
    }

    /// Reads a path as JSON, in a folder.
    pub(crate) async fn read(&self, path: &str, folder: &str) -> Result<Value, String> {
        let failed = |error: reqwest::Error| format!("the harness can't read {path}: {error}");
        let request = self.get(path, folder)?;
        let response = request.send().await.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        response.json().await.map_err(failed)
    }

    fn get(&self, path: &str, folder: &str) -> Result<RequestBuilder, String> {
        let url = Url::parse_with_params(&format!("{}{path}", self.url), [("directory", folder)]);
        let url = url.map_err(|error| format!("{path} is no address: {error}"))?;
        Ok(self.client.get(url).basic_auth(&self.user, Some(&self.password)))
    }
}

async fn reopened(request: Option<&RequestBuilder>) -> Option<reqwest::Response> {
    loop {
        if let Ok(response) = request?.try_clone()?.send().await {
            return Some(response);
        }
        pause(PAUSE).await;
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stream.abort();
    }
}
