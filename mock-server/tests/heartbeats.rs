//! Goal: heartbeats come in their time on each stream, however much else is told there. Method: a clock that flies, a
//! client that never stops asking, and the journal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::recording::Line;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options, StandIn};
use reqwest::Client;
use std::collections::BTreeMap;

/// So many seconds pass in one of the machine's.
const FLYING: u32 = 500;
/// Enough requests for minutes of that time.
const MANY: usize = 20_000;
/// After so many of them the journal is looked at.
const LOOKS: usize = 20;

/// The times of the heartbeats of each stream, in whole seconds since it was opened.
fn beats(lines: &[Line]) -> BTreeMap<String, Vec<u64>> {
    let mut streams = BTreeMap::new();
    let mut beats: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in lines {
        match line {
            Line::Request(request) if request.path.ends_with("/event") => {
                streams.insert(request.exchange, (request.path.clone(), request.at_us));
                beats.insert(request.path.clone(), Vec::new());
            }
            Line::Chunk(chunk) => {
                let Some((path, opened_us)) = streams.get(&chunk.exchange) else { continue };
                let text = String::from_utf8(chunk.bytes()).unwrap();
                // The next generation's first one comes with its greeting.
                if text.contains("server.heartbeat") || text == ": heartbeat\n\n" {
                    beats.get_mut(path).unwrap().push((chunk.at_us - opened_us) / 1_000_000);
                }
            }
            _ => {}
        }
    }
    beats
}

#[tokio::test]
async fn heartbeats_come_in_their_time_whatever_else_is_told() {
    let mut options = Options::scenario(ServerKind::Kilo, catalog::scenario("text/welcome").unwrap());
    options.clock = ClockKind::Scaled { by: FLYING };
    let stand_in = StandIn::start(options).await.unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let mut open = Vec::new();
    for path in ["/event", "/global/event", "/api/event"] {
        let mut stream = client.get(format!("{}{path}", stand_in.url())).send().await.unwrap();
        open.push(tokio::spawn(async move { while let Ok(Some(_)) = stream.chunk().await {} }));
    }
    let session = format!("{}/session", stand_in.url());
    let mut found = BTreeMap::new();
    for sent in 1..MANY {
        client.post(&session).json(&serde_json::json!({})).send().await.unwrap();
        if sent % LOOKS != 0 {
            continue;
        }
        found = beats(&stand_in.journal().lines());
        if found.values().all(|beats| beats.len() >= 2) {
            break;
        }
    }
    open.iter().for_each(tokio::task::JoinHandle::abort);
    for (path, seconds) in [("/event", 10), ("/global/event", 10), ("/api/event", 15)] {
        let beats = &found[path];
        assert!(beats.len() >= 2, "{path}: {found:?}");
        assert!(beats[0] >= seconds && beats[1] - beats[0] >= seconds - 1, "{path}: {beats:?}");
    }
}
