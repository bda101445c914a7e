//! Each rule about recordings: a real recording, altered in one place, gives it at that place.

use super::super::report::{Change, Findings, Unchecked};
use super::super::rule::Rule;
use super::super::source::PairOfRecordings;
use super::compare;
use fixtures::catalog;
use fixtures::recording::{Body, Chunk, HowEnded, Line, Recording};
use serde_json::{Value, json};

const RELEASE: &str = "kilo-7.7.7";

fn recording(name: &str) -> Recording {
    catalog::recording(RELEASE, name).unwrap()
}

fn found(old: &Recording, new: &Recording) -> (Vec<Change>, Vec<Unchecked>) {
    let pair = PairOfRecordings { name: "it".to_owned(), old: old.clone(), new: new.clone() };
    let mut findings = Findings::default();
    compare(&[pair], &mut findings);
    (findings.changes(), findings.unchecked)
}

/// What is told of an altered recording, shortly: rules and places.
fn told(old: &Recording, new: &Recording) -> Vec<(Rule, String)> {
    let shortly = |change: Change| (change.rule, change.place);
    found(old, new).0.into_iter().map(shortly).collect()
}

/// The recording with each of its events altered, or left out. Every frame is one chunk then.
fn altered(recording: &Recording, mut alter: impl FnMut(&mut Value) -> bool) -> Recording {
    let mut altered = recording.clone();
    altered.lines.clear();
    let mut parsers = std::collections::BTreeMap::new();
    for line in &recording.lines {
        let Line::Chunk(chunk) = line else {
            altered.lines.push(line.clone());
            continue;
        };
        let parser = parsers.entry(chunk.exchange).or_insert_with(fixtures::sse::Parser::new);
        for frame in parser.feed(&chunk.bytes()) {
            let mut event: Value = serde_json::from_str(&frame.data).unwrap();
            let inner = if event.get("payload").is_some() { &mut event["payload"] } else { &mut event };
            if alter(inner) {
                let frame = format!("data: {event}\n\n");
                altered.lines.push(Line::Chunk(Chunk::new(chunk.at_us, chunk.exchange, frame.as_bytes())));
            }
        }
    }
    altered
}

fn is(event: &Value, kind: &str) -> bool {
    event["type"] == kind
}

#[test]
fn nothing_is_found_where_nothing_was_altered() {
    let one = recording("permission/write-allowed-once");
    assert_eq!(told(&one, &altered(&one, |_| true)), []);
}

#[test]
fn types_of_events_come_and_go() {
    let one = recording("text/plain");
    let two = altered(&one, |event| !is(event, "session.turn.open"));
    assert_eq!(told(&one, &two)[0], (Rule::EventGone, "event session.turn.open".to_owned()));
    assert!(told(&two, &one).contains(&(Rule::EventNew, "event session.turn.open".to_owned())));
}

#[test]
fn fields_come_and_go_and_are_uncertain() {
    let one = recording("text/plain");
    let place = "event session.turn.close /properties/reason".to_owned();
    let without = altered(&one, |event| {
        if is(event, "session.turn.close") {
            event["properties"].as_object_mut().unwrap().remove("reason");
        }
        true
    });
    assert_eq!(told(&one, &without), [(Rule::FieldGone, place.clone())]);
    assert_eq!(told(&without, &one), [(Rule::FieldNew, place)]);
    let mut count = 0;
    let sometimes = altered(&one, |event| {
        if is(event, "session.status") {
            count += 1;
            if count > 1 {
                event["properties"].as_object_mut().unwrap().remove("sessionID");
            }
        }
        true
    });
    let place = "event session.status /properties/sessionID".to_owned();
    assert!(told(&one, &sometimes).contains(&(Rule::FieldOptional, place.clone())));
    assert!(told(&sometimes, &one).contains(&(Rule::FieldRequired, place)));
}

