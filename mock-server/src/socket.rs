//! Connections that can be reset: HTTP alone can only close one, in the middle of a body or behind it.

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener as AxumListener};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// Accepts connections that can be reset.
#[derive(Debug)]
pub(crate) struct Listener(pub(crate) TcpListener);

impl AxumListener for Listener {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        let (stream, address) = AxumListener::accept(&mut self.0).await;
        (Socket { stream, resetter: Resetter::default() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Asks a connection to end with a reset; each request carries that of its connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resetter(Arc<AtomicBool>);

impl Resetter {
    /// From now on the connection does not close but is reset.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Connected<IncomingStream<'_, Listener>> for Resetter {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.io().resetter.clone()
    }
}

/// A connection that can be reset.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    resetter: Resetter,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.resetter.is_asked() {
            // A peer that has left already needs no reset.
            self.stream.set_zero_linger().ok();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.resetter.is_asked() {
            // An orderly end first would be all that the peer sees.
            return Poll::Ready(Ok(()));
        }
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
