//! Goal: a server that a plan ends is gone for all of its clients, and is back with what it has kept.

use super::*;

#[tokio::test]
async fn a_server_starts_again_with_what_it_has_kept() {
    for (state, sessions) in [("stored", 1), ("kept", 1), ("lost", 0)] {
        let stand_in =
            broken("request = \"GET /path\"", &format!("restart = \"killed\", state = \"{state}\"")).await;
        let url = format!("{}/session", stand_in.url());
        client().post(&url).json(&json!({})).send().await.unwrap();
        let mut stream = asked(&stand_in.url(), "GET /event").await;
        until(&mut stream, "server.connected").await;
        let (answer, error) = all(&mut asked(&stand_in.url(), "GET /path").await).await;
        assert_eq!((&*answer, error), ("", Some(ErrorKind::ConnectionReset)), "it goes down with the server");
        let (rest, _) = all(&mut stream).await;
        assert!(!rest.ends_with("0\r\n\r\n"), "{state}: {rest:?}");
        let list: Value = client().get(&url).send().await.unwrap().json().await.unwrap();
        assert_eq!(list.as_array().unwrap().len(), sessions, "{state}");
    }
    let stand_in = broken("request = \"GET /path\"", "restart = \"killed\", port = \"new\"").await;
    let old = stand_in.url();
    assert_eq!(all(&mut asked(&old, "GET /path").await).await.1, Some(ErrorKind::ConnectionReset));
    while stand_in.url() == old {
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&stand_in, "/session").await, 200, "it is elsewhere");
}

#[tokio::test]
async fn who_is_killed_in_mid_turn_says_no_more() {
    let when = "stream = \"event\", after_event = \"message.part.delta\", nth = 2, times = 3";
    let stand_in = broken(when, "restart = \"killed\"").await;
    let url = stand_in.url();
    let mut stream = asked(&url, "GET /event").await;
    until(&mut stream, "server.connected").await;
    let session: Value =
        client().post(format!("{url}/session")).json(&json!({})).send().await.unwrap().json().await.unwrap();
    let messages = format!("{url}/session/{}/message", session["id"].as_str().unwrap());
    let prompt = json!({"parts": [{"type": "text", "text": "say hello"}]});
    assert!(client().post(&messages).json(&prompt).send().await.is_err(), "nobody is there to answer");
    let (heard, _) = all(&mut stream).await;
    assert_eq!(heard.matches("\"message.part.delta\"").count(), 2, "{heard}");
    assert!(!heard.contains("session.idle") && !heard.ends_with("0\r\n\r\n"), "{heard}");
    let kept: Value = client().get(&messages).send().await.unwrap().json().await.unwrap();
    let answer = &kept.as_array().unwrap().last().unwrap()["info"];
    assert_eq!(
        (&answer["role"], &answer["time"]["completed"]),
        (&json!("assistant"), &Value::Null),
        "{kept}"
    );
    let fired = |line: &Line| matches!(line, Line::Fault(_));
    assert_eq!(stand_in.journal().lines().iter().filter(|line| fired(line)).count(), 1, "it was killed once");
}
