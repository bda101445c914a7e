//! One plan in front of the same requests on the logical clock: what the journal says was written to each stream.

use fixtures::fault_plan::FaultPlan;
use fixtures::recording::Line;
use fixtures::scenario::Ending;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options, StandIn};
use reqwest::Client;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// What was written to each stream, in the order in which they were opened, and what acted.
pub(crate) async fn written(plan: &FaultPlan, seed: u64) -> (Vec<String>, Vec<String>) {
    // The ids of a workspace's folder are not of a seed.
    let folder = std::env::temp_dir().join(format!("standin-again-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut options = Options::scenario(ServerKind::Kilo, catalog::scenario("text/plain").unwrap());
    options.faults = plan.clone();
    options.clock = ClockKind::Logical;
    options.workspace = Some(folder);
    options.seed = seed;
    let stand_in = StandIn::start(options).await.unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let url = stand_in.url();
    let mut sockets = Vec::new();
    for path in ["/event", "/global/event", "/event"] {
        let mut socket = TcpStream::connect(url.trim_start_matches("http://")).await.unwrap();
        socket.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
        sockets.push(socket);
        let opened = sockets.len();
        let answers = |lines: &[Line]| lines.iter().filter(|line| matches!(line, Line::Response(_))).count();
        stand_in.journal().wait_until(|lines| answers(lines) >= opened).await;
    }
    let created = client.post(format!("{url}/session")).json(&json!({})).send().await.unwrap();
    let session: Value = created.json().await.unwrap_or_default();
    let id = session["id"].as_str().unwrap_or("ses_none").to_owned();
    let prompt = json!({"parts": [{"type": "text", "text": "say hello"}]});
    for _ in 0..2 {
        let _ = client.post(format!("{url}/session/{id}/message")).json(&prompt).send().await;
        let _ = client.get(format!("{url}/session/{id}/message")).send().await;
    }
    // All that waits is written before the connections break.
    stand_in.restart(Ending::Kill);
    let is_over = |lines: &[Line]| {
        let streams = lines.iter().filter_map(|line| match line {
            Line::Request(request) if request.path.ends_with("event") => Some(request.exchange),
            _ => None,
        });
        streams.clone().all(|exchange| {
            let refused = |line: &Line| matches!(line, Line::Response(answer) if answer.exchange == exchange && answer.status != 200);
            let ended = |line: &Line| matches!(line, Line::End(end) if end.exchange == exchange);
            lines.iter().any(|line| refused(line) || ended(line))
        })
    };
    stand_in.journal().wait_until(is_over).await;
    let (mut streams, mut acted): (BTreeMap<u64, Vec<u8>>, Vec<String>) = Default::default();
    for line in stand_in.journal().lines() {
        match line {
            Line::Chunk(chunk) => streams.entry(chunk.exchange).or_default().extend(chunk.bytes()),
            Line::Fault(fault) => acted.push(fault.did),
            _ => {}
        }
    }
    (streams.into_values().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect(), acted)
}
