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
    /// The session that was made last.
    session: String,
}

impl Listener {
    async fn at(server: ServerKind) -> Self {
        let options = Options::scenario(server, catalog::scenario("text/welcome").unwrap());
        let stand_in = StandIn::start(options).await.unwrap();
        let (client, url) = (Client::builder().no_proxy().build().unwrap(), stand_in.url());
        let stream = client.get(format!("{url}/event")).send().await.unwrap();
        let (parser, told, session) = (sse::Parser::new(), Vec::new(), String::new());
        Self { _stand_in: stand_in, client, url, stream, parser, told, session }
    }

    async fn get(&self, path: &str) -> u16 {
        self.client.get(format!("{}{path}", self.url)).send().await.unwrap().status().as_u16()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let sent = self.client.post(format!("{}{path}", self.url)).json(&body).send().await.unwrap();
        sent.json().await.unwrap()
    }

    /// What has been told since the last time that is about no session.
    async fn told(&mut self) -> Vec<String> {
        let mut told = self.all_told().await;
        told.retain(|kind| !kind.starts_with("session.") && kind != "sync");
        told
    }

    /// What has been told since the last time: all that comes before a session that is made now, and that.
    async fn all_told(&mut self) -> Vec<String> {
        let made = self.post("/session", json!({})).await;
        made["id"].as_str().unwrap().clone_into(&mut self.session);
        loop {
            if let Some(at) = self.told.iter().position(|kind| kind == "session.created") {
                return self.told.drain(..=at).collect();
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

/// Of 131 recordings in which OpenCode boots at a prompt, 124 have it so.
#[tokio::test]
async fn at_a_prompt_opencode_boots_behind_the_first_summary_and_before_the_model_is_asked() {
    let mut listener = Listener::at(ServerKind::Opencode).await;
    listener.told().await;
    let prompt = json!({"parts": [{"type": "text", "text": "hello"}]});
    listener.post(&format!("/session/{}/message", listener.session), prompt).await;
    let told = listener.all_told().await;
    let at =
        |kind: &str| told.iter().position(|told| told == kind).unwrap_or_else(|| panic!("{kind}: {told:?}"));
    let plugins = at("plugin.added");
    assert!(at("session.diff") < plugins, "{told:?}");
    let busy = |told: &[String]| count(told, "session.status");
    assert_eq!((busy(&told[..plugins]), plugins < at("message.part.delta")), (1, true), "{told:?}");
}
