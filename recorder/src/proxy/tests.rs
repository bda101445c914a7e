//! Goal: a proxy changes nothing for either side, whatever the other one does, and tells what passed. Method: servers
//! of a few lines that misbehave, and clients that are sockets.

use super::*;
use crate::ledger::MIB;
use fixtures::recording::{Body, Line};
use proptest::prelude::*;
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

const STREAM: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// A server that gives its connections to `serve`.
async fn server<F: Future<Output = ()> + Send>(
    serve: impl Fn(TcpStream) -> F + Send + Sync + Clone + 'static,
) -> Loopback {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            socket.set_nodelay(true).unwrap();
            let serve = serve.clone();
            tokio::spawn(async move { serve(socket).await });
        }
    });
    Loopback::parse(&url).unwrap()
}

/// A proxy before it, and what it writes on.
async fn proxy(server: Loopback, room: Room) -> (Proxy, Tape) {
    let tape = Tape::new();
    (Proxy::start(0, server, tape.clone(), room).await.unwrap(), tape)
}

async fn client(proxy: &Proxy) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

/// Reads until the text has come.
async fn until(socket: &mut TcpStream, text: &str) -> String {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(text) {
        assert_ne!(socket.read_buf(&mut read).await.unwrap(), 0, "{}", String::from_utf8_lossy(&read));
    }
    String::from_utf8(read).unwrap()
}

async fn rest(socket: &mut TcpStream) -> String {
    let mut read = String::new();
    socket.read_to_string(&mut read).await.unwrap();
    read
}

