//! Goal: each behaviour on a stream does what its word says, to the byte. Method: frames of short names through one
//! connection under a plan of one fault; what comes out is written down with `|` between chunks.

use super::super::{ArmedPlan, Arrival, Facts};
use super::{Beat, Outcome, StreamFaults};
use crate::performer::Frame;
use bytes::Bytes;
use fixtures::fault_plan::action::CutEnd;
use fixtures::fault_plan::{FaultPlan, StreamName};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

mod composed;

const NOTHING: Facts<'static> = Facts { now_ms: 0, holds: &|_| false };

fn plan(text: &str) -> ArmedPlan {
    ArmedPlan::new(FaultPlan::parse(Path::new("p"), text).unwrap())
}

fn frame(kind: &str, bytes: &str) -> Frame {
    Frame { kind: Arc::from(kind), bytes: Bytes::from(bytes.to_owned()) }
}

/// What a connection writes: frames as they are, `[…]` for a chunk of its own, and what else it does.
fn told(outcome: Option<Outcome>, frame: &Frame) -> String {
    let Some(outcome) = outcome else { return String::from_utf8_lossy(&frame.bytes).into_owned() };
    let mut told = String::new();
    for beat in outcome.beats {
        match beat {
            Beat::Frame(bytes) => told.push_str(&String::from_utf8_lossy(&bytes)),
            Beat::Chunk(bytes) => told.push_str(&format!("[{}]", String::from_utf8_lossy(&bytes))),
            Beat::Pause(ms) => told.push_str(&format!("({ms} ms)")),
            Beat::BeatEvery(ms) => told.push_str(&format!("(beats every {ms} ms)")),
            Beat::End(CutEnd::Broken) => told.push('!'),
            Beat::End(end) => told.push_str(&format!("!{end:?}")),
        }
    }
    for (ms, bytes) in outcome.later {
        told.push_str(&format!("({ms} ms later: {})", String::from_utf8_lossy(&bytes)));
    }
    told
}

/// What a connection carries under a plan of one fault, and how many faults are left unfired.
fn carried(when: &str, action: &str, kinds: &[&str]) -> (String, usize) {
    let text = format!("[[fault]]\nwhen = {{ stream = \"event\"{when} }}\ndo = {{ {action} }}\n");
    let plan = plan(&text);
    let mut faults = plan.connect("a", StreamName::Event);
    let mut carried = String::new();
    for kind in kinds {
        let frame = frame(kind, &format!("<{kind}>"));
        carried.push_str(&told(faults.frame(&frame, &NOTHING), &frame));
        if carried.contains('!') {
            break;
        }
    }
    (carried, plan.unfired().len())
}

