//! Goal: by the clock, everything that was recorded comes once, in its order and at its time, whoever asks.

use super::*;
use crate::performer::Performer;
use crate::replay::tests::client::{Client, recording};
use crate::{ClockKind, Options, StandIn};
use fixtures::recording::{Line, Recording};
use fixtures::sse::Parser;
use fixtures::{ServerKind, catalog};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The types of the events of a recording's main streams, each event once, sorted; without what is sent to each
/// connection by itself.
fn recorded(recording: &Recording) -> Vec<String> {
    let streams: Vec<u64> = recording
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Request(request) if request.path == "/event" => Some(request.exchange),
            _ => None,
        })
        .collect();
    let mut parsers: BTreeMap<u64, Parser> = BTreeMap::new();
    let mut events = BTreeSet::new();
    for line in &recording.lines {
        let Line::Chunk(chunk) = line else { continue };
        if !streams.contains(&chunk.exchange) {
            continue;
        }
        for frame in parsers.entry(chunk.exchange).or_default().feed(&chunk.bytes()) {
            let event: Value = serde_json::from_str(&frame.data).unwrap();
            let id = event["id"].as_str().unwrap().to_owned();
            events.insert((event["type"].as_str().unwrap().to_owned(), id));
        }
    }
    let kinds = events.into_iter().map(|(kind, _)| kind);
    kinds.filter(|kind| kind != "server.connected" && kind != "server.heartbeat").collect()
}

#[test]
fn at_once_every_recording_comes_whole_with_its_first_stream() {
    for server in ServerKind::ALL {
        for name in catalog::recording_names(&server.release()) {
            let recording = catalog::recording(&server.release(), &name).unwrap();
            let mut client = Client::at(&recording, Pace::AtOnce);
            client.sends("GET", "/event", b"");
            let mut heard = client.heard("/event");
            // What raced on its way to the recorder has been mended.
            heard.sort();
            assert_eq!(heard, recorded(&recording), "{server} {name}");
            assert!(!client.acts.iter().any(|act| matches!(act, Act::WakeAt(..))), "{server} {name}");
        }
    }
}

/// A recording of a prompt at 2 ms, a delta at 1010 ms, idle and the answer at 5000 ms; the stream was opened at 10 ms.
fn slow() -> Recording {
    let header = &recording("text/plain").header;
    let event = |at_us: u64, kind: &str| {
        let event = json!({"id": format!("evt_{at_us}"), "type": kind, "properties": {"sessionID": "ses_a"}});
        json!({"chunk": {"at_us": at_us, "exchange": 1, "text": format!("data: {event}\n\n")}})
    };
    let prompt = json!({"parts": [{"type": "text", "text": "hello"}]});
    let lines = [
        json!({"header": header}),
        json!({"request": {"at_us": 10_000, "exchange": 1, "method": "GET", "path": "/event"}}),
        json!({"response": {"at_us": 11_000, "exchange": 1, "status": 200}}),
        json!({"request": {"at_us": 12_000, "exchange": 2, "method": "POST", "path": "/session/ses_a/message", "body": {"json": prompt}}}),
        event(1_010_000, "message.part.delta"),
        event(5_000_000, "session.idle"),
        json!({"response": {"at_us": 5_010_000, "exchange": 2, "status": 200, "headers": [["content-type", "application/json"]], "body": {"json": {"info": {}, "parts": []}}}}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Recording::parse(Path::new("slow.jsonl"), &text).unwrap()
}

/// When the replay asks to be woken next.
fn wakes(client: &mut Client) -> Option<u64> {
    let wakes =
        client.acts.iter().rev().find_map(|act| if let Act::WakeAt(at, _) = act { Some(*at) } else { None });
    client.acts.retain(|act| !matches!(act, Act::WakeAt(..)));
    wakes
}

fn wake(client: &mut Client, now: u64) {
    let acts = client.replay.wake_at(0, &|| now);
    client.acts.extend(acts);
}

#[test]
fn each_event_comes_as_long_after_the_stream_as_it_was_recorded() {
    let mut client = Client::at(&slow(), Pace::Recorded);
    client.sends("GET", "/event", b"");
    assert_eq!((wakes(&mut client), client.heard("/event").len()), (Some(2), 0));
    wake(&mut client, 2);
    assert_eq!(wakes(&mut client), Some(1000), "though nobody has prompted");
    wake(&mut client, 999);
    assert_eq!((wakes(&mut client), client.heard("/event").len()), (Some(1000), 0));
    wake(&mut client, 1000);
    assert_eq!(
        (wakes(&mut client), client.heard("/event")),
        (Some(4990), vec!["message.part.delta".to_owned()])
    );
    wake(&mut client, 9000);
    assert_eq!((wakes(&mut client), client.heard("/event").len()), (None, 2));
}

#[test]
fn who_asks_sooner_waits_and_who_asks_later_is_answered_at_once() {
    let prompt = json!({"parts": [{"type": "text", "text": "hello"}]});
    let path = "/session/ses_a/message";
    let mut early = Client::at(&slow(), Pace::Recorded);
    let ticket = early.sends("POST", path, prompt.to_string().as_bytes());
    assert!(early.answer(ticket).is_none());
    wake(&mut early, 5000);
    assert_eq!(early.answer(ticket).unwrap().status, 200);

    let mut late = Client::at(&slow(), Pace::AtOnce);
    late.sends("GET", "/event", b"");
    assert_eq!(late.post(path, &prompt), (200, json!({"info": {}, "parts": []})));
    let (status, told) = late.post(path, &prompt);
    assert_eq!(status, 501);
    let why = "standin replay: POST /session/ses_a/message is not in the recording, or not that often";
    assert_eq!(told["error"], why);
}

#[test]
fn another_body_is_told_with_what_differs() {
    let mut client = Client::at(&slow(), Pace::AtOnce);
    let other = json!({"parts": [{"type": "text", "text": "goodbye"}]});
    let (status, told) = client.post("/session/ses_a/message", &other);
    assert_eq!(status, 501);
    let why = told["error"].as_str().unwrap();
    assert!(why.contains("has another body") && why.contains("goodbye"), "{why}");
}

#[tokio::test]
async fn over_a_socket_it_all_comes_though_nobody_prompts() {
    let clock = ClockKind::Scaled { by: 100 };
    let options = Options { pace: Pace::Recorded, clock, ..Options::replay(slow()) };
    let stand_in = StandIn::start(options).await.unwrap();
    let mut stream = reqwest::get(format!("{}/event", stand_in.url())).await.unwrap();
    let mut heard = String::new();
    while !heard.contains("session.idle") {
        heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    assert!(heard.contains("message.part.delta"));
}
