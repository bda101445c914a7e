//! A server of a few lines, whose every byte the test decides.

use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What came in.
pub(crate) struct Asked {
    /// Method and path with query: `GET /event`.
    pub(crate) line: String,
    /// The whole head, in lower case.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: String,
}

/// Sends bytes to the client as they are; when all of them are dropped, the connection is closed.
pub(crate) type Out = mpsc::UnboundedSender<Vec<u8>>;

/// Answers each request with `answer`, which may keep its [`Out`] for later. Gives the address.
pub(crate) async fn serve(answer: impl Fn(Asked, Out) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move { connection(socket, &*answer).await });
        }
    });
    url
}

async fn connection(mut socket: TcpStream, answer: &(impl Fn(Asked, Out) + Sync)) {
    let mut bytes = Vec::new();
    let asked = loop {
        let mut buffer = [0; 4096];
        let count = socket.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_lowercase();
        let length: usize = lower
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |text| text.parse().unwrap());
        if body.len() >= length {
            let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
            break Asked { line, head: lower, body: body.to_owned() };
        }
    };
    let (out, mut bytes) = mpsc::unbounded_channel::<Vec<u8>>();
    answer(asked, out);
    while let Some(bytes) = bytes.recv().await {
        // A client that has left is no fault of the server.
        if socket.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// A whole answer.
pub(crate) fn whole(status: u16, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nx-secret: hidden\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// The head of a stream.
pub(crate) fn stream_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_vec()
}

/// A chunk of a stream; an empty one is its end.
pub(crate) fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}