#[test]
fn each_behaviour_does_what_its_word_says() {
    let kinds = ["a", "b", "a", "c"];
    for (when, action, expected) in [
        (", after_events = 2", "cut = \"mid-frame\", bytes = 1", "<a><b><!"),
        (", after_events = 2", "cut = \"mid-frame\", bytes = 99", "<a><b><a!"),
        (", after_events = 0", "cut = \"mid-frame\", bytes = 2", "<a!"),
        (", after_events = 0", "cut = \"between-frames\"", "!"),
        (", after_events = 2", "cut = \"between-frames\"", "<a><b>!"),
        (", after_events = 2", "cut = \"between-frames\", end = \"clean\"", "<a><b>!Clean"),
        (", after_events = 2", "cut = \"between-frames\", end = \"reset\"", "<a><b>!Reset"),
        (", event = \"b\"", "cut = \"mid-frame\", bytes = 1, end = \"silent\"", "<a><!Silent"),
        (", after_event = \"a\", nth = 2", "cut = \"between-frames\"", "<a><b><a>!"),
        (", event = \"a\", nth = 2", "cut = \"between-frames\"", "<a><b>!"),
        (", after_event = \"b\"", "cut = \"mid-frame\", bytes = 1", "<a><b><!"),
        (", after_event = \"c\"", "inject = { type = \"x\" }", "<a><b><a><c>data: {\"type\":\"x\"}\n\n"),
        (", event = \"b\"", "inject = { type = \"x\" }", "<a>data: {\"type\":\"x\"}\n\n<b><a><c>"),
        (", after_events = 0", "raw = \"?\"", "?<a><b><a><c>"),
        (", after_events = 1", "raw = \"?\"", "<a>?<b><a><c>"),
        (", after_events = 1", "drop = \"a\"", "<a><b><c>"),
        (", after_event = \"a\"", "drop = \"a\"", "<a><b><c>"),
        (", event = \"*\", times = 3", "drop = \"*\"", "<c>"),
        (", event = \"a\", times = \"always\"", "drop = \"*\"", "<b><c>"),
        (", event = \"b\"", "duplicate = 2", "<a><b><b><b><a><c>"),
        (", event = \"b\"", "hold = 1", "<a><a><b><c>"),
        (", event = \"b\"", "hold = 9", "<a><a><c>"),
        (", event = \"b\"", "hold_ms = 5", "<a>(5 ms later: <b>)<a><c>"),
        (", event = \"b\"", "stall_ms = 5", "<a>(5 ms)<b><a><c>"),
        (", after_event = \"b\"", "stall_ms = 5", "<a><b>(5 ms)<a><c>"),
        (", event = \"b\"", "split = 2", "<a>[<b][>]<a><c>"),
        (", event = \"b\"", "split = [2, 1, 7]", "<a>[<][b][>]<a><c>"),
        (", event = \"b\"", "drip = 1, every_ms = 3", "<a>[<](3 ms)[b](3 ms)[>]<a><c>"),
        (", event = \"b\"", "merge = 2", "<a>[<b><a>]<c>"),
        (", event = \"b\"", "add_line = \"id: 7\"", "<a>id: 7\n<b><a><c>"),
        (", event = \"b\"", "rewrite = \"bom\"", "<a>\u{feff}<b><a><c>"),
        (", event = \"b\"", "heartbeat = \"every\", ms = 7", "<a>(beats every 7 ms)<b><a><c>"),
    ] {
        assert_eq!(carried(when, action, &kinds), (expected.to_owned(), 0), "{when} {action}");
    }
}

#[test]
fn a_fault_that_finds_no_place_waits_for_one() {
    for (when, action) in [
        (", after_event = \"z\"", "cut = \"between-frames\""),
        (", connection = 2, after_events = 1", "cut = \"between-frames\""),
        (", after_events = 0", "cut = \"character\""),
        (", after_events = 0", "change = { \"properties.x\" = 1 }"),
        (", after_events = 0", "split = 3"),
        (", after_events = 0", "split = [0, 3]"),
        (", after_events = 0, while = \"busy\"", "drop = \"*\""),
        (", after_events = 0, from_ms = 1", "drop = \"*\""),
        (", lane = \"b\", after_events = 0", "drop = \"*\""),
        (
            ", after_events = 0",
            "inject = { type = \"x\", properties = { sessionID = \"${another_session}\" } }",
        ),
    ] {
        assert_eq!(carried(when, action, &["a", "b"]), ("<a><b>".to_owned(), 1), "{when} {action}");
    }
}

/// Events through a plan, as frames; what comes out is read again.
fn spoken(stream: StreamName, text: &str, events: &[Value]) -> Vec<u8> {
    let mut faults = plan(text).connect("a", stream);
    let mut bytes = Vec::new();
    for event in events {
        let payload = event.get("payload").unwrap_or(event);
        let kind = payload["type"].as_str().unwrap();
        let frame = frame(kind, std::str::from_utf8(&fixtures::sse::encode(&event.to_string())).unwrap());
        bytes.extend(write(&mut faults, &frame));
    }
    bytes
}

