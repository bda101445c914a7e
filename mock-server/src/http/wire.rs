//! One TCP connection, how it can be reset from within, and whether its peer has gone: HTTP alone can only close one, in
//! the middle of a body or behind it.

use std::io;
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

/// Who holds it can reset the connection.
#[derive(Debug, Clone)]
pub(crate) enum Wire {
    /// A connection of the machine.
    Socket(Arc<Shared>),
    /// One request in memory. Who has left has dropped it.
    Memory(Arc<Resets>),
}

#[derive(Debug)]
pub(crate) struct Shared {
    stream: TcpStream,
    resets: Resets,
}

/// Whether a connection was reset from within.
#[derive(Debug, Default)]
pub(crate) struct Resets {
    is_reset: AtomicBool,
    told: Notify,
}

impl Wire {
    /// For a request in memory.
    pub(crate) fn in_memory() -> Self {
        Self::Memory(Arc::default())
    }

    fn resets(&self) -> &Resets {
        match self {
            Self::Socket(shared) => &shared.resets,
            Self::Memory(resets) => resets,
        }
    }

    /// The peer sees a connection that was reset, as soon as nobody holds it any more.
    pub(crate) fn reset(&self) {
        if let Self::Socket(shared) = self {
            reset(&shared.stream);
        }
        self.resets().is_reset.store(true, Ordering::Release);
        self.resets().told.notify_one();
    }

    /// Waits until it is reset.
    pub(crate) async fn is_reset(&self) {
        self.resets().told.notified().await;
    }

    /// Waits until the peer says nothing any more: for who writes nothing there is no other way to know. It has eyes
    /// of its own: whoever reads must not find that somebody else has seen his news.
    pub(crate) async fn is_left(&self) {
        let Self::Socket(shared) = self else { return std::future::pending().await };
        let own = shared.stream.as_fd().try_clone_to_owned();
        let Ok(eyes) = own.map(std::net::TcpStream::from).and_then(TcpStream::from_std) else {
            return std::future::pending().await;
        };
        while eyes.ready(Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
            // What it still has to say is nobody's business here: the next news is waited for.
            let nothing = || Err::<(), _>(io::Error::from(io::ErrorKind::WouldBlock));
            let _ = eyes.try_io(Interest::READABLE, nothing);
        }
    }
}

/// A connection that others can reset.
#[derive(Debug)]
pub(crate) struct Socket {
    shared: Arc<Shared>,
}

/// Lets a connection end in a reset when it is closed.
pub(crate) fn reset(stream: &TcpStream) {
    // Who has gone meanwhile needs no reset.
    let _ = stream.set_zero_linger();
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = &self.shared.stream;
        loop {
            ready!(stream.poll_read_ready(context))?;
            // Into memory as it is: who wrote noughts into all of it first would make each connection have all of it.
            match stream.try_read_buf(buffer) {
                Ok(_) => return Poll::Ready(Ok(())),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Socket {
    /// Speaks on this connection.
    pub(crate) fn of(stream: TcpStream) -> Self {
        Self { shared: Arc::new(Shared { stream, resets: Resets::default() }) }
    }

    /// For whoever may reset it.
    pub(crate) fn wire(&self) -> Wire {
        Wire::Socket(self.shared.clone())
    }

    fn write(
        &self,
        context: &mut Context<'_>,
        attempt: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let stream = &self.shared.stream;
        loop {
            ready!(stream.poll_write_ready(context))?;
            match attempt(stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.shared.resets.is_reset.load(Ordering::Acquire) {
            // An orderly end first would be all that the peer sees.
            return Poll::Ready(Ok(()));
        }
        let done = rustix::net::shutdown(&self.shared.stream, rustix::net::Shutdown::Write);
        // Who has gone meanwhile needs no goodbye.
        Poll::Ready(done.map_err(io::Error::from).or(Ok(())))
    }
}
