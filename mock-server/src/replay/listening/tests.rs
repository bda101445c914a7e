//! Goal: a client that asks for its stream when it prompts hears what the recorded client heard; nobody is waited for
//! in vain for long.

use crate::performer::{Act, Performer};
use crate::replay::tests::client::Client;
use crate::replay::tests::made::{Step, made};
use serde_json::{Value, json};

const PROMPT: &str = "/session/ses_a/prompt_async";

fn session() -> Step {
    Step::Asks("/session", json!({}), 200, json!({"id": "ses_a", "time": {"updated": 1}}))
}

fn prompts() -> Step {
    Step::Asks(PROMPT, json!({"parts": []}), 200, json!(null))
}

fn tells(listener: usize, kind: &'static str) -> Step {
    Step::Tells(listener, kind, json!({"sessionID": "ses_a"}))
}

/// A client of a recording whose own had prompted and then listened, twice; it has prompted once.
fn prompted() -> Client {
    let steps = [
        session(),
        prompts(),
        Step::Listens("/event"),
        tells(0, "one"),
        tells(0, "two"),
        prompts(),
        Step::Listens("/event"),
        tells(1, "three"),
    ];
    let mut client = Client::of(&made(&steps));
    client.post("/session", &json!({}));
    client.post(PROMPT, &json!({"parts": []}));
    client
}

/// What the replay does when it is woken as it asked for last.
fn woken(client: &mut Client) {
    let number = client.acts.iter().rev().find_map(|act| match act {
        Act::WakeAfter(_, number) => Some(*number),
        _ => None,
    });
    let acts = client.replay.wake(number.unwrap());
    client.acts.extend(acts);
}

#[test]
fn what_was_heard_waits_for_somebody_who_listens() {
    let mut client = prompted();
    assert_eq!(client.heard("/event"), [""; 0]);
    client.sends("GET", "/event", b"");
    assert_eq!(client.heard("/event"), ["one", "two"]);
    client.post(PROMPT, &json!({"parts": []}));
    assert_eq!(client.heard("/event"), ["one", "two"], "the recorded client had asked again");
    client.sends("GET", "/event", b"");
    assert_eq!(client.heard("/event"), ["one", "two", "three"]);
}

#[test]
fn a_stream_that_was_kept_is_waited_for_once_and_not_for_ever() {
    let mut client = prompted();
    client.sends("GET", "/event", b"");
    client.post(PROMPT, &json!({"parts": []}));
    woken(&mut client);
    assert_eq!(client.heard("/event"), ["one", "two", "three"]);
}

#[test]
fn who_never_listens_is_waited_for_once() {
    let mut client = prompted();
    woken(&mut client);
    assert_eq!(client.heard("/event"), ["one", "two"]);
    client.post(PROMPT, &json!({"parts": []}));
    assert_eq!(client.heard("/event"), ["one", "two", "three"]);
}

#[test]
fn each_folder_hears_its_own() {
    let steps = [
        Step::Listens("/event"),
        Step::Listens("/event?directory=%2Fother"),
        session(),
        tells(0, "here"),
        tells(1, "there"),
    ];
    let mut client = Client::of(&made(&steps));
    client.sends("GET", "/event", b"");
    client.sends("GET", "/event?directory=/other", b"");
    client.sends("GET", "/event?directory=/of/the/client", b"");
    client.post("/session", &json!({}));
    let opened: Vec<_> = client
        .acts
        .iter()
        .filter_map(|act| match act {
            Act::Open(_, audience, _) => Some(audience),
            _ => None,
        })
        .collect();
    let heard = |listener: usize| -> Vec<&str> {
        let sent = client.acts.iter().filter_map(|act| match act {
            Act::Send(to, frame) if opened[listener].hears(to) => Some(&*frame.kind),
            _ => None,
        });
        sent.collect()
    };
    assert_eq!([heard(0), heard(1), heard(2)], [["here"], ["there"], ["here"]]);
}

#[test]
fn who_was_not_let_in_has_caused_nothing() {
    let steps = [Step::Asks("/session", json!({}), 401, json!(null)), session()];
    let mut client = Client::of(&made(&steps));
    assert_eq!(client.post("/session", &json!({})).0, 200);
    assert_eq!(client.post("/session", &json!({})).0, 501);
}

#[test]
fn notices_come_as_often_as_a_client_likes() {
    let viewed = |who: &str, session: &str| json!({"viewer": {"id": who}, "attached": [session]});
    let steps = [
        Step::Asks("/session/viewed", viewed("recorded-viewer", "ses_a"), 200, json!(true)),
        Step::Asks("/session/viewed", json!({"viewer": 5}), 400, json!({"name": "BadRequest"})),
        session(),
        Step::Asks("/session/viewed", viewed("recorded-viewer", "ses_b"), 200, json!("last")),
        prompts(),
    ];
    let mut client = Client::of(&made(&steps));
    let mut views = |body: Value| client.post("/session/viewed", &body);
    assert_eq!(views(viewed("a-viewer-of-mine", "ses_b")), (200, json!("last")));
    assert_eq!(views(json!({"viewer": 5})), (400, json!({"name": "BadRequest"})));
    assert_eq!(views(json!({"viewer": 6})), (200, json!(true)), "as one that was taken");
    assert_eq!(client.post("/session", &json!({})).0, 200);
    assert_eq!(client.post(PROMPT, &json!({"parts": []})).0, 200, "nobody had to say it before");
    assert_eq!(client.post("/log", &json!({})).0, 501, "nobody has said that");
}
