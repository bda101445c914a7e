//! The shell over an in-memory line channel, and over a socket where the matter is one of sockets.

use super::{Strategies, serve};
use crate::protocol::rpc::{parse_line, request_line};
use crate::protocol::{Connect, Id, Incoming, Initialize, Request, RpcError, TaskStart};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf,
    WriteHalf,
};
use tokio::net::{TcpListener, TcpStream};

/// The harness's end of the line channel.
struct Harness {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<Result<(), super::ServeError>>,
    next_id: u64,
    /// Notifications on the way to the last answer.
    heard: Vec<Value>,
}

impl Harness {
    fn start() -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(theirs);
        let served = tokio::spawn(serve(Strategies::default(), BufReader::new(read), write));
        let (read, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(read).lines(), writer, served, next_id: 0, heard: Vec::new() }
    }

    async fn say(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    /// The next response, under its id.
    async fn hear(&mut self) -> (Option<Id>, Result<Value, RpcError>) {
        loop {
            let line = self.lines.next_line().await.unwrap().expect("the adapter has ended");
            match parse_line(&line).unwrap() {
                Incoming::Response { id, outcome } => return (id, outcome),
                Incoming::Notification { params, .. } => self.heard.push(params),
                Incoming::Request { .. } => panic!("an adapter asks nothing: {line}"),
            }
        }
    }

    async fn ask(&mut self, request: &Request) -> Result<Value, RpcError> {
        self.next_id += 1;
        let id = Id::Number(self.next_id);
        self.say(&request_line(&id, request)).await;
        let (answered, outcome) = self.hear().await;
        assert_eq!(answered, Some(id));
        outcome
    }

    async fn connect(&mut self, listener: &TcpListener) -> Result<Value, RpcError> {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (username, password) = ("kilo".to_owned(), "secret".to_owned());
        self.ask(&Request::Connect(Connect { url, username, password, directory: "/w".to_owned() })).await
    }
}

#[tokio::test]
async fn it_says_what_it_can_not_do_and_survives_bad_lines() {
    let mut harness = Harness::start();
    let initialized =
        harness.ask(&Request::Initialize(Initialize { protocol: 1, time_scale: 0.5 })).await.unwrap();
    assert_eq!((&initialized["protocol"], &initialized["name"]), (&json!(1), &json!("reference")));

    harness.say("{\"jsonrpc\":\"2.0\",\"id\":\"probe\",\"method\":\"no/such\"}\n").await;
    let probe = Err(RpcError { code: -32601, message: "unsupported: no/such".to_owned() });
    assert_eq!(harness.hear().await, (Some(Id::Text("probe".to_owned())), probe));

    harness.say("{ this is no JSON\n\n").await;
    let (id, outcome) = harness.hear().await;
    assert_eq!((id, outcome.unwrap_err().code), (None, -32700));

    harness.writer.write_all(b"\xFF\xFE\n").await.unwrap();
    assert_eq!(
        harness.hear().await.1.unwrap_err().code,
        -32700,
        "bytes that are no UTF-8 are no JSON either"
    );

    assert_eq!(harness.ask(&Request::Fence).await, Ok(json!({})));
    assert_eq!(harness.ask(&Request::Shutdown).await, Ok(json!({})));
    harness.served.await.unwrap().unwrap();
}

#[tokio::test]
async fn it_ends_when_the_harness_is_gone() {
    let harness = Harness::start();
    drop((harness.lines, harness.writer));
    harness.served.await.unwrap().unwrap();
}

/// Reads the head of a request.
async fn head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
                      data: {\"id\":\"evt_1\",\"type\":\"server.connected\",\"properties\":{}}\n\n";

#[tokio::test]
async fn a_cut_stream_is_opened_again_and_what_is_shown_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut harness = Harness::start();
    harness.ask(&Request::Initialize(Initialize { protocol: 1, time_scale: 0.1 })).await.unwrap();
    let (mut stream, connected) = tokio::join!(
        async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let request = head(&mut stream).await;
            assert!(request.starts_with("GET /event?directory=%2Fw HTTP/1.1\r\n"), "{request}");
            assert!(request.contains("authorization: Basic a2lsbzpzZWNyZXQ="), "{request}");
            stream.write_all(STREAM.as_bytes()).await.unwrap();
            stream
        },
        harness.connect(&listener),
    );
    assert_eq!(connected, Ok(json!({})));
    let server = async {
        let mut asked = Vec::new();
        // Closing each connection makes each request a connection of its own, so that accepting is all there is.
        let mut streams = Vec::new();
        while asked.len() < 9 {
            let (mut socket, _) = listener.accept().await.unwrap();
            let path = head(&mut socket).await.split("?").next().unwrap_or_default().to_owned();
            let body = match path.as_str() {
                "POST /session" => "{\"id\":\"ses_1\"}",
                "GET /session/status" => "{}",
                _ => "[]",
            };
            if path == "GET /event" {
                socket.write_all(STREAM.as_bytes()).await.unwrap();
                streams.push(socket);
            } else {
                let answer = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
            if path == "POST /session" {
                // In mid-event: the half must not be taken for a whole one.
                stream.write_all(b"data: {\"type\":\"session.id").await.unwrap();
                stream.shutdown().await.unwrap();
            }
            asked.push(path);
        }
        asked.sort();
        (asked, streams)
    };
    let client = async {
        harness
            .ask(&Request::TaskStart(TaskStart { task_id: "a".to_owned(), directory: None }))
            .await
            .unwrap();
        let mut lines = Vec::new();
        loop {
            lines.push(harness.lines.next_line().await.unwrap().unwrap());
            if lines.iter().any(|line| line.contains("\"timeline\"")) {
                return lines;
            }
        }
    };
    let ((asked, _streams), mut lines) = tokio::join!(server, client);
    let timeline = lines.pop().unwrap();
    let why = "the event stream ended: closed in the middle of an event";
    assert!(lines.iter().any(|line| line.contains(why)), "{lines:?}");
    assert_eq!(
        asked,
        [
            "GET /event",
            "GET /permission",
            "GET /question",
            "GET /session",
            "GET /session/ses_1/diff",
            "GET /session/ses_1/message",
            "GET /session/ses_1/todo",
            "GET /session/status",
            "POST /session"
        ]
    );
    assert!(timeline.contains("\"taskId\":\"a\""), "{timeline}");
    assert_eq!(harness.ask(&Request::Shutdown).await, Ok(json!({})));
}

#[tokio::test]
async fn wrong_credentials_are_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut harness = Harness::start();
    let refuse = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        head(&mut socket).await;
        socket.write_all(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    };
    let ((), connected) = tokio::join!(refuse, harness.connect(&listener));
    assert_eq!(connected.unwrap_err().code, -32000);
    assert!(harness.heard.iter().any(|heard| heard["update"]["kind"] == "error"), "{:?}", harness.heard);
}
