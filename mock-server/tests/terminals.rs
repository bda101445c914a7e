//! Goal: people look into terminals and type to them, as on the real servers.
//! Method: a WebSocket over the machine's own connection; what is expected was seen on Kilo 7.7.7 and OpenCode 1.18.33.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use futures_util::{SinkExt as _, StreamExt as _};
use mock_server::StandIn;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

/// Somebody who wants in, and is in when the status is 101.
struct Guest {
    status: u16,
    socket: WebSocketStream<TcpStream>,
}

impl Guest {
    /// Knocks at a door, with more headers.
    async fn at(standin: &StandIn, path: &str, more: &str) -> Self {
        let place = standin.url().trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(&place).await.unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {place}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        let answer = String::from_utf8(answer).unwrap();
        let status = answer[9..12].parse().unwrap();
        if status == 101 {
            assert!(answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{answer}");
        }
        Self { status, socket: WebSocketStream::from_raw_socket(stream, Role::Client, None).await }
    }

    /// What is shown until it contains this.
    async fn sees(&mut self, wanted: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(wanted) {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => seen += text.as_str(),
                Some(Ok(Message::Binary(bytes))) => seen += std::str::from_utf8(&bytes).unwrap(),
                other => panic!("{wanted} was not shown, only {seen:?}, and then {other:?}"),
            }
        }
        seen
    }

    async fn types(&mut self, keys: &str) {
        self.socket.send(Message::text(keys)).await.unwrap();
    }

    /// How it is sent away: the code, and the words.
    async fn goodbye(&mut self) -> (u16, String) {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Close(Some(frame)))) => {
                    return (frame.code.into(), frame.reason.as_str().to_owned());
                }
                Some(Ok(_)) => {}
                other => panic!("no goodbye: {other:?}"),
            }
        }
    }
}

async fn asked(standin: &StandIn, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = Client::new().request(method, format!("{}{path}", standin.url())).json(&body);
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap_or_default())
}

