//! Goal: whatever is asked of the control API, it answers, in words when it refuses, and the server goes on. Method: requests
//! that are good, with random values in random places, and texts torn at random, asked without a socket: a fault may shut
//! its door.

use super::*;
use crate::StandIn;
use crate::fault::Facts;
use crate::performer::Frame;
use axum::http::Request;
use fixtures::fault_plan::StreamName;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// How many requests are asked.
const REQUESTS: u64 = 12_000;

/// Requests that are good.
fn good() -> Vec<(&'static str, &'static str, Value)> {
    let fault = |when: Value, action: Value| json!({"faults": [{"when": when, "do": action}]});
    let mut good = vec![
        ("GET", "/faults", Value::Null),
        ("DELETE", "/faults", Value::Null),
        ("DELETE", "/faults/1", Value::Null),
        ("POST", "/faults", json!({"lines": ["cut after 5 events", "503 at POST /session twice"]})),
        (
            "POST",
            "/faults",
            json!({"toml": "[[fault]]\nwhen = { stream = \"event\" }\ndo = { drop = \"*\" }\n"}),
        ),
        (
            "POST",
            "/faults",
            fault(json!({"from_ms": 5, "until_ms": 9, "times": 2}), json!({"restart": "killed"})),
        ),
        ("POST", "/faults", fault(json!({"from_ms": 5}), json!({"password": "pw"}))),
        // Longer than anybody counts.
        ("POST", "/faults", fault(json!({"from_ms": u64::MAX}), json!({"password": "pw"}))),
        ("POST", "/faults", fault(json!({"request": "rest", "times": 9}), json!({"late_ms": u64::MAX}))),
        ("POST", "/faults", fault(json!({"request": "GET /session", "nth": 2}), json!({"late_ms": 7}))),
        ("POST", "/now", json!({"do": {"restart": "killed", "state": "lost", "down_ms": 1}})),
        ("POST", "/now", json!({"do": {"reply": "once"}})),
        ("POST", "/now", json!({"do": {"password": "pw"}, "lane": "main"})),
        ("POST", "/now", json!({"do": {"refuse_ms": 1}})),
        (
            "POST",
            "/events",
            json!({"event": {"type": "x.y", "properties": {"sessionID": "ses_1"}}, "stream": "event", "directory": "/w"}),
        ),
        ("GET", "/gates", Value::Null),
        ("GET", "/scenarios", Value::Null),
        ("POST", "/gates/x", Value::Null),
        ("POST", "/scenario", json!({"name": "text/plain"})),
        ("POST", "/scenario", json!({"toml": "about = \"x\"\nagent = []\nuser = { steps = [] }\n"})),
        ("POST", "/reset", json!({"what": "all"})),
        ("POST", "/wait", json!({"event": "session.idle", "count": 2, "limit_ms": 0})),
        ("POST", "/wait", json!({"request": "POST /session", "count": 1, "limit_ms": 0})),
        ("POST", "/wait", json!({"streams": 1, "limit_ms": 0})),
        ("POST", "/wait", json!({"while": "busy", "limit_ms": 0})),
        ("GET", "/journal?from=1&format=text", Value::Null),
        ("GET", "/verify", Value::Null),
        (
            "POST",
            "/verify",
            json!({"expected": [{"request": "POST /session", "lane": "main", "body": {"a.b": 1}, "count": 1}], "forbidden": ["rest"], "order": ["streams"]}),
        ),
    ];
    for (_, action) in fixtures::fault_plan::Action::examples() {
        let action: Value = fixtures::fault_plan::Fault::short(&format!(
            "{{ when = {{ stream = \"event\" }}, do = {action} }}"
        ))
        .map_or(Value::Null, |fault| json!(fault.action));
        good.push((
            "POST",
            "/faults",
            fault(json!({"stream": "event", "lane": "main", "after_events": 1}), action),
        ));
    }
    good
}

fn odd(random: &mut ChaCha8Rng) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!(""),
        json!("\u{0}"),
        json!("é".repeat(999)),
        json!("*"),
        json!("main"),
        json!([]),
        json!({}),
        json!([[[[{"a": [null]}]]]]),
        json!({"type": "x"}),
        json!("always"),
        json!(1000),
        json!("GET /session"),
    ];
    values[random.next_u32() as usize % values.len()].clone()
}

