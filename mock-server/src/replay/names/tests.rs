//! Goal: a client hears the names that it chose, wherever the recorded client's stood, and may use them.

use super::{Names, replaced};
use crate::replay::tests::client::{Client, recording};
use crate::replay::tests::made::{Step, made};
use crate::replay::{Asks, Pace};
use proptest::prelude::*;
use serde_json::json;

/// A name as clients make them: later than those of each recording.
const OWN: &str = "msg_fff000000001aaaaaaaaaaaaaa";
const OWN_PART: &str = "prt_fff000000002bbbbbbbbbbbbbb";

/// A client of `text/plain` that has prompted with names of its own; its session.
fn with_own_names(pace: Pace, part: &str) -> (String, Client) {
    let mut client = Client::at(&recording("text/plain"), pace);
    client.sends("GET", "/event", b"");
    let (_, session) = client.post("/session", &json!({}));
    let session = session["id"].as_str().unwrap().to_owned();
    let parts = json!([{"type": "text", "text": "say hello", "id": part}]);
    let prompt = json!({"messageID": OWN, "parts": parts});
    assert_eq!(client.post(&format!("/session/{session}/prompt_async"), &prompt).0, 204);
    (session, client)
}

#[test]
fn a_prompt_has_the_name_that_its_client_gave_it() {
    let (session, mut client) = with_own_names(Pace::Causal, OWN_PART);
    let messages = client.get(&format!("/session/{session}/message"));
    let ids: Vec<&str> =
        messages.as_array().unwrap().iter().map(|message| message["info"]["id"].as_str().unwrap()).collect();
    assert_eq!(ids[0], OWN);
    assert_eq!(messages[0]["parts"][0]["id"], OWN_PART);
    assert_eq!(messages[0]["parts"][0]["messageID"], OWN);
    assert_eq!(messages[1]["info"]["parentID"], OWN);
    assert!(ids.is_sorted(), "what answers stays behind the prompt: {ids:?}");
    assert_eq!(client.get(&format!("/session/{session}/message/{OWN}")), messages[0]);
    assert_eq!(client.get(&format!("/session/{session}/message/{}", ids[1])), messages[1]);
    let recorded = recording("text/plain").render().unwrap();
    let heard = client.data("/event");
    let of_prompt = heard.iter().filter(|event| event.to_string().contains(OWN)).count();
    assert!(of_prompt > 3, "{of_prompt}");
    for event in heard {
        let message = event["properties"]["info"]["id"].as_str().filter(|id| id.starts_with("msg_"));
        assert!(message.is_none_or(|id| !recorded.contains(id)), "{event}");
    }
}

#[test]
fn so_it_has_when_the_clock_alone_decides() {
    let (session, mut client) = with_own_names(Pace::AtOnce, OWN_PART);
    let messages = client.get(&format!("/session/{session}/message"));
    assert_eq!(messages.as_array().unwrap().len(), 2);
    assert_eq!((&messages[0]["info"]["id"], &messages[1]["info"]["parentID"]), (&json!(OWN), &json!(OWN)));
}

#[test]
fn an_earlier_name_moves_nothing() {
    let mut names = Names::default();
    let recorded = "msg_202fe9ad7001eTKlr9xJLJQcGV";
    names.learn(recorded, "msg_100000000001aaaaaaaaaaaaaa");
    let answer = "msg_202fe9ad8001eTKlr9xJLJQcGV";
    assert_eq!(names.own_words(answer), None);
    assert_eq!(names.own_words(recorded).as_deref(), Some("msg_100000000001aaaaaaaaaaaaaa"));
}

