//! The harness's own eyes: a subscriber and reader on a lane that no fault touches. What it sees is in the journal.

use crate::clock::pause;
use crate::net::{Answered, Ask, Net};
use fixtures::fault_plan::StreamName;
use futures_util::StreamExt as _;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Before the stream of a server that is started again is asked for again.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads the server, and keeps its event stream flowing: that of all folders.
pub(crate) struct Observer {
    net: Arc<dyn Net>,
    /// What all its requests have in common.
    ask: Ask,
    stream: JoinHandle<()>,
}

impl Observer {
    pub(crate) async fn start(
        net: Arc<dyn Net>,
        server: &str,
        user: &str,
        password: &str,
    ) -> Result<Self, String> {
        let credentials = Some((user.to_owned(), password.to_owned()));
        let ask = Ask { method: "GET", server: server.to_owned(), credentials, ..Ask::default() };
        let stream = Ask { path: StreamName::GlobalEvent.path().to_owned(), ..ask.clone() };
        let mut answer = good(net.send(stream.clone()).await)
            .map_err(|why| format!("the harness can't watch the stand-in: {why}"))?;
        let again = net.clone();
        let stream = tokio::spawn(async move {
            loop {
                while let Some(Ok(_)) = answer.body.next().await {}
                // The server ended, and starts again.
                answer = reopened(&again, &stream).await;
            }
        });
        Ok(Self { net, ask, stream })
    }

    /// Reads a path as JSON, in a folder.
    pub(crate) async fn read(&self, path: &str, folder: &str) -> Result<Value, String> {
        let failed = |why: String| format!("the harness can't read {path}: {why}");
        let folder = in_query(folder);
        let ask = Ask { path: format!("{path}?directory={folder}"), ..self.ask.clone() };
        let text = good(self.net.send(ask).await).map_err(failed)?.text().await.map_err(failed)?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    }

    /// Sends JSON to a path in a folder, as another client of the same person does.
    pub(crate) async fn send(
        &self,
        method: &'static str,
        path: &str,
        body: Option<Value>,
        folder: &str,
    ) -> Result<(), String> {
        let failed = |why: String| format!("another client can't ask {path}: {why}");
        let folder = in_query(folder);
        let path = format!("{path}?directory={folder}");
        let ask = Ask { method, path, body, ..self.ask.clone() };
        good(self.net.send(ask).await).map_err(failed)?.text().await.map_err(failed).map(drop)
    }
}

/// A folder as a query names it: the servers decode it twice.
fn in_query(folder: &str) -> String {
    utf8_percent_encode(&folder.replace('%', "%25"), NON_ALPHANUMERIC).to_string()
}

fn good(answer: Result<Answered, String>) -> Result<Answered, String> {
    answer.and_then(|answer| match answer.status {
        200..=299 => Ok(answer),
        status => Err(format!("it answered {status}")),
    })
}

async fn reopened(net: &Arc<dyn Net>, ask: &Ask) -> Answered {
    loop {
        if let Ok(answer) = good(net.send(ask.clone()).await) {
            return answer;
        }
        pause(PAUSE).await;
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.stream.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use percent_encoding::percent_decode_str;

    #[test]
    fn a_folder_that_is_decoded_twice_is_the_one_that_was_meant() {
        for folder in ["/work", "/100%25", "/%41 a+b", "/ü&#?%"] {
            let once = percent_decode_str(&in_query(folder)).decode_utf8_lossy().into_owned();
            assert_eq!(percent_decode_str(&once).decode_utf8_lossy(), folder);
        }
    }
}
