//! Goal: what a plan breaks is broken on a real socket, as its word says, and the journal tells of it. Method: bytes on
//! loopback sockets, one plan a stand-in.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

mod server;

use fixtures::recording::{HowEnded, Line};
use mock_server::StandIn;
use reqwest::Client;
use serde_json::{Value, json};
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A server that plays a short text, under a plan of one fault.
async fn broken(when: &str, action: &str) -> StandIn {
    let plan = format!("[[fault]]\nwhen = {{ {when} }}\ndo = {{ {action} }}\n");
    StandIn::opencode().scenario("text/plain").lane("phone").faults(plan).lenient().start().await.unwrap()
}

async fn connect(url: &str) -> TcpStream {
    TcpStream::connect(url.trim_start_matches("http://")).await.unwrap()
}

/// A socket on which this has been asked.
async fn asked(url: &str, request: &str) -> TcpStream {
    let mut socket = connect(url).await;
    let text = format!("{request} HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n");
    socket.write_all(text.as_bytes()).await.unwrap();
    socket
}

/// All that comes until the end, and how the end was: clean or a reset.
async fn all(socket: &mut TcpStream) -> (String, Option<ErrorKind>) {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match socket.read(&mut buffer).await {
            Ok(0) => return (String::from_utf8_lossy(&bytes).into_owned(), None),
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) => return (String::from_utf8_lossy(&bytes).into_owned(), Some(error.kind())),
        }
    }
}

/// What comes until this has come.
async fn until(socket: &mut TcpStream, wanted: &str) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text.contains(wanted) {
            return text;
        }
        let read = socket.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "it ended before {wanted}: {text}");
        bytes.extend_from_slice(&buffer[..read]);
    }
}

fn client() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

async fn status(stand_in: &StandIn, path: &str) -> u16 {
    client().get(format!("{}{path}", stand_in.url())).send().await.unwrap().status().as_u16()
}

fn did(stand_in: &StandIn) -> Vec<String> {
    let lines = stand_in.journal().lines();
    lines
        .into_iter()
        .filter_map(|line| if let Line::Fault(fault) = line { Some(fault.did) } else { None })
        .collect()
}

async fn ended(stand_in: &StandIn) -> HowEnded {
    let end = |lines: &[Line]| {
        lines.iter().find_map(|line| if let Line::End(end) = line { Some(end.how) } else { None })
    };
    stand_in.journal().wait_until(|lines| end(lines).is_some()).await;
    end(&stand_in.journal().lines()).unwrap()
}

