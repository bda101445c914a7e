//! A made-up recording of what no recording of one session has.

use super::recording;
use crate::{Options, StandIn};
use fixtures::recording::Recording;
use serde_json::{Value, json};
use std::path::Path;

/// A recording of two sessions whose turns are mixed: `a` and `b` prompt, and both are answered in turn.
pub(super) fn mixed() -> Recording {
    let header = &recording("text/plain").header;
    let mut lines = vec![json!({"header": header})];
    let request = |exchange: u64, path: &str, body: Value| json!({"request": {"at_us": exchange, "exchange": exchange, "method": "POST", "path": path, "body": {"json": body}}});
    let response = |exchange: u64, body: Value| {
        json!({"response": {"at_us": exchange, "exchange": exchange, "status": 200,
                            "headers": [["content-type", "application/json"]], "body": {"json": body}}})
    };
    let mut ids = 0;
    let mut event = |kind: &str, properties: Value| {
        ids += 1;
        let event = json!({"id": format!("evt_{ids}"), "type": kind, "properties": properties});
        json!({"chunk": {"at_us": 9, "exchange": 1, "text": format!("data: {event}\n\n")}})
    };
    let of = |session: &str| json!({"sessionID": session});
    let info = |session: &str| json!({"id": session, "time": {"updated": 1}});
    let created = |session: &str| json!({"sessionID": session, "info": info(session)});
    lines.push(json!({"request": {"at_us": 0, "exchange": 1, "method": "GET", "path": "/event"}}));
    lines.push(json!({"response": {"at_us": 0, "exchange": 1, "status": 200}}));
    lines.push(request(2, "/session", json!({})));
    lines.push(response(2, info("ses_a")));
    lines.push(request(3, "/session", json!({})));
    lines.push(event("session.created", created("ses_a")));
    lines.push(response(3, info("ses_b")));
    lines.push(event("session.created", created("ses_b")));
    lines.push(request(4, "/session/ses_a/prompt_async", json!({"parts": []})));
    lines.push(request(5, "/session/ses_b/prompt_async", json!({"parts": []})));
    lines.push(response(4, json!(null)));
    lines.push(response(5, json!(null)));
    let child =
        json!({"sessionID": "ses_c", "info": {"id": "ses_c", "parentID": "ses_a", "time": {"updated": 1}}});
    lines.push(event("turn.a", of("ses_a")));
    lines.push(event("turn.b", of("ses_b")));
    lines.push(event("file.b", json!({"file": "b"})));
    lines.push(event("session.created", child));
    lines.push(event("turn.c", of("ses_c")));
    lines.push(request(6, "/session/ses_a/abort", json!({})));
    lines.push(response(6, json!(true)));
    lines.push(event("end.a", of("ses_a")));
    lines.push(event("end.b", of("ses_b")));
    lines.push(event("end.c", of("ses_c")));
    lines.push(request(7, "/instance/dispose", json!({})));
    lines.push(response(7, json!(true)));
    lines.push(event("disposed", json!({})));
    // In the order in which they stand here.
    for (at_us, line) in lines.iter_mut().enumerate().skip(1) {
        for told in line.as_object_mut().unwrap().values_mut() {
            told["at_us"] = json!(at_us);
        }
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Recording::parse(Path::new("mixed.jsonl"), &text).unwrap()
}

#[tokio::test]
async fn a_client_that_finishes_one_session_first_is_answered() {
    let stand_in = StandIn::start(Options::replay(mixed())).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = async |path: &str, body: Value| {
        let sent = client.post(format!("{}{path}", stand_in.url())).json(&body).send();
        sent.await.unwrap().status().as_u16()
    };
    assert_eq!(post("/session", json!({})).await, 200);
    assert_eq!(post("/session", json!({})).await, 200);
    // The other session's prompt was recorded before this answer, and nobody sends it.
    assert_eq!(post("/session/ses_a/prompt_async", json!({"parts": []})).await, 200);
}

/// What no event tells is answered as it was recorded last, of what has been passed.
#[tokio::test]
async fn a_read_that_events_do_not_tell_is_the_one_that_was_passed_last() {
    let header = &recording("text/plain").header;
    let told = |at_us: u64, exchange: u64, method: &str, path: &str, body: Value| {
        let request = json!({"at_us": at_us, "exchange": exchange, "method": method, "path": path,
                             "body": if method == "POST" { json!({"json": {}}) } else { json!("empty") }});
        let response = json!({"at_us": at_us, "exchange": exchange, "status": 200,
                              "headers": [["content-type", "application/json"]], "body": {"json": body}});
        [json!({"request": request}), json!({"response": response})]
    };
    let session = json!({"id": "ses_a", "time": {"updated": 1}});
    let lines = [
        [json!({"header": header})].to_vec(),
        told(1, 1, "GET", "/config", json!({"is": "first"})).to_vec(),
        told(2, 2, "POST", "/session", session).to_vec(),
        told(3, 3, "GET", "/config", json!({"is": "second"})).to_vec(),
    ];
    let text: String = lines.iter().flatten().map(|line| format!("{line}\n")).collect();
    let recording = Recording::parse(Path::new("config.jsonl"), &text).unwrap();
    let stand_in = StandIn::start(Options::replay(recording)).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let config = async || {
        let answer = client.get(format!("{}/config", stand_in.url())).send().await.unwrap();
        answer.json::<Value>().await.unwrap()["is"].clone()
    };
    assert_eq!(config().await, "first");
    let created = client.post(format!("{}/session", stand_in.url())).json(&json!({})).send().await.unwrap();
    assert_eq!(created.status(), 200);
    assert_eq!(config().await, "second");
}
