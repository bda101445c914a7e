//! Goal: an instance tells of its plugins when it is first needed, as the real servers do; Kilo, which has told of them to
//! whoever listens, tells again. Method: a plain client on loopback; what is told between two requests is counted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog, sse};
use mock_server::{Options, StandIn};
use reqwest::{Client, Response};
use serde_json::{Value, json};

struct Listener {
    _stand_in: StandIn,
    client: Client,
    url: String,
    stream: Response,
    parser: sse::Parser,
    told: Vec<String>,
}

impl Listener {
    async fn at(server: ServerKind) -> Self {
        let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
        let stand_in = StandIn::start(options).await.unwrap();
        let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
        let stream = client.get(format!("{url}/event")).send().await.unwrap();
        Self { _stand_in: stand_in, client, url, stream, parser: sse::Parser::new(), told: Vec::new() }
    }

    async fn get(&self, path: &str) -> u16 {
        self.client.get(format!("{}{path}", self.url)).send().await.unwrap().status().as_u16()
    }

    /// What has been told since the last time: all that comes before a session that is made now.
    async fn told(&mut self) -> Vec<String> {
        self.client.post(format!("{}/session", self.url)).json(&json!({})).send().await.unwrap();
        loop {
            if let Some(at) = self.told.iter().position(|kind| kind == "session.created") {
                let mut told: Vec<String> = self.told.drain(..=at).collect();
                // The session is told of in more than one event.
                told.retain(|kind| !kind.starts_with("session.") && kind != "sync");
                return told;
            }
            let chunk = self.stream.chunk().await.unwrap().expect("the stream ended too early");
            for frame in self.parser.feed(&chunk) {
                let event: Value = serde_json::from_str(&frame.data).unwrap();
                self.told.push(event["type"].as_str().unwrap().to_owned());
            }
        }
    }
}

fn count(told: &[String], kind: &str) -> usize {
    told.iter().filter(|told| *told == kind).count()
}

#[tokio::test]
async fn who_reads_a_file_needs_the_instance_and_who_misses_one_does_not() {
    for (server, plugins, catalogs) in [(ServerKind::Kilo, 44, 1), (ServerKind::Opencode, 45, 2)] {
        let mut listener = Listener::at(server).await;
        let connected = listener.told().await;
        assert_eq!(count(&connected, "plugin.added") > 0, server == ServerKind::Kilo, "{connected:?}");
        assert_eq!(listener.get("/file/content?path=none.md").await, 200);
        assert_eq!(listener.told().await, Vec::<String>::new(), "{server}: nothing was there");
        assert_eq!(listener.get("/file/content?path=README.md").await, 200);
        let told = listener.told().await;
        assert_eq!(count(&told, "plugin.added"), plugins, "{server}");
        assert_eq!(count(&told, "catalog.updated"), catalogs, "{server}");
        assert_eq!(count(&told, "indexing.status"), 0, "{server}");
        for path in ["/file/content?path=README.md", "/file?path=.", "/find/file?query=a", "/pty"] {
            listener.get(path).await;
            assert_eq!(listener.told().await, Vec::<String>::new(), "{server} {path}: it has booted");
        }
    }
}
