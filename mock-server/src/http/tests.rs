//! Goal: nothing is left of clients whose streams and answers were cut: no subscriber, no task, no memory. Method: ten thousand
//! of them in front of a plan that cuts each time, and a look at what is left, by number.

use crate::journal::Memory;
use crate::performer::{Audience, Frame};
use crate::{Options, StandIn};
use fixtures::fault_plan::{FaultPlan, StreamName};
use fixtures::{ServerKind, catalog};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// What is made once is made by then.
const BEFORE: usize = 1_000;
const CYCLES: usize = 10_000;
const AT_ONCE: usize = 16;
/// An allocator gives back what it likes; what stays of each cycle is more: a kilobyte would be ten megabytes.
const MOST_KIB: u64 = 4 * 1024;

/// Each way in which a connection is cut, by the server or by its client.
const PLAN: &str = r#"
[[fault]]
when = { stream = "event", connection = 1, after_events = 1 }
do = { cut = "between-frames", end = "silent" }

[[fault]]
when = { stream = "event", after_events = 1, times = "always" }
do = { cut = "between-frames", end = "reset" }

[[fault]]
when = { stream = "global/event", after_events = 0, times = "always" }
do = { cut = "mid-frame", bytes = 9 }

[[fault]]
when = { request = "GET /path", times = "always" }
do = { truncate = 5 }

[[fault]]
when = { request = "GET /agent", times = "always" }
do = { reset = "answer" }

[[fault]]
when = { request = "GET /session", times = "always" }
do = { hang = "answer" }
"#;

/// Comes, asks, and stays as long as it is answered; whoever would wait for ever leaves.
async fn cycle(place: &str, number: usize) {
    let path = ["/event", "/global/event", "/path", "/agent", "/session", "/api/event"][number % 6];
    let mut stream = TcpStream::connect(place).await.unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    let mut heard = [0; 4096];
    let is_endless = path == "/session";
    while !is_endless && stream.read(&mut heard).await.is_ok_and(|read| read > 0) {
        if path == "/api/event" {
            return;
        }
    }
}

async fn cycles(place: &str, count: usize) {
    let clients = (0..AT_ONCE).map(|first| {
        let place = place.to_owned();
        tokio::spawn(async move {
            for number in (first..count).step_by(AT_ONCE) {
                cycle(&place, number).await;
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
}

/// The tasks and the memory of this process, when all who came have gone.
async fn left(stand_in: &StandIn, tasks: usize) -> (usize, usize, u64) {
    let core = stand_in.core();
    let metrics = Handle::current().metrics();
    // A server notices in its own time that a client has left.
    while core.open_streams() > 0 || metrics.num_alive_tasks() > tasks {
        tokio::task::yield_now().await;
    }
    let frame = Frame { kind: Arc::from("x.y"), bytes: "data: {\"type\":\"x.y\"}\n\n".into() };
    let streams = [StreamName::Event, StreamName::GlobalEvent, StreamName::NextEvent];
    core.push(&streams.map(|stream| (Audience { stream, directory: None }, frame.clone())));
    (core.subscribers(), metrics.num_alive_tasks(), resident_kib())
}

/// Memory that is this process's own; 0 where the system does not tell.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_ten_thousand_that_were_cut() {
    let mut options = Options::scenario(ServerKind::Opencode, catalog::scenario("text/plain").unwrap());
    options.faults = FaultPlan::parse(Path::new("plan"), PLAN).unwrap();
    options.memory = Memory::Latest { bytes: 64 * 1024 };
    let stand_in = StandIn::start(options).await.unwrap();
    let tasks = Handle::current().metrics().num_alive_tasks();
    let place = stand_in.url().trim_start_matches("http://").to_owned();
    // The one that falls silent leaves, too.
    let mut silent = TcpStream::connect(&place).await.unwrap();
    silent.write_all(b"GET /event HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    silent.read_exact(&mut [0; 16]).await.unwrap();
    drop(silent);
    cycles(&place, BEFORE).await;
    let before = left(&stand_in, tasks).await;
    cycles(&place, CYCLES).await;
    let after = left(&stand_in, tasks).await;
    assert_eq!((before.0, after.0, after.1), (0, 0, tasks));
    assert!(after.2 <= before.2 + MOST_KIB, "{} KiB, then {} KiB", before.2, after.2);
    let unfired = stand_in.unfired_faults();
    assert!(unfired.is_empty(), "{unfired:?}");
}

/// Reads until these bytes have come.
async fn read_until(stream: &mut TcpStream, wanted: &[u8]) {
    let mut heard = Vec::new();
    while !heard.windows(wanted.len()).any(|window| window == wanted) {
        heard.push(stream.read_u8().await.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_whose_stream_has_ended_takes_the_next_request() {
    const ROUNDS: usize = 200;
    let mut options = Options::scenario(ServerKind::Opencode, catalog::scenario("text/plain").unwrap());
    let plan = "[[fault]]\nwhen = { stream = \"event\", after_events = 1, times = \"always\" }\ndo = { cut = \"between-frames\", end = \"clean\" }\n";
    options.faults = FaultPlan::parse(Path::new("plan"), plan).unwrap();
    let stand_in = StandIn::start(options).await.unwrap();
    let place = stand_in.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&place).await.unwrap();
    for _ in 0..ROUNDS {
        stream.write_all(b"GET /event HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        read_until(&mut stream, b"\r\n0\r\n\r\n").await;
    }
}
