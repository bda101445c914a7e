//! Goal: the recorded client reads in the midst of a turn what it read there; no other one waits for that for long.

use crate::performer::{Act, Performer};
use crate::replay::tests::client::Client;
use crate::replay::tests::made::{Step, made};
use serde_json::{Value, json};

const PROMPT: &str = "/session/ses_a/prompt_async";
const READS: [&str; 3] = ["/session/ses_a", "/session/ses_a/todo", "/permission"];

/// A client of a recording whose own read `READS` before it prompted, and what the agent does in the midst of the turn.
fn client() -> Client {
    let told = |what: Value| Step::Tells(0, "session.status", json!({"sessionID": "ses_a", "status": what}));
    let session = json!({"id": "ses_a", "time": {"updated": 1}});
    let mut steps = vec![
        Step::Listens("/event"),
        Step::Asks("/session", json!({}), 200, session.clone()),
        Step::Reads(READS[0], session),
        Step::Reads(READS[1], json!([])),
        Step::Reads(READS[2], json!([])),
        Step::Asks(PROMPT, json!({"parts": []}), 200, json!(null)),
    ];
    steps.push(told(json!({"type": "busy"})));
    steps.push(Step::Reads("/session/status", json!({"ses_a": {"type": "busy"}})));
    steps.push(told(json!({"type": "idle"})));
    steps.push(Step::Tells(0, "session.idle", json!({"sessionID": "ses_a"})));
    steps.push(Step::Asks("/session/ses_a/abort", json!({}), 200, json!(true)));
    let mut client = Client::of(&made(&steps));
    client.sends("GET", "/event", b"");
    client.post("/session", &json!({}));
    client
}

/// It has read these, and prompted.
fn prompted(reads: &[&str]) -> Client {
    let mut client = client();
    for path in reads {
        client.get(path);
    }
    client.post(PROMPT, &json!({"parts": []}));
    client
}

#[test]
fn what_was_read_on_the_way_is_read_there_again() {
    let mut client = prompted(&READS);
    assert_eq!(client.heard("/event"), ["session.status"]);
    assert_eq!(client.get("/session/ses_a"), json!({"id": "ses_a", "time": {"updated": 1}}));
    assert_eq!(client.heard("/event"), ["session.status"], "that is not what is waited for");
    assert_eq!(client.get("/session/status"), json!({"ses_a": {"type": "busy"}}));
    assert_eq!(client.heard("/event"), ["session.status", "session.status", "session.idle"]);
    assert_eq!(client.get("/session/status"), json!({}));
}

#[test]
fn another_client_does_not_wait() {
    let mut client = prompted(&READS[..2]);
    assert_eq!(client.heard("/event").len(), 3);
    assert_eq!(client.get("/session/status"), json!({}));
}

#[test]
fn who_does_not_read_is_waited_for_once() {
    let mut client = prompted(&READS);
    let wakes = |client: &Client| -> Vec<usize> {
        let wake = |act: &Act| if let Act::WakeAfter(_, number) = act { Some(*number) } else { None };
        client.acts.iter().filter_map(wake).collect()
    };
    client.get("/session/ses_a");
    let numbers = wakes(&client);
    assert_eq!(numbers.len(), 1, "what is asked meanwhile does not hasten it");
    let acts = client.replay.wake(numbers[0]);
    client.acts.extend(acts);
    assert_eq!(client.heard("/event").len(), 3);
}

#[test]
fn who_goes_on_has_read_enough() {
    let mut client = prompted(&READS);
    assert_eq!(client.post("/session/ses_a/abort", &json!({})), (200, json!(true)));
    assert_eq!(client.heard("/event").len(), 3);
}
