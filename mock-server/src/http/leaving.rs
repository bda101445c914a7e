//! A connection whose peer has said that he will say no more. He still gets the answers that are due; but a stream without an
//! end is no answer, and the real servers let go of its reader at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Says that what is sent now has no end of its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Endless(Arc<AtomicBool>);

impl Endless {
    pub(super) fn set(&self, is_so: bool) {
        self.0.store(is_so, Ordering::Relaxed);
    }
}

/// A connection that fails when its peer has left a stream. HTTP alone would find out when it next writes, and then once
/// more.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    endless: Endless,
}

impl Watched {
    pub(super) fn new(stream: TcpStream, endless: Endless) -> Self {
        Self { stream, endless }
    }

    /// Nothing more comes from him. While that is not known, whoever asks is woken when it may be so.
    fn has_left(&self, cx: &mut Context<'_>) -> bool {
        let mut byte = [0];
        let mut next = ReadBuf::new(&mut byte);
        matches!(self.stream.poll_peek(cx, &mut next), Poll::Ready(Ok(0) | Err(_)))
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    /// hyper flushes whenever it looks at a connection.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.endless.0.load(Ordering::Relaxed) && self.has_left(cx) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
