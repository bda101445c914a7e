//! What is waited for, and what counts anew when the server begins anew.

use super::Control;
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn events_are_pushed_gates_opened_and_waited_for() {
    let control = Control::over("abort/mid-stream").await;
    let mut stream = control.server(Method::GET, "/event", Value::Null).await;
    control.done(Method::POST, "/events", json!({"event": {"type": "x.y", "properties": {"n": 1}}})).await;
    let mut heard = String::new();
    while !heard.contains("x.y") {
        heard.push_str(std::str::from_utf8(&stream.chunk().await.unwrap().unwrap()).unwrap());
    }
    control.done(Method::POST, "/wait", json!({"event": "server.connected"})).await;
    control.done(Method::POST, "/wait", json!({"event": "x.y"})).await;
    let (status, error) =
        control.refused(Method::POST, "/wait", json!({"event": "x.y", "count": 2, "limit_ms": 1})).await;
    assert!(status == 408, "it was sent once, in two forms: {error}");
    control.done(Method::POST, "/events", json!({"event": {"type": "x.y"}, "stream": "event"})).await;
    control.done(Method::POST, "/wait", json!({"event": "x.y", "count": 2})).await;
    control.done(Method::POST, "/reset", json!({"what": "journal"})).await;
    let anew = control.refused(Method::POST, "/wait", json!({"event": "x.y", "limit_ms": 1})).await;
    assert_eq!(anew.0, 408, "nothing has been sent since: {anew:?}");
    let (status, error) = control.refused(Method::POST, "/gates/nowhere", Value::Null).await;
    assert!(status == 404 && error.contains("there is no gate in the scenario 'nowhere'"), "{error}");
    let (status, error) =
        control.refused(Method::POST, "/wait", json!({"event": "session.idle", "limit_ms": 1})).await;
    assert!(status == 408 && error.contains("within 1 ms"), "{error}");
}

#[tokio::test]
async fn gates_tell_how_they_stand_and_scenarios_their_names() {
    let control = Control::over("abort/mid-stream").await;
    let _stream = control.server(Method::GET, "/event", Value::Null).await;
    let gates = async || control.done(Method::GET, "/gates", Value::Null).await;
    assert_eq!(gates().await, json!([{"name": "mid", "state": "closed"}]));
    control.prompt("please tell a tale").await;
    control.done(Method::POST, "/wait", json!({"event": "message.part.delta"})).await;
    assert_eq!(gates().await, json!([{"name": "mid", "state": "waits"}]));
    control.done(Method::POST, "/gates/mid", Value::Null).await;
    control.done(Method::POST, "/wait", json!({"event": "session.idle"})).await;
    assert_eq!(gates().await, json!([{"name": "mid", "state": "open"}]));
    let names = control.done(Method::GET, "/scenarios", Value::Null).await;
    let names: Vec<String> = serde_json::from_value(names).unwrap();
    assert!(names.len() > 50 && names.is_sorted(), "{names:?}");
    for name in [&names[0], "text/plain"] {
        assert!(names.iter().any(|known| known == name));
        control.done(Method::POST, "/scenario", json!({"name": name})).await;
        let told = gates().await;
        assert!(!told.to_string().contains("open"), "what was opened before is closed again: {told}");
    }
    assert_eq!(gates().await, json!([]));
}

/// Goal: who waits for what the server knows never stands in the way of the server, which writes its journal while it works.
/// Method: many short waits on threads of their own, while sessions are made and prompted.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn who_waits_does_not_stand_in_the_way() {
    const WAITING: usize = 24;
    let control = std::sync::Arc::new(Control::over("text/welcome").await);
    control.done(Method::POST, "/faults", json!({"lines": ["503 at GET /path"]})).await;
    let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut waiting = Vec::new();
    for number in 0..WAITING {
        let (control, is_over) = (control.clone(), is_over.clone());
        waiting.push(tokio::spawn(async move {
            let untils = [
                json!({"while": "busy", "limit_ms": 3}),
                json!({"event": "no.such", "limit_ms": 3}),
                json!({"fault": 1, "limit_ms": 3}),
                json!({"streams": 7, "limit_ms": 3}),
                json!({"request": "rest", "count": 100_000, "limit_ms": 3}),
            ];
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                let until = untils[number % untils.len()].clone();
                let (status, said) = control.ask(Method::POST, "/wait", until).await;
                assert!(status == 200 || status == 408, "{said}");
            }
        }));
    }
    let prompting: Vec<_> = (0..4)
        .map(|_| {
            let control = control.clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    control.prompt("say hello").await;
                }
            })
        })
        .collect();
    for prompting in prompting {
        prompting.await.unwrap();
    }
    is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    for waiting in waiting {
        waiting.await.unwrap();
    }
    assert_eq!(control.sessions().await, 80);
}

#[tokio::test]
async fn streams_are_counted_whatever_the_journal_has_forgotten() {
    let control = Control::over("text/plain").await;
    let stream = control.server(Method::GET, "/event", Value::Null).await;
    control.done(Method::POST, "/wait", json!({"streams": 1})).await;
    control.done(Method::POST, "/reset", json!({"what": "journal"})).await;
    control.done(Method::POST, "/wait", json!({"streams": 1})).await;
    drop(stream);
    control.done(Method::POST, "/wait", json!({"streams": 0})).await;
}

#[tokio::test]
async fn connections_and_faults_count_anew_when_all_begins_anew() {
    let control = Control::over("text/plain").await;
    let fault = json!({"faults": [{"when": {"stream": "event", "connection": 1, "after_events": 1}, "do": {"cut": "between-frames"}}]});
    for _ in 0..2 {
        assert_eq!(control.done(Method::POST, "/faults", fault.clone()).await, json!({"armed": [1]}));
        let mut stream = control.server(Method::GET, "/event", Value::Null).await;
        while let Ok(Some(_)) = stream.chunk().await {}
        control.done(Method::POST, "/wait", json!({"fault": 1})).await;
        control.done(Method::POST, "/now", json!({"do": {"password": "another"}})).await;
        control.done(Method::POST, "/reset", json!({"what": "all"})).await;
        assert_eq!(control.done(Method::GET, "/faults", Value::Null).await, json!([]));
    }
    let mut open = control.server(Method::GET, "/event", Value::Null).await;
    control.done(Method::POST, "/reset", json!({"what": "all"})).await;
    while let Ok(Some(_)) = open.chunk().await {}
    assert_eq!(control.journal("jsonl").await, "", "the end of a stream from before is not told");
    let mut again = control.server(Method::GET, "/event", Value::Null).await;
    again.chunk().await.unwrap();
    let told = control.journal("jsonl").await;
    assert!(told.contains("/event") && told.contains("server.connected"), "what comes behind it is: {told}");
    // The old list is no answer of the server that has begun anew.
    let stale = json!({"faults": [{"when": {"request": "GET /session"}, "do": {"stale": true}}]});
    control.done(Method::POST, "/faults", stale.clone()).await;
    assert_eq!(control.sessions().await, 0);
    control.done(Method::POST, "/reset", json!({"what": "all"})).await;
    control.done(Method::POST, "/faults", stale).await;
    control.prompt("say hello").await;
    assert_eq!(control.sessions().await, 1, "there is nothing to answer again");
}