/// The lines of a tape in short.
fn told(tape: &Tape) -> Vec<String> {
    let body = |body: &Body| String::from_utf8(body.to_bytes()).unwrap();
    let line = |line: &Line| match line {
        Line::Request(it) => {
            let query = if it.query.is_empty() { String::new() } else { format!("?{}", it.query) };
            format!("{} {} {}{query} {}", it.exchange, it.method, it.path, body(&it.body))
        }
        Line::Response(it) => format!("{} {} {}", it.exchange, it.status, body(&it.body)),
        Line::Chunk(it) => format!("{} {:?}", it.exchange, it.text.as_ref().unwrap()),
        Line::End(it) => format!("{} {:?}", it.exchange, it.how),
        Line::Note(it) => format!("note: {}", it.text),
        other => panic!("{other:?}"),
    };
    tape.lines().iter().map(|it| line(it).trim_end().to_owned()).collect()
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

#[tokio::test]
async fn requests_on_one_connection_are_exchanges_pipelined_or_not() {
    let server = server(async |mut socket: TcpStream| {
        until(&mut socket, "/b").await;
        socket
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
            .await
            .unwrap();
        socket.write_all(b"okHTTP/1.1 204 No\r\n\r\n").await.unwrap();
        until(&mut socket, "/c").await;
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n").await.unwrap();
        until(&mut socket, "/d").await;
        socket.write_all(b"HTTP/1.0 404 No\r\n\r\nuntil the end").await.unwrap();
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    let two = b"POST /a?x=1 HTTP/1.1\r\nExpect: 100-continue\r\ncontent-length: 7\r\n\r\n{\"a\":1}DELETE /b HTTP/1.1\r\n\r\n";
    socket.write_all(two).await.unwrap();
    until(&mut socket, "204").await;
    socket.write_all(b"HEAD /c HTTP/1.1\r\n\r\n").await.unwrap();
    until(&mut socket, "99\r\n\r\n").await;
    socket.write_all(b"GET /d HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(rest(&mut socket).await.ends_with("until the end"));
    drop(socket);
    let account = proxy.end().await;
    assert_eq!(
        told(&tape),
        [
            "1 POST /a?x=1 {\"a\":1}",
            "2 DELETE /b",
            "1 200 ok",
            "2 204",
            "3 HEAD /c",
            "3 200",
            "4 GET /d",
            "4 404 until the end"
        ]
    );
    assert_eq!((account.connections, account.requests, account.streams), (1, 4, 0));
}

#[tokio::test]
async fn bytes_of_a_stream_arrive_before_more_are_sent_and_its_end_is_told() {
    let (go, going) = mpsc::channel::<()>(1);
    let going = Arc::new(tokio::sync::Mutex::new(going));
    let server = server(move |mut socket: TcpStream| {
        let going = Arc::clone(&going);
        async move {
            until(&mut socket, "\r\n\r\n").await;
            socket.write_all(STREAM).await.unwrap();
            for text in ["data: 1\n", "\ndata: 2\n\n"] {
                going.lock().await.recv().await.unwrap();
                socket.write_all(chunk(text).as_bytes()).await.unwrap();
            }
            socket.write_all(b"0\r\n\r\n").await.unwrap();
        }
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    socket.write_all(b"GET /event HTTP/1.1\r\n\r\n").await.unwrap();
    assert_eq!(until(&mut socket, "\r\n\r\n").await.as_bytes(), STREAM);
    go.send(()).await.unwrap();
    assert_eq!(until(&mut socket, "\n\r\n").await, chunk("data: 1\n"));
    go.send(()).await.unwrap();
    assert_eq!(rest(&mut socket).await, chunk("\ndata: 2\n\n") + "0\r\n\r\n");
    let account = proxy.end().await;
    let lines = ["1 GET /event", "1 200", r#"1 "data: 1\n""#, r#"1 "\ndata: 2\n\n""#, "1 ClosedByServer"];
    assert_eq!(told(&tape), lines);
    assert_eq!((account.streams, account.events), (1, 2));
}

#[tokio::test]
async fn a_server_that_never_answers_learns_at_once_that_the_client_has_left() {
    let (left, mut has_left) = mpsc::unbounded_channel();
    let server = server(move |mut socket: TcpStream| {
        let left = left.clone();
        async move {
            rest(&mut socket).await;
            left.send(()).unwrap();
        }
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    socket.write_all(b"GET /slow HTTP/1.1\r\n\r\n").await.unwrap();
    drop(socket);
    has_left.recv().await.unwrap();
    proxy.end().await;
    assert_eq!(told(&tape), ["1 GET /slow", "1 ClosedByClient"]);
}

#[tokio::test]
async fn a_reset_in_a_chunk_is_a_reset_for_the_client_too_and_an_early_end_is_an_early_end() {
    for (is_reset, how) in [(true, "1 Reset"), (false, "1 Cut")] {
        let server = server(move |mut socket: TcpStream| async move {
            until(&mut socket, "\r\n\r\n").await;
            socket.write_all(STREAM).await.unwrap();
            socket.write_all(b"20\r\ndata: {").await.unwrap();
            // The client has it before the connection breaks.
            until(&mut socket, "seen").await;
            if is_reset {
                socket.set_zero_linger().unwrap();
            }
        })
        .await;
        let (proxy, tape) = proxy(server, Room::default()).await;
        let mut socket = client(&proxy).await;
        socket.write_all(b"GET /event HTTP/1.1\r\n\r\n").await.unwrap();
        until(&mut socket, "data: {").await;
        socket.write_all(b"GET /seen HTTP/1.1\r\n\r\n").await.unwrap();
        let end = socket.read(&mut [0; 9]).await.map_err(|error| error.kind());
        assert_eq!(end, if is_reset { Err(ErrorKind::ConnectionReset) } else { Ok(0) });
        proxy.end().await;
        let second = how.replace('1', "2");
        assert_eq!(told(&tape), ["1 GET /event", "1 200", r#"1 "data: {""#, "2 GET /seen", how, &second]);
    }
}

#[tokio::test]
async fn an_endless_stream_passes_beyond_its_room_until_the_client_leaves() {
    let (left, mut has_left) = mpsc::unbounded_channel();
    let server = server(move |mut socket: TcpStream| {
        let left = left.clone();
        async move {
            until(&mut socket, "\r\n\r\n").await;
            socket.write_all(STREAM).await.unwrap();
            while socket.write_all(chunk("data: again and again\n\n").as_bytes()).await.is_ok() {}
            left.send(()).unwrap();
        }
    })
    .await;
    let room = Room { stream: MIB / 16, ..Room::default() };
    let (proxy, tape) = proxy(server, room).await;
    let mut socket = client(&proxy).await;
    socket.write_all(b"GET /event HTTP/1.1\r\n\r\n").await.unwrap();
    socket.read_exact(&mut vec![0; MIB]).await.unwrap();
    drop(socket);
    has_left.recv().await.unwrap();
    let account = proxy.end().await;
    let told = told(&tape);
    let note = "exchange 1: the stream is longer than 65536 bytes; its rest passes and is not recorded";
    assert_eq!(told[told.len() - 2..], [format!("note: {note}"), "1 ClosedByClient".to_owned()]);
    assert_eq!(account.left_out, [note]);
    assert!(tape.lines().len() < 4000, "{}", tape.lines().len());
}

#[tokio::test]
async fn a_slow_client_slows_the_server_and_a_long_body_arrives_as_it_was() {
    const WHOLE: usize = 64 * MIB;
    let (sent, mut sending) = tokio::sync::watch::channel(0_usize);
    let server = server(move |mut socket: TcpStream| {
        let sent = sent.clone();
        async move {
            until(&mut socket, "\r\n\r\n").await;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {WHOLE}\r\n\r\n");
            socket.write_all(head.as_bytes()).await.unwrap();
            for part in 0..WHOLE / 65_536 {
                socket.write_all(&vec![u8::try_from(part % 251).unwrap(); 65_536]).await.unwrap();
                sent.send_modify(|sent| *sent += 65_536);
            }
        }
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    socket.write_all(b"GET /long HTTP/1.1\r\n\r\n").await.unwrap();
    // It stands still when the system's own room is full, which is much less than the whole.
    while clock::within(Duration::from_millis(300), sending.changed()).await.is_some() {}
    assert!(*sending.borrow() < WHOLE / 2, "{}", *sending.borrow());
    until(&mut socket, "\r\n\r\n").await;
    let mut read = Vec::new();
    socket.read_to_end(&mut read).await.unwrap();
    drop(socket);
    let begun = WHOLE - read.len();
    assert!(begun < 65_536 * 4, "the first bytes came with the head");
    assert!(read.iter().enumerate().all(|(at, byte)| usize::from(*byte) == (at + begun) / 65_536 % 251));
    proxy.end().await;
    let note = format!(
        "note: exchange 1: of the answer {WHOLE} bytes passed and are not recorded: it is longer than 16 MiB"
    );
    assert_eq!(told(&tape), ["1 GET /long", "1 200", &note]);
}

#[tokio::test]
async fn another_protocol_passes_and_is_counted() {
    let server = server(async |mut socket: TcpStream| {
        until(&mut socket, "\r\n\r\n").await;
        socket.write_all(b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\n\r\nhi").await.unwrap();
        assert_eq!(until(&mut socket, "pass").await, "\u{1}pass");
        socket.write_all(b"word").await.unwrap();
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    socket.write_all(b"GET /pty/1/connect HTTP/1.1\r\nupgrade: websocket\r\n\r\n").await.unwrap();
    until(&mut socket, "hi").await;
    socket.write_all(b"\x01pass").await.unwrap();
    assert_eq!(rest(&mut socket).await, "word");
    proxy.end().await;
    let note = "note: exchange 1: another protocol, of which nothing is recorded: 5 bytes of the client, 6 of the server";
    assert_eq!(told(&tape), ["1 GET /pty/1/connect", "1 101", note, "1 ClosedByServer"]);
}

#[tokio::test]
async fn a_client_that_has_said_all_is_answered_and_no_http_passes_too() {
    let server = server(async |mut socket: TcpStream| {
        let all = rest(&mut socket).await;
        socket.write_all(all.to_uppercase().as_bytes()).await.unwrap();
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    socket.write_all(b"what is this?\n\n").await.unwrap();
    socket.shutdown().await.unwrap();
    assert_eq!(rest(&mut socket).await, "WHAT IS THIS?\n\n");
    let account = proxy.end().await;
    let lines = ["client", "server"].map(|who| {
        format!("connection 1: the {who} sent no head of HTTP/1; its words from here on are not recorded")
    });
    assert_eq!(account.left_out, lines);
    assert_eq!(told(&tape), lines.map(|line| format!("note: {line}")));
}

#[tokio::test]
async fn no_server_is_no_server_for_the_client_too() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let (proxy, _) = proxy(Loopback::parse(&url).unwrap(), Room::default()).await;
    let mut socket = client(&proxy).await;
    assert_eq!(socket.read(&mut [0; 9]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let account = proxy.end().await;
    assert!(account.left_out[0].starts_with("connection 1: the server could not be reached: "));
}

#[tokio::test]
async fn who_ends_the_proxy_ends_its_streams_and_no_password_is_on_the_tape() {
    let server = server(async |mut socket: TcpStream| {
        until(&mut socket, "\r\n\r\n").await;
        socket.write_all(STREAM).await.unwrap();
        assert_eq!(rest(&mut socket).await, "");
    })
    .await;
    let (proxy, tape) = proxy(server, Room::default()).await;
    let mut socket = client(&proxy).await;
    let head = b"GET /event HTTP/1.1\r\nAuthorization: Basic a2lsbzpwYXNzd29yZC0xMg==\r\nAccept: x\r\n\r\n";
    socket.write_all(head).await.unwrap();
    until(&mut socket, "\r\n\r\n").await;
    let account = proxy.end().await;
    assert_eq!(rest(&mut socket).await, "");
    assert_eq!(told(&tape), ["1 GET /event", "1 200", "1 ClosedByClient"]);
    let Line::Request(request) = &tape.lines()[0] else { panic!("no request") };
    assert_eq!(request.headers, [("accept".to_owned(), "x".to_owned())]);
    assert_eq!(account.secrets.scan("it is password-12").len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn bytes_are_the_same_for_any_split(
        pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..3000), 1..20),
    ) {
        let sent = pieces.concat();
        let echoed = tokio::runtime::Runtime::new().unwrap().block_on(async {
            let server = server(async |mut socket: TcpStream| {
                let (mut from, mut to) = socket.split();
                tokio::io::copy(&mut from, &mut to).await.unwrap();
            })
            .await;
            let (proxy, _) = proxy(server, Room::default()).await;
            let mut socket = client(&proxy).await;
            let (mut from, mut to) = socket.split();
            let mut echoed = Vec::new();
            let send = async {
                for piece in &pieces {
                    to.write_all(piece).await.unwrap();
                    tokio::task::yield_now().await;
                }
                to.shutdown().await.unwrap();
            };
            let (_, read) = tokio::join!(send, from.read_to_end(&mut echoed));
            read.unwrap();
            proxy.end().await;
            echoed
        });
        prop_assert_eq!(sent, echoed);
    }
}