/// Something in it is another thing.
fn altered(value: &mut Value, random: &mut ChaCha8Rng) {
    let dice = random.next_u32() % 4;
    match value {
        Value::Object(fields) if !fields.is_empty() && dice > 0 => {
            let key =
                fields.keys().nth(random.next_u32() as usize % fields.len()).cloned().unwrap_or_default();
            match random.next_u32() % 8 {
                0 => drop(fields.remove(&key)),
                1 => drop(fields.insert(format!("{key}s"), odd(random))),
                _ => altered(&mut fields[&key], random),
            }
        }
        Value::Array(items) if !items.is_empty() && dice > 0 => {
            let at = random.next_u32() as usize % items.len();
            altered(&mut items[at], random);
        }
        Value::String(text) if dice > 1 => {
            let at = random.next_u32() as usize % (text.chars().count() + 1);
            let mut letters: Vec<char> = text.chars().collect();
            letters.truncate(at);
            letters.extend(["", "9", "\"", "}", " always", "/"][random.next_u32() as usize % 6].chars());
            *text = letters.into_iter().chain(text.chars().skip(at + 1)).collect();
        }
        other => *other = odd(random),
    }
}

/// Nobody waits here for minutes.
fn hurried(body: &mut Value) {
    let Value::Object(fields) = body else { return };
    let limit = fields.entry("limit_ms").or_insert(json!(1));
    if limit.as_u64().is_some_and(|ms| ms <= 600_000) {
        *limit = json!(1);
    }
}

#[tokio::test]
async fn whatever_is_asked_is_answered() {
    let stand_in = StandIn::opencode().scenario("text/plain").control("key").lenient().start().await.unwrap();
    let core = stand_in.core();
    let control = core.control.as_ref().unwrap();
    let good = good();
    let mut answered = [0; 2];
    let mut faults = core.faults.connect("main", StreamName::Event);
    let frame = Frame {
        kind: Arc::from("x.y"),
        bytes: Bytes::from_static(b"data: {\"id\":\"evt_0123456789\",\"type\":\"x.y\"}\n\n"),
    };
    let facts = Facts { now_ms: 7, holds: &|_| true };
    for seed in 0..REQUESTS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (method, path, mut body) = good[random.next_u32() as usize % good.len()].clone();
        for _ in 0..random.next_u32() % 4 {
            altered(&mut body, &mut random);
        }
        if path == "/wait" {
            hurried(&mut body);
        }
        let mut text = if body.is_null() { String::new() } else { body.to_string() };
        if random.next_u32().is_multiple_of(8) {
            let at = random.next_u32() as usize % (text.len() + 1);
            text.truncate((0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        }
        let asked = Request::builder().method(method).uri(format!("{PREFIX}{path}"));
        let asked = asked.header("authorization", "Bearer key").body(()).unwrap();
        let answer = handle(core, control, &asked.into_parts().0, Body::from(text.clone())).await;
        let status = answer.status().as_u16();
        let said = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let told =
            format!("seed {seed}: {method} {path} {text}: {status} {}", String::from_utf8_lossy(&said));
        answered[usize::from(status == 200)] += 1;
        if status != 200 {
            assert!([400, 404, 408, 409].contains(&status), "{told}");
            let error: Value = serde_json::from_slice(&said).unwrap_or_default();
            let words = error["error"].as_str().unwrap_or_default();
            let rust =
                ["struct ", "unknown variant", "any variant", "did not match", "u32", "u64", "usize", "i64"];
            assert!(!words.is_empty() && rust.iter().all(|word| !words.contains(word)), "{told}");
        }
        // A frame passes through whatever is armed now, and a request comes.
        let outcome = faults.frame(&frame, &facts);
        let beats = outcome.map_or(0, |outcome| outcome.beats.len());
        assert!(beats < 100_000, "seed {seed}: {beats} beats of one frame");
        if seed.is_multiple_of(4) {
            core.strike("main", ("GET", "/session"), false, || "GET /session".to_owned());
        }
        if seed.is_multiple_of(512) {
            core.forget_faults(None);
        }
    }
    assert!(
        answered.iter().all(|count| count * 10 > REQUESTS as usize),
        "some are refused, some done: {answered:?}"
    );
}