#[test]
fn types_and_words_change() {
    let one = recording("text/plain");
    let with = |reason: Value| {
        altered(&one, |event| {
            if is(event, "session.turn.close") {
                event["properties"]["reason"] = reason.clone();
            }
            true
        })
    };
    let place = "event session.turn.close /properties/reason".to_owned();
    assert_eq!(told(&one, &with(json!(7))), [(Rule::TypeOther, place.clone())]);
    assert_eq!(told(&one, &with(Value::Null)), [(Rule::TypeOther, place.clone())]);
    let other = [(Rule::ValueGone, place.clone()), (Rule::ValueNew, place)];
    assert_eq!(told(&one, &with(json!("tired"))), other);
    let sometimes = |value: Value| {
        let mut first = true;
        altered(&one, |event| {
            if is(event, "session.status") && std::mem::take(&mut first) {
                event["properties"]["status"] = value.clone();
            }
            true
        })
    };
    let place = "event session.status /properties/status".to_owned();
    let null = sometimes(Value::Null);
    assert!(told(&one, &null).contains(&(Rule::NullNow, place.clone())));
    assert!(told(&null, &one).contains(&(Rule::Narrowed, place.clone())));
    assert!(told(&one, &sometimes(json!("is busy"))).contains(&(Rule::TypeNew, place)));
}

#[test]
fn forms_come_and_go() {
    let one = recording("text/plain");
    let two = altered(&one, |event| {
        if event["properties"]["part"]["type"] == "step-start" {
            event["properties"]["part"]["type"] = json!("step-begin");
        }
        true
    });
    let place = "event message.part.updated /properties/part".to_owned();
    let told = told(&one, &two);
    for rule in [Rule::VariantGone, Rule::VariantNew] {
        assert!(told.contains(&(rule, place.clone())), "{told:?}");
    }
}

#[test]
fn what_is_answered() {
    let one = recording("text/plain");
    let with = |alter: &dyn Fn(&mut fixtures::recording::Response)| {
        let mut two = one.clone();
        let created = two.lines.iter().find_map(|line| match line {
            Line::Request(request) if request.method == "POST" && request.path == "/session" => {
                Some(request.exchange)
            }
            _ => None,
        });
        for line in &mut two.lines {
            if let Line::Response(response) = line
                && Some(response.exchange) == created
            {
                alter(response);
            }
        }
        two
    };
    let place = "POST /session".to_owned();
    let refused = with(&|response| response.status = 500);
    assert!(told(&one, &refused).contains(&(Rule::StatusOther, place.clone())));
    let typed = |kind: &'static str| {
        with(&move |response| {
            for (name, value) in &mut response.headers {
                if name.eq_ignore_ascii_case("content-type") {
                    kind.clone_into(value);
                }
            }
        })
    };
    assert_eq!(told(&one, &typed("text/html")), [(Rule::MediaGone, place)]);
    let header = "POST /session header content-type".to_owned();
    assert_eq!(told(&one, &typed("application/json; charset=utf-8")), [(Rule::HeaderOther, header)]);
    let slim = with(&|response| {
        let mut body = response.body.json().unwrap();
        body.as_object_mut().unwrap().remove("title");
        response.body = Body::Json(body);
    });
    assert_eq!(told(&one, &slim), [(Rule::FieldGone, "POST /session 200 /title".to_owned())]);
}

/// The recording with its events in another order: those of a type are moved behind the next one of another type.
fn moved(recording: &Recording, kind: &str, behind: &str) -> Recording {
    let mut held: std::collections::BTreeMap<u64, Vec<Chunk>> = std::collections::BTreeMap::new();
    let mut moved = altered(recording, |_| true);
    let lines = std::mem::take(&mut moved.lines);
    for line in lines {
        let Line::Chunk(chunk) = &line else {
            moved.lines.push(line);
            continue;
        };
        let text = chunk.text.clone().unwrap_or_default();
        let of = |kind: &str| text.contains(&format!("\"type\":\"{kind}\"")) && !text.contains("\"sync\"");
        if of(kind) {
            held.entry(chunk.exchange).or_default().push(chunk.clone());
            continue;
        }
        let (at_us, exchange, is_mark) = (chunk.at_us, chunk.exchange, of(behind));
        moved.lines.push(line);
        if is_mark {
            let held = held.remove(&exchange).unwrap_or_default();
            moved.lines.extend(held.into_iter().map(|chunk| Line::Chunk(Chunk { at_us, ..chunk })));
        }
    }
    moved
}