#[test]
fn what_came_before_the_prompt_keeps_its_name() {
    let mut names = Names::default();
    names.learn("msg_202fe9ad7001eTKlr9xJLJQcGV", "msg_202fe9ad7005aaaaaaaaaaaaaa");
    assert_eq!(names.own_words("msg_202fe9ad6fff0000000000000A"), None);
    assert_eq!(
        names.own_words("prt_202fe9ad7002zzzzzzzzzzzzzz").as_deref(),
        Some("prt_202fe9ad7006zzzzzzzzzzzzzz")
    );
    assert_eq!(
        names.recorded_words("prt_202fe9ad7006zzzzzzzzzzzzzz").as_deref(),
        Some("prt_202fe9ad7002zzzzzzzzzzzzzz")
    );
    assert_eq!(names.own_words("ses_202fe9ad7002zzzzzzzzzzzzzz"), None, "the client did not name it");
}

#[test]
fn words_are_no_names() {
    let mut names = Names::default();
    for (recorded, own) in
        [("x", "drain-0001"), ("drain-0001", "x"), ("two words", "drain-0001"), ("same-name", "same-name")]
    {
        names.learn(recorded, own);
    }
    assert_eq!(names.own_words("x drain-0001 two words same-name"), None);
    names.learn("drain-0001", "drain-0002");
    assert_eq!(names.own_words("drain-00011 xdrain-0001"), None);
    assert_eq!(
        names.own_words(r#"["drain-0001","a\ndrain-0001"]"#).as_deref(),
        Some(r#"["drain-0002","a\ndrain-0002"]"#)
    );
}

#[test]
fn a_handshake_is_told_with_the_token_of_whoever_is_here() {
    let token = |token: &str| json!({"token": token});
    let path = "/kilocode/session/ses_a/drain";
    let told = json!({"sessionID": "ses_a", "token": "their-own-token"});
    let recording = made(&[
        Step::Listens("/event"),
        Step::Asks("/session", json!({}), 200, json!({"id": "ses_a", "time": {"updated": 1}})),
        Step::Asks(path, token("their-own-token"), 200, json!(true)),
        Step::Tells(0, "session.drained", told),
    ]);
    let mut client = Client::of(&recording);
    client.sends("GET", "/event", b"");
    client.post("/session", &json!({}));
    assert_eq!(client.post(path, &token("mine-that-is-longer")), (200, json!(true)));
    let heard = client.data("/event");
    assert_eq!(heard.last().unwrap()["properties"]["token"], "mine-that-is-longer");
}

#[test]
fn what_a_client_refers_to_is_no_name_of_its_own() {
    let (one, other) = (br#"{"messageID":"msg_1"}"#, br#"{"messageID":"msg_2"}"#);
    for route in ["revert", "fork"] {
        let asks = Asks::of("POST", &format!("/session/ses_1/{route}"));
        assert_eq!(asks.differences(one, other), [r#"messageID: recorded "msg_1", sent "msg_2""#], "{route}");
    }
    for route in ["message", "prompt_async", "command", "shell", "init"] {
        let asks = Asks::of("POST", &format!("/session/ses_1/{route}"));
        assert_eq!(asks.differences(one, other), [""; 0], "{route}");
    }
}

proptest! {
    #[test]
    fn names_there_and_back_are_the_same(digits in "[0-9a-e]{12}", chance in "[0-9A-Za-z]{14}", later in 0_u64..1 << 40, between in ".{0,20}") {
        let recorded = format!("msg_{digits}{chance}");
        let time = u64::from_str_radix(&digits, 16).unwrap();
        let own = format!("msg_{:012x}cccccccccccccc", time + later);
        let mut names = Names::default();
        names.learn(&recorded, &own);
        let after = format!("prt_{:012x}dddddddddddddd", time + 1);
        let text = json!([recorded, between, after]).to_string();
        let told = names.own_words(&text).unwrap();
        prop_assert!(told.contains(&own));
        prop_assert_eq!(names.recorded_words(&told).unwrap(), text);
    }

    #[test]
    fn a_text_without_names_stays_as_it_is(text in ".{0,80}") {
        prop_assert_eq!(replaced(&text, |_| None), None);
        let same = replaced(&text, |word| Some(word.to_owned()));
        prop_assert!(same.is_none_or(|same| same == text));
    }
}
