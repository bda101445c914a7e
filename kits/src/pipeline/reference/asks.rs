//! What an agent asks while it works. Nobody sits in front of a runner, so it listens itself.

use super::{Pipeline, Server};
use reqwest::{Client, Response};
use serde_json::Value;
use std::path::Path;

/// The events of a folder, from before anybody is prompted there.
pub(super) async fn listen(client: &Client, asked: &Pipeline, place: &Path) -> Result<Response, String> {
    let Server { url, user, password } = &asked.server;
    let request = client.get(format!("{url}/event")).query(&[("directory", place.to_string_lossy())]);
    request.basic_auth(user, Some(password)).send().await.map_err(|error| error.to_string())
}

/// The id of the next question of a session; never comes when the stream ends before.
pub(super) async fn question(mut events: Response, session: &str) -> String {
    let mut unread = Vec::new();
    while let Ok(Some(bytes)) = events.chunk().await {
        unread.extend_from_slice(&bytes);
        while let Some(end) = unread.windows(2).position(|two| two == b"\n\n") {
            let frame: Vec<u8> = unread.drain(..end + 2).collect();
            let frame = String::from_utf8_lossy(&frame);
            let told = frame.trim().strip_prefix("data:").unwrap_or_default();
            let event: Value = serde_json::from_str(told.trim()).unwrap_or_default();
            let about = &event["properties"];
            if event["type"] == "permission.asked" && about["sessionID"] == session {
                return about["id"].as_str().unwrap_or_default().to_owned();
            }
        }
    }
    std::future::pending().await
}
