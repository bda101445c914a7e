//! What stands on the tape, against a server whose every byte is known.

use super::*;
use crate::clock;
use crate::events::{kind, property};
use crate::testing::fake_server::{Asked, Out, chunk, serve, stream_head, whole};
use fixtures::recording::HowEnded;
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const PATIENCE: Duration = Duration::from_secs(20);
const CONNECTED: &str = "data: {\"id\":\"evt_1\",\"type\":\"server.connected\",\"properties\":{}}\n\n";

async fn client(answer: impl Fn(Asked, Out) + Send + Sync + 'static) -> Client {
    let credentials = Credentials { user: "kilo".into(), password: "a-password-of-the-tests".into() };
    Client::new(&serve(answer).await, credentials, Tape::new()).unwrap()
}

/// The tape without its times.
fn tape(client: &Client) -> String {
    let lines = client.tape().lines();
    let shown = lines.iter().map(|line| {
        let mut value = serde_json::to_value(line).unwrap();
        if let Some(at) = value.as_object_mut().unwrap().values_mut().next() {
            at["at_us"] = json!(0);
        }
        value.to_string()
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn an_exchange_is_kept_without_credentials_and_unknown_headers() {
    let client = client(|asked, out| {
        assert!(asked.head.contains("authorization: basic "), "{}", asked.head);
        assert_eq!(asked.body, r#"{"a":1}"#);
        out.send(whole(201, "{ \"b\": 2 }")).unwrap();
    })
    .await;
    let reply =
        client.exchange(Method::POST, "/x", "directory=%2Ftmp", Some(&json!({ "a": 1 }))).await.unwrap();
    assert_eq!((reply.status, reply.json()), (201, Some(json!({ "b": 2 }))));
    insta::assert_snapshot!(tape(&client), @r#"
    {"request":{"at_us":0,"exchange":1,"method":"POST","path":"/x","query":"directory=%2Ftmp","headers":[["accept","application/json"],["content-type","application/json"]],"body":{"json":{"a":1}}}}
    {"response":{"at_us":0,"exchange":1,"status":201,"headers":[["content-type","application/json"]],"body":{"text":"{ \"b\": 2 }"}}}
    "#);
}

#[tokio::test]
async fn a_body_that_is_kept_apart_is_not_on_the_tape() {
    let client = client(|_, out| out.send(whole(200, "{\"openapi\":\"3.1\"}")).unwrap()).await;
    let reply = client.exchange_apart(Method::GET, "/doc", "").await.unwrap();
    assert_eq!(&reply.bytes[..], b"{\"openapi\":\"3.1\"}");
    assert!(!tape(&client).contains("openapi"));
}

#[tokio::test]
async fn a_redirect_is_an_answer_like_any_other() {
    let client = client(|asked, out| {
        assert_eq!(asked.line, "GET /old");
        out.send(b"HTTP/1.1 302 Found\r\nlocation: /new\r\ncontent-length: 0\r\n\r\n".to_vec()).unwrap();
    })
    .await;
    assert_eq!(client.exchange(Method::GET, "/old", "", None).await.unwrap().status, 302);
    assert_eq!(client.tape().lines().len(), 2);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_kept_as_far_as_it_came() {
    let client = client(|_, out| {
        out.send(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf".to_vec()).unwrap();
    })
    .await;
    let error = client.exchange(Method::GET, "/x", "", None).await.unwrap_err().to_string();
    assert!(error.starts_with("the answer to GET /x broke off after 4 bytes: "), "{error}");
    insta::assert_snapshot!(tape(&client), @r#"
    {"request":{"at_us":0,"exchange":1,"method":"GET","path":"/x","headers":[["accept","application/json"]]}}
    {"response":{"at_us":0,"exchange":1,"status":200,"body":{"text":"half"}}}
    {"end":{"at_us":0,"exchange":1,"how":"cut"}}
    "#);
}

#[tokio::test]
async fn no_answer_says_why() {
    let client = client(|_, _| {}).await;
    let error = client.exchange(Method::GET, "/x", "", None).await.unwrap_err().to_string();
    assert!(error.starts_with("GET /x was not answered: "), "{error}");
    assert!(!error.contains("password"), "{error}");
    assert_eq!(client.tape().lines().len(), 1, "the request was sent, and only once");
}

#[tokio::test]
async fn the_cut_points_of_a_stream_are_kept_and_its_events_are_whole() {
    let client = client(|_, out| {
        let (first, second) = CONNECTED.split_at(20);
        for bytes in [stream_head(), chunk(first), chunk(second), chunk("data: not json\n\n"), chunk("")] {
            out.send(bytes).unwrap();
        }
    })
    .await;
    let stream = client.subscribe(StreamName::Event, "").await.unwrap();
    let (place, event) = stream.wait_for(0, |event| kind(event) == "server.connected").await.unwrap();
    assert_eq!((place, &event["id"]), (0, &json!("evt_1")));
    assert_eq!(clock::within(PATIENCE, stream.ended()).await, Some(HowEnded::ClosedByServer));
    assert!(stream.has(0, |event| event == "not json"));
    drop(stream);
    insta::assert_snapshot!(tape(&client));
}

#[tokio::test]
async fn a_stream_that_breaks_is_told_apart_from_one_that_ends() {
    let client = client(|_, out| {
        for bytes in [stream_head(), chunk(CONNECTED), b"ff\r\ndata: ha".to_vec()] {
            out.send(bytes).unwrap();
        }
    })
    .await;
    let stream = client.subscribe(StreamName::GlobalEvent, "").await.unwrap();
    let error = stream.wait_for(0, |event| kind(event) == "never").await.unwrap_err();
    assert_eq!(error.to_string(), "the stream /global/event ended (Cut)");
    assert!(tape(&client).ends_with(r#"{"end":{"at_us":0,"exchange":1,"how":"cut"}}"#));
}

#[tokio::test]
async fn a_stream_that_is_cut_between_two_chunks_was_cut() {
    let client = client(|_, out| {
        out.send(stream_head()).unwrap();
        out.send(chunk(CONNECTED)).unwrap();
    })
    .await;
    let stream = client.subscribe(StreamName::Event, "").await.unwrap();
    assert_eq!(clock::within(PATIENCE, stream.ended()).await, Some(HowEnded::Cut));
}

#[tokio::test]
async fn a_stream_that_is_reset_was_not_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen_send, seen) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        assert!(socket.read(&mut [0; 4096]).await.unwrap() > 0, "the request");
        socket.write_all(&[stream_head(), chunk(CONNECTED)].concat()).await.unwrap();
        // A reset would overtake bytes that the client has not read yet.
        seen.await.unwrap();
        socket.set_zero_linger().unwrap();
    });
    let credentials = Credentials { user: "kilo".into(), password: "password".into() };
    let client = Client::new(&url, credentials, Tape::new()).unwrap();
    let stream = client.subscribe(StreamName::Event, "").await.unwrap();
    stream.wait_for(0, |event| kind(event) == "server.connected").await.unwrap();
    seen_send.send(()).unwrap();
    assert_eq!(clock::within(PATIENCE, stream.ended()).await, Some(HowEnded::Reset));
}

#[tokio::test]
async fn a_stream_that_is_dropped_was_closed_by_us_and_nothing_follows() {
    let (gone_send, mut gone) = tokio::sync::mpsc::unbounded_channel();
    let client = client(move |_, out| {
        out.send(stream_head()).unwrap();
        out.send(chunk(CONNECTED)).unwrap();
        let gone = gone_send.clone();
        // The server's end of the connection: it is closed when the client has left.
        tokio::spawn(async move {
            while out.send(chunk("data: {\"type\":\"server.heartbeat\"}\n\n")).is_ok() {
                tokio::task::yield_now().await;
            }
            gone.send(()).unwrap();
        });
    })
    .await;
    let stream = client.subscribe(StreamName::Event, "").await.unwrap();
    stream.wait_for(1, |event| kind(event) == "server.heartbeat").await.unwrap();
    drop(stream);
    let lines = client.tape().lines();
    assert!(matches!(lines.last(), Some(Line::End(End { how: HowEnded::ClosedByClient, .. }))));
    clock::within(PATIENCE, gone.recv()).await.expect("the connection is closed");
    assert_eq!(client.tape().lines().len(), lines.len());
}

#[tokio::test]
async fn what_is_no_stream_is_refused_and_kept() {
    let client = client(|_, out| out.send(whole(401, "")).unwrap()).await;
    let error = client.subscribe(StreamName::Event, "").await.unwrap_err();
    assert_eq!(error.to_string(), "GET /event answered 401, not a stream of events");
    assert_eq!(client.tape().lines().len(), 2);
}

#[test]
fn an_event_is_read_alike_on_both_streams() {
    let event = json!({ "type": "session.idle", "properties": { "sessionID": "ses_1" } });
    let wrapped = json!({ "directory": "/w", "payload": event });
    for event in [&event, &wrapped] {
        assert_eq!((kind(event), property(event, "sessionID")), ("session.idle", Some("ses_1")));
    }
    assert_eq!((kind(&json!("text")), property(&json!(null), "x")), ("", None));
}