fn write(faults: &mut StreamFaults, frame: &Frame) -> Vec<u8> {
    let Some(outcome) = faults.frame(frame, &NOTHING) else { return frame.bytes.to_vec() };
    let beats = outcome.beats.into_iter();
    beats
        .flat_map(|beat| match beat {
            Beat::Frame(bytes) | Beat::Chunk(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        })
        .collect()
}

fn heard(bytes: &[u8]) -> Vec<Value> {
    let frames = fixtures::sse::Parser::new().feed(bytes).into_iter();
    frames.map(|frame| serde_json::from_str(&frame.data).unwrap()).collect()
}

fn delta(id: &str, session: &str, delta: &str) -> Value {
    json!({"id": id, "type": "message.part.delta", "properties": {"sessionID": session, "partID": "prt_1", "field": "text", "delta": delta}})
}

#[test]
fn events_are_altered_where_the_plan_says() {
    let events = [delta("evt_1", "ses_a", "x"), delta("evt_2", "ses_b", "y"), delta("evt_3", "ses_a", "z")];
    let text = "[[fault]]\nwhen = { stream = \"event\", event = \"message.part.delta\", has = { \"properties.delta\" = \"z\" } }\n\
        do = { change = { \"properties.sessionID\" = \"${another_session}\", type = \"new.type\" }, remove = [\"id\"] }\n";
    let told = heard(&spoken(StreamName::Event, text, &events));
    assert_eq!(told[..2], events[..2]);
    let expected = json!({"type": "new.type", "properties": {"sessionID": "ses_b", "partID": "prt_1", "field": "text", "delta": "z"}});
    assert_eq!(told[2], expected);
}

#[test]
fn envelopes_stay_around_what_is_altered_or_put_in() {
    let wrapped = |event: Value| json!({"directory": "/w", "payload": event});
    let text = "[[fault]]\nwhen = { stream = \"global/event\", event = \"message.part.delta\" }\n\
        do = { remove = [\"properties.sessionID\"] }\n\
        [[fault]]\nwhen = { stream = \"global/event\", after_events = 1 }\n\
        do = { inject = { type = \"x.y\", properties = { of = \"${session}\" } } }\n";
    let told = heard(&spoken(StreamName::GlobalEvent, text, &[wrapped(delta("evt_1", "ses_a", "x"))]));
    assert_eq!(told[0]["payload"]["properties"], json!({"partID": "prt_1", "field": "text", "delta": "x"}));
    assert_eq!(told[1], wrapped(json!({"type": "x.y", "properties": {"of": "ses_a"}})));
}

#[test]
fn other_releases_speak_otherwise_from_there_on() {
    let part = json!({"id": "evt_0", "type": "message.part.updated", "properties": {"sessionID": "ses_a", "part": {"id": "prt_1", "sessionID": "ses_a", "type": "text", "text": ""}}});
    let events = [part.clone(), delta("evt_1", "ses_a", "x"), delta("evt_2", "ses_a", "y")];
    let spoken = |action: &str| {
        let text = format!("[[fault]]\nwhen = {{ stream = \"event\" }}\ndo = {{ {action} }}\n");
        heard(&spoken(StreamName::Event, &text, &events))
    };
    let in_part = spoken("dialect = \"delta-in-part\"");
    assert_eq!(in_part[2]["type"], "message.part.updated");
    assert_eq!(in_part[2]["properties"]["part"]["text"], "xy");
    assert_eq!(in_part[2]["properties"]["delta"], "y");
    assert_eq!(spoken("dialect = \"no-deltas\""), std::slice::from_ref(&part));
    let twins = spoken("dialect = \"twins\"");
    assert_eq!(twins[1]["syncEvent"]["type"], "message.part.updated.1");
    assert_eq!(twins[1]["syncEvent"]["data"], part["properties"]);
    assert_eq!(twins.len(), 4);
    let ids =
        |action: &str| -> Vec<Value> { spoken(action).iter().map(|event| event["id"].clone()).collect() };
    assert_eq!(ids("ids = \"repeat\""), ["evt_0", "evt_0", "evt_0"]);
    assert_eq!(ids("ids = \"none\""), [Value::Null, Value::Null, Value::Null]);
    let backwards = ids("ids = \"backwards\"");
    let texts: Vec<&str> = backwards.iter().filter_map(Value::as_str).collect();
    assert!(texts.len() == 3 && texts[0] > texts[1] && texts[1] > texts[2], "{texts:?}");
}

#[test]
fn the_same_events_can_be_written_in_other_lines() {
    let events = [delta("evt_1", "ses_a", "é\nx"), delta("evt_2", "ses_a", "y")];
    for action in [
        "line_ends = \"cr\"",
        "line_ends = \"crlf\"",
        "rewrite = \"multi-line\"",
        "add_line = \"retry: 5\"",
        "split = 1",
    ] {
        let text =
            format!("[[fault]]\nwhen = {{ stream = \"event\", times = \"always\" }}\ndo = {{ {action} }}\n");
        let bytes = spoken(StreamName::Event, &text, &events);
        assert_eq!(heard(&bytes), events, "{action}");
    }
    let plain = spoken(StreamName::Event, "", &events);
    let cut = |place: &str, ends: &str| {
        let text =
            format!("{ends}[[fault]]\nwhen = {{ stream = \"event\" }}\ndo = {{ cut = \"{place}\" }}\n");
        spoken(StreamName::Event, &text, &events[..1])
    };
    assert!(cut("blank-line", "").ends_with(b"}}\n"));
    assert!(cut("line-end", "").ends_with(b"}}"));
    let crlf = "[[fault]]\nwhen = { stream = \"event\" }\ndo = { line_ends = \"crlf\" }\n";
    assert!(cut("line-end", crlf).ends_with(b"}}\r"));
    assert!(cut("blank-line", crlf).ends_with(b"}}\r\n"));
    assert!(std::str::from_utf8(&cut("character", "")).is_err());
    let bad = |action: &str| {
        spoken(
            StreamName::Event,
            &format!("[[fault]]\nwhen = {{ stream = \"event\" }}\ndo = {{ {action} }}\n"),
            &events,
        )
    };
    assert!(std::str::from_utf8(&bad("rewrite = \"bad-utf8\"")).is_err());
    let half = fixtures::sse::Parser::new().feed(&bad("rewrite = \"bad-json\""));
    assert!(serde_json::from_str::<Value>(&half[0].data).is_err() && half.len() == 2);
    assert!(bad("inject = { type = \"x\" }, size = 100000").len() > plain.len() + 100_000);
}

#[test]
fn faults_act_on_what_the_ones_before_have_left() {
    let text = |first: &str, second: &str| {
        format!(
            "[[fault]]\nwhen = {{ stream = \"event\" }}\ndo = {{ {first} }}\n[[fault]]\nwhen = {{ stream = \"event\" }}\ndo = {{ {second} }}\n"
        )
    };
    let written = |first: &str, second: &str| {
        let plan = plan(&text(first, second));
        let frame = frame("a", "<a>");
        let mut faults = plan.connect("a", StreamName::Event);
        (told(faults.frame(&frame, &NOTHING), &frame), plan.unfired().len())
    };
    assert_eq!(written("duplicate = 1", "cut = \"mid-frame\", bytes = 2"), ("<a><a!".to_owned(), 0));
    assert_eq!(written("cut = \"mid-frame\", bytes = 2", "duplicate = 1"), ("<a!".to_owned(), 1));
    assert_eq!(written("drop = \"*\"", "duplicate = 1"), (String::new(), 1));
    assert_eq!(written("add_line = \": x\"", "split = [3]"), ("[: x][\n<a>]".to_owned(), 0));
}

#[test]
fn only_the_connection_the_lane_and_the_stream_that_are_meant_are_hit() {
    let is_cut = |faults: &mut StreamFaults| {
        faults
            .frame(&frame("a", "<a>"), &NOTHING)
            .is_some_and(|outcome| outcome.beats.contains(&Beat::End(CutEnd::Broken)))
    };
    let cutting = |when: &str| {
        plan(&format!(
            "[[fault]]\nwhen = {{ stream = \"event\", after_events = 0{when} }}\ndo = {{ cut = \"between-frames\" }}\n"
        ))
    };
    let second = cutting(", connection = 2");
    let mut connections = [1, 2, 3].map(|_| second.connect("phone", StreamName::Event));
    // The third one is asked first, while the fault is still armed.
    connections.reverse();
    assert_eq!(connections.each_mut().map(is_cut), [false, true, false]);
    let phone = cutting(", lane = \"phone\"");
    let connections =
        [("desk", StreamName::Event), ("phone", StreamName::GlobalEvent), ("phone", StreamName::Event)];
    assert_eq!(
        connections.map(|(lane, stream)| is_cut(&mut phone.connect(lane, stream))),
        [false, false, true]
    );
    let any = cutting("");
    let mut connections = ["desk", "phone"].map(|lane| any.connect(lane, StreamName::Event));
    assert_eq!(connections.each_mut().map(is_cut), [true, false], "once, whoever it hits");
    assert_eq!(any.unfired(), []);
    let always = cutting(", times = \"always\"");
    let mut connections = ["desk", "phone"].map(|lane| always.connect(lane, StreamName::Event));
    assert_eq!(connections.each_mut().map(is_cut), [true, true]);
}

#[test]
fn what_follows_counts_from_when_the_fault_before_it_has_acted() {
    let plan = plan(
        "[[fault]]\nwhen = { stream = \"any\", event = \"a\", nth = 2 }\ndo = { duplicate = 1 }\n\
         [[fault]]\nwhen = { stream = \"any\", event = \"a\", nth = 2, follows = true }\ndo = { drop = \"*\" }\n\
         [[fault]]\nwhen = { request = \"prompts\", follows = true }\ndo = { status = 500 }\n",
    );
    let mut open = plan.connect("a", StreamName::GlobalEvent);
    let a = frame("a", "<a>");
    let mut fired = |frame: &Frame| {
        let outcome = open.frame(frame, &NOTHING);
        outcome.map(|outcome| outcome.fired.into_iter().map(|fired| fired.fault).collect::<Vec<_>>())
    };
    let asked = |path: &str| {
        let arrival = Arrival { lane: "a", method: "POST", path, is_stream: false, has_last: false };
        plan.request(&arrival, &NOTHING).fired.len()
    };
    assert_eq!([fired(&a), fired(&a)], [None, Some(vec![1])]);
    assert_eq!(asked("/session/ses_a/message"), 0, "the one before it has not acted");
    assert_eq!([fired(&a), fired(&a)], [None, Some(vec![2])]);
    assert_eq!(asked("/permission/per_a/reply"), 0);
    assert_eq!(asked("/session/ses_a/message"), 1);
    assert_eq!(plan.unfired(), []);
}

#[test]
fn what_is_armed_later_is_seen_by_connections_that_are_open() {
    let plan = ArmedPlan::default();
    let mut open = plan.connect("a", StreamName::Event);
    let a = frame("a", "<a>");
    assert_eq!(open.frame(&a, &NOTHING), None);
    let more =
        "[[fault]]\nwhen = { stream = \"event\", after_events = 1, until_ms = 50 }\ndo = { drop = \"*\" }\n";
    let faults = FaultPlan::parse(Path::new("p"), more).unwrap().faults;
    assert_eq!(plan.arm(faults.clone(), 100), Ok(vec![1]));
    assert_eq!(plan.arm(faults.clone(), 100), Ok(vec![2]));
    assert_eq!(plan.arm(faults, 100), Ok(vec![3]));
    assert_eq!(open.frame(&a, &NOTHING), None, "events are counted from then on");
    assert!(plan.disarm(1) && !plan.disarm(9) && !plan.disarm(0));
    let at = |now_ms: u64| Facts { now_ms, holds: &|_| false };
    let fired = |outcome: Option<Outcome>| {
        outcome.map(|outcome| outcome.fired.into_iter().map(|fired| fired.fault).collect::<Vec<_>>())
    };
    assert_eq!(fired(open.frame(&a, &at(149))), Some(vec![2]));
    assert_eq!(fired(open.frame(&a, &at(150))), None, "it is too late for the third");
    assert_eq!(plan.unfired().iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3]);
}