/// A terminal in which this line runs.
async fn opened(standin: &StandIn, line: &str) -> String {
    let body = json!({"command": "sh", "args": ["-c", line]});
    let (status, info) = asked(standin, Method::POST, "/pty", body).await;
    assert_eq!(status, 200, "{info}");
    info["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_shown_is_what_a_program_prints_and_what_is_typed_it_reads() {
    let standin = StandIn::kilo().start().await.unwrap();
    let line = "echo h\u{e9}llo; read word; echo got:$word; stty size; exit 3";
    let id = opened(&standin, line).await;
    let mut guest = Guest::at(&standin, &format!("/pty/{id}/connect"), "").await;
    guest.sees("h\u{e9}llo\r\n").await;
    let mut late = Guest::at(&standin, &format!("/pty/{id}/connect?cursor=4"), "").await;
    assert_eq!(late.sees("}").await, "o\r\n\0{\"cursor\":7}");
    let mut blind = Guest::at(&standin, &format!("/pty/{id}/connect?cursor=-1"), "").await;
    assert_eq!(blind.sees("}").await, "\0{\"cursor\":7}");
    let size = json!({"size": {"rows": 11, "cols": 55}});
    asked(&standin, Method::PUT, &format!("/pty/{id}"), size).await;
    guest.types("you\n").await;
    let seen = guest.sees("11 55\r\n").await;
    assert!(seen.ends_with("you\r\ngot:you\r\n11 55\r\n"), "{seen:?}");
    for guest in [&mut guest, &mut late, &mut blind] {
        assert_eq!(guest.goodbye().await, (1000, String::new()));
    }
    assert_eq!(Guest::at(&standin, &format!("/pty/{id}/connect"), "").await.status, 404);
    let next = format!("/api/pty/{id}");
    assert_eq!(asked(&standin, Method::GET, &next, Value::Null).await.1["data"]["exitCode"], 3);
    let mut after = Guest::at(&standin, &format!("{next}/connect"), "").await;
    assert_eq!(after.goodbye().await, (4404, "session exited".to_owned()));
}

#[tokio::test]
async fn a_shell_waits_for_who_types_and_ends_with_its_terminal() {
    let standin = StandIn::opencode().start().await.unwrap();
    let (_, info) = asked(&standin, Method::POST, "/pty", json!({"command": "sh"})).await;
    let door = format!("/pty/{}/connect", info["id"].as_str().unwrap());
    let mut guest = Guest::at(&standin, &door, "").await;
    guest.types("echo pid-$$-$TERM-$OPENCODE_TERMINAL\r").await;
    let seen = guest.sees("-xterm-256color-1\r\n").await;
    let number = seen.rsplit("pid-").next().unwrap().split('-').next().unwrap().to_owned();
    let path = format!("/pty/{}", info["id"].as_str().unwrap());
    assert_eq!(asked(&standin, Method::DELETE, &path, Value::Null).await.1, json!(true));
    assert_eq!(guest.goodbye().await.0, 1000);
    let leader = rustix::process::Pid::from_raw(number.parse().unwrap()).unwrap();
    while rustix::process::test_kill_process_group(leader).is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_terminal_in_a_folder_that_is_not_there_is_in_the_persons_own() {
    let standin = StandIn::kilo().start().await.unwrap();
    let line = "echo \"$(pwd)=$HOME=\"; read word";
    let body = json!({"command": "sh", "args": ["-c", line], "cwd": "/nowhere/at/all"});
    let (_, info) = asked(&standin, Method::POST, "/pty", body).await;
    let mut guest = Guest::at(&standin, &format!("/pty/{}/connect", info["id"].as_str().unwrap()), "").await;
    let seen = guest.sees("=\r\n").await;
    let places: Vec<&str> = seen.split('=').collect();
    assert_eq!(places[0].rsplit('}').next(), Some(places[1]), "{seen:?}");
}

#[tokio::test]
async fn a_ticket_lets_in_once_where_it_is_for_and_who_comes_from_elsewhere_gets_none() {
    let standin = StandIn::opencode().start().await.unwrap();
    let (id, other) = (opened(&standin, "read word").await, opened(&standin, "read word").await);
    let ask = |id: &str, name: &str, origin: &str| {
        let request = Client::new().post(format!("{}/pty/{id}/connect-token", standin.url()));
        request.header(name, "1").header("origin", origin).send()
    };
    let ticket = async || {
        let answer = ask(&id, "x-opencode-ticket", &standin.url()).await.unwrap();
        let told: Value = answer.json().await.unwrap();
        assert_eq!(told["expires_in"], 60);
        told["ticket"].as_str().unwrap().to_owned()
    };
    assert_eq!(ask(&id, "x-other", &standin.url()).await.unwrap().status(), 403);
    assert_eq!(ask(&id, "x-opencode-ticket", "http://evil.example").await.unwrap().status(), 403);
    assert_eq!(ask("pty_none", "x-opencode-ticket", &standin.url()).await.unwrap().status(), 404);
    let door = format!("/pty/{id}/connect?ticket={}", ticket().await);
    let stranger = Guest::at(&standin, &door, "origin: http://evil.example\r\n").await;
    assert_eq!(stranger.status, 403, "and the ticket is still good");
    assert_eq!(Guest::at(&standin, &door, "").await.status, 101);
    assert_eq!(Guest::at(&standin, &door, "").await.status, 403, "it was used");
    let elsewhere = format!("/pty/{other}/connect?ticket={}", ticket().await);
    assert_eq!(Guest::at(&standin, &elsewhere, "").await.status, 403);
    assert_eq!(Guest::at(&standin, &format!("/pty/{id}/connect?ticket=nonsense"), "").await.status, 403);
    let plain = format!("/pty/{id}/connect");
    assert_eq!(asked(&standin, Method::GET, &plain, Value::Null).await.0, 400, "no WebSocket is wanted");
}

#[tokio::test]
async fn who_looks_is_let_go_when_the_stand_in_ends() {
    let standin = StandIn::kilo().start().await.unwrap();
    let id = opened(&standin, "echo ready; read word").await;
    let mut guest = Guest::at(&standin, &format!("/pty/{id}/connect"), "").await;
    guest.sees("ready").await;
    drop(standin);
    while let Some(Ok(_)) = guest.socket.next().await {}
}