#[tokio::test]
async fn a_stream_ends_in_the_way_that_is_planned() {
    let cut = |end: &str| format!("cut = \"between-frames\", end = \"{end}\"");
    let when = "stream = \"event\", after_events = 1";
    for (end, how, last_chunk, error) in [
        ("broken", HowEnded::Broken, false, None),
        ("clean", HowEnded::ClosedByServer, true, None),
        ("reset", HowEnded::Reset, false, Some(ErrorKind::ConnectionReset)),
    ] {
        let stand_in = broken(when, &cut(end)).await;
        let mut socket = connect(&stand_in.url()).await;
        socket
            .write_all(b"GET /event HTTP/1.1\r\nHost: localhost\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        let (text, ended_with) = all(&mut socket).await;
        assert!(text.contains("server.connected"), "{end}: {text}");
        assert_eq!((text.ends_with("0\r\n\r\n"), ended_with), (last_chunk, error), "{end}: {text}");
        assert_eq!(ended(&stand_in).await, how);
    }
    let stand_in = broken(when, &cut("silent")).await;
    let mut socket = asked(&stand_in.url(), "GET /event").await;
    until(&mut socket, "server.connected").await;
    assert_eq!(status(&stand_in, "/session").await, 200, "the server goes on");
    let created = client().post(format!("{}/session", stand_in.url())).json(&json!({})).send().await.unwrap();
    assert_eq!(created.status(), 200);
    assert_eq!(
        socket.try_read(&mut [0; 16]).unwrap_err().kind(),
        ErrorKind::WouldBlock,
        "nothing is told of it"
    );
    drop(socket);
    assert_eq!(ended(&stand_in).await, HowEnded::ClosedByClient);
}

#[tokio::test]
async fn nothing_comes_behind_the_head_of_an_answer() {
    let when = "stream = \"event\", after_events = 0";
    for (end, error) in [("broken", None), ("reset", Some(ErrorKind::ConnectionReset))] {
        let stand_in = broken(when, &format!("cut = \"between-frames\", end = \"{end}\"")).await;
        let (text, ended_with) = all(&mut asked(&stand_in.url(), "GET /event").await).await;
        assert!(text.starts_with("HTTP/1.1 200 OK") && text.ends_with("\r\n\r\n"), "{end}: {text:?}");
        assert!(!text.contains("data:") && ended_with == error, "{end}: {ended_with:?}");
    }
    let stand_in = broken(when, "cut = \"between-frames\", end = \"silent\"").await;
    let mut socket = asked(&stand_in.url(), "GET /event").await;
    assert!(!until(&mut socket, "\r\n\r\n").await.contains("data:"));
}

#[tokio::test]
async fn pieces_of_a_frame_are_chunks_of_their_own() {
    let stand_in = broken("stream = \"event\"", "split = 9").await;
    let mut socket = asked(&stand_in.url(), "GET /event").await;
    until(&mut socket, "\r\n\r\n9\r\ndata: {\"i\r\n9\r\n").await;
}

#[tokio::test]
async fn an_answer_is_what_the_plan_says() {
    let rest = "request = \"GET /session\", nth = 2";
    let stand_in =
        broken(rest, "status = 429, body = { error = \"slow down\" }, headers = { retry-after = \"7\" }")
            .await;
    assert_eq!(status(&stand_in, "/session").await, 200);
    let refused = client().get(format!("{}/session", stand_in.url())).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    assert_eq!(refused.headers()["content-type"], "application/json");
    assert_eq!(refused.json::<Value>().await.unwrap(), json!({"error": "slow down"}));
    assert_eq!(status(&stand_in, "/session").await, 200);
    assert_eq!(did(&stand_in), ["answers 429 at GET /session number 2"]);

    let stand_in =
        broken("request = \"rest\"", "status = 502, body = \"<html>\", content_type = \"text/html\"").await;
    let html = client().get(format!("{}/path", stand_in.url())).send().await.unwrap();
    assert_eq!(
        (html.status().as_u16(), &html.headers()["content-type"]),
        (502, &"text/html".parse().unwrap())
    );

    let stand_in = broken("request = \"POST /session\"", "status = 200").await;
    let url = format!("{}/session", stand_in.url());
    let empty = client().post(&url).json(&json!({})).send().await.unwrap();
    assert_eq!((empty.status().as_u16(), empty.text().await.unwrap().as_str()), (200, ""));
    let list: Value = client().get(&url).send().await.unwrap().json().await.unwrap();
    assert_eq!(list, json!([]), "nothing was done");

    let stand_in = broken("request = \"POST /session\"", "status = 500, performed = true").await;
    let url = format!("{}/session", stand_in.url());
    assert_eq!(client().post(&url).json(&json!({})).send().await.unwrap().status(), 500);
    let list: Value = client().get(&url).send().await.unwrap().json().await.unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1, "it was done");

    let stand_in = broken("request = \"GET /session\", times = \"always\"", "stale = true").await;
    let url = format!("{}/session", stand_in.url());
    let list = || async {
        client().get(&url).send().await.unwrap().json::<Value>().await.unwrap().as_array().unwrap().len()
    };
    assert_eq!(list().await, 0);
    client().post(&url).json(&json!({})).send().await.unwrap();
    assert_eq!((list().await, list().await), (0, 1), "each answer is that of the time before");
}

#[tokio::test]
async fn an_old_answer_is_waited_for_where_there_is_none() {
    let stand_in = broken("request = \"GET /session\"", "stale = true").await;
    let url = format!("{}/session", stand_in.url());
    let asked = |url: String| async move {
        let list: Value = client().get(url).send().await.unwrap().json().await.unwrap();
        list.as_array().unwrap().len()
    };
    assert_eq!(asked(url.clone()).await, 0);
    assert_eq!(stand_in.unfired_faults().len(), 1, "there was nothing to answer again");
    client().post(&url).json(&json!({})).send().await.unwrap();
    assert_eq!(asked(format!("{url}?limit=1")).await, 1, "that is another request");
    assert_eq!(stand_in.unfired_faults().len(), 1);
    assert_eq!((asked(url.clone()).await, asked(url).await), (0, 1));
    assert_eq!(did(&stand_in), ["answers as the time before at GET /session number 1"]);
}

