//! Goal: a plan breaks the same bytes each time. Method: plans made of a seed, each twice on the logical clock with the
//! same requests; what the journal says was written to each stream is compared.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::fault_plan::{Action, Fault, FaultPlan};
use fixtures::recording::Line;
use fixtures::scenario::Ending;
use fixtures::{ServerKind, catalog};
use mock_server::{ClockKind, Options, StandIn};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use reqwest::Client;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// How many plans are tried.
const PLANS: u64 = 48;
/// The most faults in one.
const FAULTS: usize = 4;

/// Triggers on streams: kinds, places and counts.
const POINTS: &[&str] = &[
    "",
    ", after_events = 3",
    ", after_events = 9, times = 4",
    ", after_event = \"message.part.delta\"",
    ", event = \"message.part.delta\", nth = 2",
    ", event = \"message.part.updated\", times = \"always\"",
    ", event = \"session.status\", while = \"busy\"",
    ", event = \"*\", nth = 5, times = 3",
];
const STREAMS: &[&str] = &["event", "global/event", "any"];
const REQUESTS: &[&str] = &[
    "request = \"rest\", nth = 2",
    "request = \"streams\"",
    "request = \"GET /session/{sessionID}/message\"",
    "request = \"*\", times = 2, nth = 3",
];

fn one<T: Copy>(random: &mut ChaCha8Rng, of: &[T]) -> T {
    of[random.next_u32() as usize % of.len()]
}

/// What is tried. None lets a client wait for ever, and none is about doors or sockets: they are no bytes of a stream.
fn actions() -> Vec<&'static str> {
    let left_out = ["hang", "door", "refuse_ms", "restart", "reset", "truncate"];
    let tried = Action::examples().iter().filter(|(word, _)| !left_out.contains(word));
    tried.map(|(_, action)| *action).collect()
}

/// A plan of a few faults; each action is in one of them.
fn plan(seed: u64) -> FaultPlan {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let actions = actions();
    let mut faults = Vec::new();
    let count = 1 + random.next_u32() as usize % FAULTS;
    let mut action = actions[seed as usize % actions.len()];
    while faults.len() < count {
        let (stream, point) = (one(&mut random, STREAMS), one(&mut random, POINTS));
        let on_stream = format!("stream = \"{stream}\"{point}");
        let request = one(&mut random, REQUESTS);
        let when = one(&mut random, &[on_stream.as_str(), request]);
        if let Ok(fault) = Fault::short(&format!("{{ when = {{ {when} }}, do = {action} }}")) {
            faults.push(fault);
            action = one(&mut random, &actions);
        }
    }
    FaultPlan { faults, ..FaultPlan::default() }
}

/// What was written to each stream, in the order in which they were opened, and what acted.
async fn written(plan: &FaultPlan, seed: u64) -> (Vec<String>, Vec<String>) {
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

#[tokio::test]
async fn a_plan_breaks_the_same_bytes_each_time() {
    let mut acted = 0;
    for seed in 0..PLANS {
        let plan = plan(seed);
        let (first, second) = (written(&plan, 1).await, written(&plan, 1).await);
        assert_eq!(first, second, "plan {seed}: {plan:#?}");
        acted += usize::from(!first.1.is_empty());
    }
    assert!(acted * 2 > PLANS as usize, "most plans break something: {acted} of {PLANS}");
}

#[tokio::test]
async fn another_seed_has_other_ids() {
    let plan = FaultPlan::default();
    assert_ne!(written(&plan, 1).await, written(&plan, 2).await);
}
