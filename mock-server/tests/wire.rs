//! Goal: below all routes the stand-in takes and ends what the real servers' HTTP takes and ends; statuses and headers
//! here were seen on both. Method: bytes on a loopback socket.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may: its failure is its answer"
)]

use fixtures::{ServerKind, catalog};
use mock_server::{Options, StandIn};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const HOST: &str = "Host: 127.0.0.1\r\n";

async fn stand_in(server: ServerKind) -> StandIn {
    StandIn::start(Options::scenario(server, catalog::scenario("text/plain").unwrap())).await.unwrap()
}

/// What comes back when these bytes are sent, and then nothing more.
async fn exchange(stand_in: &StandIn, sent: &[u8]) -> String {
    let mut socket = TcpStream::connect(stand_in.url().trim_start_matches("http://")).await.unwrap();
    // The server may have refused before it has read all.
    let _ = socket.write_all(sent).await;
    let _ = socket.shutdown().await;
    let mut got = Vec::new();
    let _ = socket.read_to_end(&mut got).await;
    String::from_utf8_lossy(&got).into_owned()
}

fn get(target: &str, more: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\n{HOST}{more}\r\n").into_bytes()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[tokio::test]
async fn who_has_said_all_still_gets_his_answer() {
    let stand_in = stand_in(ServerKind::Opencode).await;
    for _ in 0..50 {
        let answer = exchange(&stand_in, &get("/global/health", "")).await;
        assert!(answer.ends_with("\"version\":\"1.18.33\"}"), "{answer}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_refused_and_the_connection_is_over() {
    let stand_in = stand_in(ServerKind::Kilo).await;
    let body = format!("POST /session HTTP/1.1\r\n{HOST}transfer-encoding: chunked\r\n\r\nzz\r\n");
    for sent in [
        "hello world\r\n\r\n",
        "GET /global/health HTTP/1.1\r\n\r\n",
        &format!("FOO /session HTTP/1.1\r\n{HOST}\r\n"),
        &format!("GET session HTTP/1.1\r\n{HOST}\r\n"),
        &format!("OPTIONS * HTTP/1.1\r\n{HOST}\r\n"),
        &body,
    ] {
        let answer = exchange(&stand_in, sent.as_bytes()).await;
        assert_eq!(
            (status(&answer), header(&answer, "connection")),
            ("400", Some("close")),
            "{sent:?}: {answer}"
        );
    }
    let long = exchange(&stand_in, &get("/global/health", &format!("x: {}\r\n", "a".repeat(20_000)))).await;
    assert_eq!(status(&long), "431");
    let far = exchange(&stand_in, &get(&format!("/global/health?x={}", "a".repeat(100_000)), "")).await;
    assert_eq!(status(&far), "431");
    let expecting = exchange(&stand_in, &get("/global/health", "Expect: 200-x\r\n")).await;
    assert_eq!(status(&expecting), "417");
    let many: String = (0..150).map(|number| format!("x-{number}: a\r\n")).collect();
    assert_eq!(status(&exchange(&stand_in, &get("/global/health", &many)).await), "200");
}

#[tokio::test]
async fn paths_are_read_as_the_servers_routers_read_them() {
    for (server, unknown) in [(ServerKind::Kilo, "404"), (ServerKind::Opencode, "200")] {
        let stand_in = stand_in(server).await;
        for target in ["/SESSION", "//session", "/session/", "/%73ession", "http://127.0.0.1/session"] {
            let answer = exchange(&stand_in, &get(target, "")).await;
            assert!(answer.ends_with("\r\n\r\n[]"), "{target}: {answer}");
        }
        for target in ["/session/%zz", "/session/%ff", "/%"] {
            let answer = exchange(&stand_in, &get(target, "")).await;
            assert_eq!((status(&answer), header(&answer, "content-type")), ("404", None), "{target}");
        }
        for target in ["/global%2Fhealth", "/x/../session"] {
            assert_eq!(status(&exchange(&stand_in, &get(target, "")).await), unknown, "{target}");
        }
        assert_eq!(status(&exchange(&stand_in, &get("/session/%00", "")).await), "500");
        assert_eq!(
            header(&exchange(&stand_in, &get("/Doc/", "")).await, "content-type"),
            Some("application/json")
        );
    }
}

#[tokio::test]
async fn answers_are_compressed_for_who_takes_them() {
    let stand_in = stand_in(ServerKind::Kilo).await;
    let coding = async |target: &str, accepted: &str| {
        let answer = exchange(&stand_in, &get(target, &format!("accept-encoding: {accepted}\r\n"))).await;
        header(&answer, "content-encoding").map(str::to_owned)
    };
    assert_eq!(coding("/agent", "gzip, deflate, br").await.as_deref(), Some("gzip"));
    assert_eq!(coding("/agent", "br, deflate").await.as_deref(), Some("deflate"));
    assert_eq!(coding("/agent", "br").await, None);
    assert_eq!(coding("/global/health", "gzip").await, None);
}

#[tokio::test]
async fn bodies_of_many_megabytes_are_taken() {
    let stand_in = stand_in(ServerKind::Kilo).await;
    let title = "x".repeat(8 * 1024 * 1024);
    let body = format!("{{\"title\":\"{title}\"}}");
    let head = format!(
        "POST /session HTTP/1.1\r\n{HOST}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = exchange(&stand_in, &[head.as_bytes(), body.as_bytes()].concat()).await;
    assert_eq!(status(&answer), "200");
    assert!(answer.len() > title.len(), "the title is told again");
}

/// A subscriber of events, who has been greeted.
async fn subscribed(stand_in: &StandIn) -> TcpStream {
    let mut socket = TcpStream::connect(stand_in.url().trim_start_matches("http://")).await.unwrap();
    socket.write_all(&get("/event", "")).await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(b"\n\n\r\n") {
        assert_ne!(socket.read_buf(&mut heard).await.unwrap(), 0);
    }
    socket
}

#[tokio::test]
async fn a_stream_is_over_when_its_reader_says_that_he_will_say_no_more() {
    let stand_in = stand_in(ServerKind::Opencode).await;
    let mut socket = subscribed(&stand_in).await;
    socket.shutdown().await.unwrap();
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "no heartbeat has come meanwhile");
}

#[tokio::test]
async fn of_those_who_come_and_leave_nothing_stays() {
    for server in ServerKind::ALL {
        let stand_in = stand_in(server).await;
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        let cut = format!("POST /session HTTP/1.1\r\n{HOST}content-type: application/json\r\n");
        let cut_body = format!("{cut}content-length: 100\r\n\r\n{{\"title\"");
        for said in [
            "",
            "GET /eve",
            &cut,
            &cut_body,
            "GET / HTTP/1.1\r\n",
            "GET /event HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ] {
            for _ in 0..30 {
                let mut socket =
                    TcpStream::connect(stand_in.url().trim_start_matches("http://")).await.unwrap();
                socket.write_all(said.as_bytes()).await.unwrap();
                drop(socket);
                drop(subscribed(&stand_in).await);
            }
        }
        // Each answer is a moment in which somebody else may be let go.
        let mut moments = 0..5_000;
        while tasks() > before && moments.next().is_some() {
            exchange(&stand_in, &get("/global/health", "")).await;
        }
        assert_eq!(tasks(), before, "{server}");
    }
}

#[tokio::test]
async fn who_leaves_while_he_waits_is_let_go() {
    let stand_in = stand_in(ServerKind::Opencode).await;
    let mut socket = TcpStream::connect(stand_in.url().trim_start_matches("http://")).await.unwrap();
    socket.write_all(&get("/tui/control/next", "")).await.unwrap();
    socket.shutdown().await.unwrap();
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "nobody has told the terminal what to do");
}

#[tokio::test]
async fn a_ticket_is_looked_at_where_it_is_handed_in() {
    for server in ServerKind::ALL {
        let mut options = Options::scenario(server, catalog::scenario("text/plain").unwrap());
        options.password = Some("pw".to_owned());
        let stand_in = StandIn::start(options).await.unwrap();
        for (target, wanted) in [
            ("/pty/pty_nosuch/connect?ticket=abc", "404"),
            ("/api/pty/pty_nosuch/connect?ticket=abc", "404"),
            ("/pty/abc/connect?ticket=abc", "400"),
            ("/api/pty/abc/connect?ticket=abc", "400"),
            ("/pty/pty_nosuch/connect?ticket=", "401"),
            ("/pty/pty_nosuch?ticket=abc", "401"),
            ("/session?ticket=abc", "401"),
        ] {
            let upgrade = "upgrade: websocket\r\nconnection: upgrade\r\n";
            assert_eq!(
                status(&exchange(&stand_in, &get(target, upgrade)).await),
                wanted,
                "{server} {target}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_has_no_more_headers_than_the_servers_take() {
    let stand_in = stand_in(ServerKind::Kilo).await;
    // `Host` is one of them.
    for (more, wanted) in [(197, "200"), (198, "431")] {
        let more: String = (0..more).map(|number| format!("a{number}: b\r\n")).collect();
        assert_eq!(status(&exchange(&stand_in, &get("/global/health", &more)).await), wanted);
    }
}