#[tokio::test]
async fn an_answer_does_not_come_or_comes_by_half() {
    let stand_in = broken("request = \"GET /path\"", "truncate = 5").await;
    let (text, error) = all(&mut asked(&stand_in.url(), "GET /path").await).await;
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!((body.len(), error), (5, None), "{text}");
    assert!(head.contains("content-length: ") && !head.contains("content-length: 5\r\n"), "{head}");

    for (side, sessions) in [("request", 0), ("answer", 1)] {
        let stand_in = broken("request = \"POST /session\"", &format!("reset = \"{side}\"")).await;
        let (text, error) = all(&mut asked(&stand_in.url(), "POST /session").await).await;
        assert_eq!((text.as_str(), error), ("", Some(ErrorKind::ConnectionReset)), "{side}");
        let url = format!("{}/session", stand_in.url());
        let list: Value = client().get(&url).send().await.unwrap().json().await.unwrap();
        assert_eq!(list.as_array().unwrap().len(), sessions, "{side}");

        let stand_in = broken("request = \"POST /session\"", &format!("hang = \"{side}\"")).await;
        let socket = asked(&stand_in.url(), "POST /session").await;
        stand_in
            .journal()
            .wait_until(|lines| lines.iter().any(|line| matches!(line, Line::Request(_))))
            .await;
        let url = format!("{}/session", stand_in.url());
        let list: Value = client().get(&url).send().await.unwrap().json().await.unwrap();
        assert_eq!(list.as_array().unwrap().len(), sessions, "{side}");
        assert_eq!(socket.try_read(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock, "{side}");
    }
}

#[tokio::test]
async fn who_may_ask_changes() {
    let stand_in = broken("request = \"streams\", times = 2", "status = 401").await;
    let mut codes = Vec::new();
    for path in ["/event", "/session", "/global/event", "/event"] {
        codes.push(status(&stand_in, path).await);
    }
    assert_eq!(codes, [401, 200, 401, 200]);

    let stand_in = broken("stream = \"event\", after_events = 1", "password = \"another\"").await;
    let mut socket = asked(&stand_in.url(), "GET /event").await;
    until(&mut socket, "server.connected").await;
    assert_eq!(status(&stand_in, "/session").await, 401);
    let request =
        client().post(format!("{}/session", stand_in.url())).basic_auth("opencode", Some("another"));
    assert_eq!(request.json(&json!({})).send().await.unwrap().status(), 200);
    until(&mut socket, "session.created").await;
}

#[tokio::test]
async fn doors_are_shut_or_lead_nowhere() {
    let stand_in = broken("accept = 1, lane = \"phone\"", "door = \"reset\"").await;
    let phone = stand_in.lane_url("phone").unwrap();
    let (text, error) = all(&mut asked(&phone, "GET /session").await).await;
    assert_eq!((text.as_str(), error), ("", Some(ErrorKind::ConnectionReset)));
    until(&mut asked(&phone, "GET /session").await, "200 OK").await;

    let stand_in = broken("accept = 1, lane = \"phone\"", "door = \"silent\"").await;
    let socket = asked(&stand_in.lane_url("phone").unwrap(), "GET /session").await;
    assert_eq!(status(&stand_in, "/session").await, 200, "others are served");
    assert_eq!(socket.try_read(&mut [0; 16]).unwrap_err().kind(), ErrorKind::WouldBlock);

    // So long that nobody can miss it.
    let stand_in = broken("request = \"GET /path\", lane = \"phone\"", "refuse_ms = 600000").await;
    let phone = stand_in.lane_url("phone").unwrap();
    until(&mut asked(&phone, "GET /path").await, "200 OK").await;
    while TcpStream::connect(phone.trim_start_matches("http://")).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&stand_in, "/session").await, 200, "the other door is open");
}

