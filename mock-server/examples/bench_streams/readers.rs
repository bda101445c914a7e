//! Subscribers that read as fast as they can, and do not look at what they read.

use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// What stands in the last frame, and in no other.
pub(crate) const LAST: &[u8] = b"\"session.idle\"";

/// Subscribers that were greeted and read no further.
pub(crate) struct Subscribed(Vec<TcpStream>);

/// All subscribers of a turn.
pub(crate) struct Readers(JoinSet<io::Result<()>>);

impl Subscribed {
    /// Subscribes, and waits until each has been greeted.
    pub(crate) async fn to(to: SocketAddr, count: usize) -> io::Result<Self> {
        let mut streams = Vec::new();
        for _ in 0..count {
            let mut stream = TcpStream::connect(to).await?;
            stream.write_all(format!("GET /event HTTP/1.1\r\nhost: {to}\r\n\r\n").as_bytes()).await?;
            let mut greeting = Vec::new();
            while !greeting.ends_with(b"\n\n\r\n") {
                if stream.read_buf(&mut greeting).await? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            streams.push(stream);
        }
        Ok(Self(streams))
    }

    /// They read on.
    pub(crate) fn read(self) -> Readers {
        Readers(self.0.into_iter().map(read).collect())
    }
}

impl Readers {
    /// Waits until the last frame has reached everyone.
    pub(crate) async fn done(mut self) -> io::Result<()> {
        while let Some(read) = self.0.join_next().await {
            read.map_err(io::Error::other)??;
        }
        Ok(())
    }
}

async fn read(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    let mut kept = 0;
    loop {
        let read = stream.read(&mut buffer[kept..]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let filled = kept + read;
        if memchr::memmem::find(&buffer[..filled], LAST).is_some() {
            return Ok(());
        }
        // What is looked for may stand across two reads.
        kept = filled.min(LAST.len() - 1);
        buffer.copy_within(filled - kept..filled, 0);
    }
}
