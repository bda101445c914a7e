//! Time lines of small histories: where a thing happened, and what never came.

use super::{Entry, of};
use fixtures::recording::{Line, Recording};
use serde_json::{Value, json};

const SESSION: &str = "ses_4301a97f9ffeD7olxFzAcPwAUz";

/// The time line of these lines, each as `lane what`.
fn told(lines: &[Value]) -> Vec<String> {
    let header = json!({
        "format": 4, "kind": "history", "server": "kilo", "version": "7.7.7", "performer": "stand-in",
        "scenario": "text/plain", "workspace": "/w", "by": "test", "provenance": {}
    });
    let header = serde_json::from_value(header).unwrap();
    let lines = lines.iter().map(|line| serde_json::from_value::<Line>(line.clone()).unwrap()).collect();
    let history = Recording { header, lines, torn: false };
    let told = |entry: &Entry| format!("{:?} {}", entry.who, entry.what);
    of(&history).iter().map(told).collect()
}

fn asks(exchange: u64, at_us: u64, path: &str) -> Value {
    json!({"request": {"at_us": at_us, "exchange": exchange, "lane": "adapter", "method": "POST", "path": path}})
}

fn answers(exchange: u64, at_us: u64, status: u16) -> Value {
    json!({"response": {"at_us": at_us, "exchange": exchange, "status": status}})
}

fn ends(exchange: u64, how: &str) -> Value {
    json!({"end": {"at_us": 9000, "exchange": exchange, "how": how}})
}

fn says(from: &str, message: Value) -> Value {
    json!({"adapter": {"at_us": 0, "from": from, "message": message}})
}

#[test]
fn a_request_without_an_answer_is_told_and_a_lost_answer_does_not_look_received() {
    let path = format!("/session/{SESSION}/prompt_async");
    let short = "POST /session/ses_…wAUz/prompt_async";
    assert_eq!(told(&[asks(1, 0, &path), answers(1, 1000, 204)]), [format!("Rest {short} → 204")]);
    assert_eq!(
        told(&[asks(1, 0, &path), answers(1, 600_000, 204)]),
        [format!("Rest {short} → 204 after 600 ms")]
    );
    assert_eq!(
        told(&[asks(1, 0, &path), ends(1, "reset")]),
        [format!("Rest {short}: no answer"), format!("Rest {short}: it is reset")]
    );
    assert_eq!(
        told(&[asks(1, 0, &path), answers(1, 0, 204), ends(1, "closed_by_client")]),
        [
            format!("Rest {short}: the server's 204 does not arrive whole"),
            format!("Rest {short}: the adapter leaves")
        ]
    );
}

#[test]
fn a_refused_stream_is_told() {
    let told = told(&[asks(1, 0, "/event"), answers(1, 0, 401)]);
    assert_eq!(told, ["Stream /event is asked for", "Stream POST /event → 401"]);
}

#[test]
fn events_name_their_session_and_the_screen_its_task() {
    let status =
        json!({"type": "session.status", "properties": {"sessionID": SESSION, "status": {"type": "busy"}}});
    let created = json!({"type": "session.created", "properties": {"info": {"id": SESSION}}});
    let calm = json!({"type": "server.connected", "properties": {}});
    let text: String = [status, created, calm].map(|event| format!("data: {event}\n\n")).concat();
    let update = json!({"kind": "status", "taskId": "task-2", "state": "busy"});
    let told = told(&[
        asks(1, 0, "/event"),
        json!({"chunk": {"at_us": 0, "exchange": 1, "text": text}}),
        says("adapter", json!({"jsonrpc": "2.0", "method": "update", "params": {"update": update}})),
    ]);
    assert_eq!(
        told[1..],
        [
            "Stream session.status: busy · ses_…wAUz",
            "Stream session.created · ses_…wAUz",
            "Stream server.connected",
            "Screen task-2: status busy"
        ]
    );
}

#[test]
fn the_adapter_has_a_lane_of_its_own() {
    let call = |id: u64, method: &str| says("harness", json!({"id": id, "method": method, "params": {}}));
    let reply = |id: u64, result: Value| says("adapter", json!({"id": id, "result": result}));
    let told = told(&[
        call(1, "task/start"),
        call(2, "task/send"),
        call(3, "fence"),
        call(4, "task/abort"),
        reply(1, json!({"sessionId": SESSION})),
        reply(2, json!({})),
        reply(3, json!({})),
        says(
            "adapter",
            json!({"method": "log", "params": {"level": "warn", "text": "late", "taskId": "task-1"}}),
        ),
        says("adapter", json!({"method": "telemetry", "params": {"name": "kilo.cli.count", "value": 2}})),
        says("adapter", json!({"id": 5, "error": {"code": 1, "message": "nobody has asked"}})),
    ]);
    assert_eq!(
        told,
        [
            "Adapter task/abort: it never answers",
            "Adapter task/start → ses_…wAUz",
            "Adapter task/send → done",
            "Adapter log warn: late · task-1",
            "Adapter kilo.cli.count = 2"
        ]
    );
}