#[tokio::test]
async fn what_never_comes_is_no_break_in_the_journal() {
    for (action, how) in [
        ("hang = \"answer\"", HowEnded::Broken),
        ("hang = \"request\"", HowEnded::ClosedByClient),
        ("reset = \"answer\"", HowEnded::Reset),
        ("reset = \"request\"", HowEnded::Reset),
        ("truncate = 3", HowEnded::Cut),
    ] {
        let stand_in = broken("request = \"GET /path\"", action).await;
        let mut socket = asked(&stand_in.url(), "GET /path").await;
        match how {
            HowEnded::ClosedByClient => {
                stand_in
                    .journal()
                    .wait_until(|lines| lines.iter().any(|line| matches!(line, Line::Request(_))))
                    .await;
                let ended = |line: &Line| matches!(line, Line::End(_));
                assert!(!stand_in.journal().lines().iter().any(ended), "{action}: it is still there");
                drop(socket);
            }
            // It stays open and says nothing.
            HowEnded::Broken => {}
            _ => drop(all(&mut socket).await),
        }
        let ends = |lines: &[Line]| {
            lines.iter().find_map(|line| if let Line::End(end) = line { Some(end.how) } else { None })
        };
        stand_in.journal().wait_until(|lines| ends(lines).is_some()).await;
        assert_eq!(ends(&stand_in.journal().lines()), Some(how), "{action}");
    }
}

#[tokio::test]
async fn another_client_answers_first() {
    let plan = "[[fault]]\nwhen = { stream = \"event\", after_event = \"permission.asked\" }\ndo = { reply = \"reject\" }\n";
    let stand_in =
        StandIn::kilo().scenario("permission/write-rejected").faults(plan).lenient().start().await.unwrap();
    let mut stream = asked(&stand_in.url(), "GET /event").await;
    until(&mut stream, "server.connected").await;
    let url = stand_in.url();
    let session: Value =
        client().post(format!("{url}/session")).json(&json!({})).send().await.unwrap().json().await.unwrap();
    let prompt = json!({"parts": [{"type": "text", "text": "please write it"}]});
    let id = session["id"].as_str().unwrap();
    client().post(format!("{url}/session/{id}/prompt_async")).json(&prompt).send().await.unwrap();
    let told = until(&mut stream, "permission.replied").await;
    assert!(told.contains("permission.asked"), "{told}");
    let lanes: Vec<String> = stand_in
        .journal()
        .lines()
        .into_iter()
        .filter_map(|line| if let Line::Request(request) = line { request.lane } else { None })
        .collect();
    assert!(lanes.iter().any(|lane| lane == "another client"), "{lanes:?}");
}

#[tokio::test]
async fn one_lane_is_cut_one_falls_silent_and_one_is_well() {
    let plan = "[[fault]]\nwhen = { lane = \"a\", stream = \"event\", after_events = 5 }\ndo = { cut = \"between-frames\" }\n\
        [[fault]]\nwhen = { lane = \"b\", stream = \"event\", after_events = 3 }\ndo = { cut = \"between-frames\", end = \"silent\" }\n";
    let stand_in =
        StandIn::kilo().scenario("text/plain").lane("a").lane("b").faults(plan).start().await.unwrap();
    let url = stand_in.url();
    let mut streams = Vec::new();
    for lane in ["a", "b", "main"] {
        let mut socket = asked(&stand_in.lane_url(lane).unwrap(), "GET /event").await;
        until(&mut socket, "server.connected").await;
        streams.push(socket);
    }
    let session: Value =
        client().post(format!("{url}/session")).json(&json!({})).send().await.unwrap().json().await.unwrap();
    let prompt = json!({"parts": [{"type": "text", "text": "say hello"}]});
    let id = session["id"].as_str().unwrap();
    client().post(format!("{url}/session/{id}/message")).json(&prompt).send().await.unwrap();
    let [mut a, b, mut well] = <[TcpStream; 3]>::try_from(streams).unwrap();
    until(&mut well, "session.idle").await;
    let (cut, _) = all(&mut a).await;
    assert!(!cut.contains("session.idle"));
    let mut rest = [0; 64 * 1024];
    let mut silent = String::new();
    while let Ok(read) = b.try_read(&mut rest) {
        silent.push_str(&String::from_utf8_lossy(&rest[..read]));
    }
    assert!(!silent.contains("session.idle"));
    assert_eq!(stand_in.unfired_faults(), []);
}
