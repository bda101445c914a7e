//! Who subscribes and listens, and who leaves in the middle of something.

use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A subscriber of `/event` that has been greeted.
pub(super) async fn subscribed(place: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(place).await?;
    stream.write_all(format!("GET /event HTTP/1.1\r\nhost: {place}\r\n\r\n").as_bytes()).await?;
    let mut heard = Vec::with_capacity(1024);
    while !heard.ends_with(b"\n\n\r\n") {
        if stream.read_buf(&mut heard).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(stream)
}

/// Comes and leaves; `number` says what in the middle of.
pub(super) async fn visit(place: SocketAddr, number: usize) -> io::Result<()> {
    let post = format!("POST /session HTTP/1.1\r\nhost: {place}\r\ncontent-type: application/json\r\n");
    let said = match number % 8 {
        0 => String::new(),
        1 => "GET /eve".to_owned(),
        2 => format!("{post}content-le"),
        3 => format!("{post}content-length: 100\r\n\r\n{{\"title\": \"a"),
        4 => format!("GET /session HTTP/1.1\r\nhost: {place}\r\n\r\n"),
        5 => format!("GET /event HTTP/1.1\r\nhost: {place}\r\n\r\n"),
        _ => return subscribed(place).await.map(drop),
    };
    let mut stream = TcpStream::connect(place).await?;
    stream.write_all(said.as_bytes()).await
}