#[test]
fn an_event_at_another_place_is_seen() {
    let one = recording("text/plain");
    let two = moved(&one, "session.turn.open", "session.idle");
    let (changes, _) = found(&one, &two);
    let turned: Vec<_> = changes.iter().filter(|change| change.rule == Rule::OrderTurned).collect();
    assert_eq!(turned.len(), 1, "{changes:#?}");
    assert_eq!(turned[0].place, "event session.turn.open");
    assert!(turned[0].old.as_ref().is_some_and(|old| old.starts_with("before ")));
    assert!(turned[0].new.as_ref().is_some_and(|new| new.starts_with("after ")));
    // The same once more is a smaller thing.
    let one = recording("permission/write-allowed-once");
    let mut first = true;
    let fewer = altered(&one, |event| {
        let is_it = is(event, "message.updated") && event["properties"]["info"]["role"] == "assistant";
        !is_it || std::mem::take(&mut first)
    });
    let rules: Vec<Rule> = told(&one, &fewer).into_iter().map(|(rule, _)| rule).collect();
    assert!(rules.contains(&Rule::SequenceOther) && !rules.contains(&Rule::OrderTurned), "{rules:?}");
}

/// The recording with a heartbeat at these seconds, and its text in pieces that come so far apart.
fn paced(beats: &[u64], pieces: u64, apart_ms: u64) -> Recording {
    let mut paced = recording("text/plain");
    let streams: Vec<u64> = paced
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Chunk(chunk) => Some(chunk.exchange),
            _ => None,
        })
        .collect();
    let (exchange, last) = (streams[0], paced.lines.iter().map(Line::at_us).max().unwrap());
    let ends = paced.lines.iter().position(|line| matches!(line, Line::End(_))).unwrap_or(paced.lines.len());
    paced.lines.truncate(ends);
    let chunk = |at_us: u64, event: Value| {
        Line::Chunk(Chunk::new(at_us, exchange, format!("data: {event}\n\n").as_bytes()))
    };
    let mut at = last;
    for part in 0..5 {
        for _ in 0..pieces {
            at += apart_ms * 1000;
            let properties = json!({"partID": format!("prt_{part}"), "delta": "x"});
            paced.lines.push(chunk(at, json!({"type": "message.part.delta", "properties": properties})));
        }
    }
    for beat in beats {
        let event = json!({"type": "server.heartbeat", "properties": {}});
        paced.lines.push(chunk(at + beat * 1_000_000, event));
    }
    paced
}

#[test]
fn cadence_is_judged_coarsely_or_not_at_all() {
    let rules = |one: &Recording, two: &Recording| -> Vec<Rule> {
        told(one, two).into_iter().filter(|(_, place)| place == "cadence").map(|(rule, _)| rule).collect()
    };
    let usual = paced(&[10, 20, 30], 4, 1);
    assert_eq!(rules(&usual, &paced(&[11, 22, 33], 5, 9)), []);
    assert_eq!(rules(&usual, &paced(&[30, 60, 90], 4, 1)), [Rule::HeartbeatSlower]);
    assert_eq!(rules(&usual, &paced(&[1, 2, 3], 4, 1)), [Rule::HeartbeatFaster]);
    assert_eq!(rules(&usual, &paced(&[10, 20, 30], 40, 1)), [Rule::DeltasOther]);
    assert_eq!(rules(&usual, &paced(&[10, 20, 30], 4, 900)), [Rule::PaceOther]);
    let unheard = found(&usual, &paced(&[], 4, 1)).1;
    assert!(unheard.iter().any(|unchecked| unchecked.what.contains("heartbeats") && !unchecked.decides));
    // Whoever has waited for a long time would have heard one.
    let silent = told(&usual, &paced(&[], 60, 900));
    assert!(silent.contains(&(Rule::EventGone, "event server.heartbeat".to_owned())), "{silent:?}");
}

#[test]
fn what_can_not_be_compared_is_said_and_decides() {
    let one = recording("text/plain");
    let mut reasons = Vec::new();
    let mut not = |two: &Recording| {
        let (_, unchecked) = found(&one, two);
        let why = unchecked.iter().find(|unchecked| unchecked.decides).map(|unchecked| unchecked.why.clone());
        reasons.push(why.expect("it is said"));
    };
    let mut other = one.clone();
    other.header.scenario = "text/other".to_owned();
    not(&other);
    let mut torn = one.clone();
    torn.torn = true;
    not(&torn);
    let mut broken = one.clone();
    for line in &mut broken.lines {
        if let Line::End(end) = line {
            end.how = HowEnded::Reset;
        }
    }
    not(&broken);
    let mut idle = one.clone();
    idle.lines.retain(|line| !matches!(line, Line::User(_)));
    not(&idle);
    let expected = [
        "OLD shows 'text/plain', NEW 'text/other'",
        "its last line is torn",
        "the stream /event broke",
        "the person did not do the same in both: record it again",
    ];
    assert_eq!(reasons, expected);
}
