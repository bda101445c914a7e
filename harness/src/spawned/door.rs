//! The process that an adapter has started in place of a server: it is told by the harness how it behaves, and what is said
//! to it is said to the world behind it.

use super::{DESK, Hello, Later, News, Orders};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::net::Ipv4Addr;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The line to the harness.
pub struct Line {
    reader: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
    /// What it was told at first.
    pub orders: Orders,
}

/// What comes over the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// To crash.
    Crash,
    /// Nothing any more: the harness is gone.
    Gone,
}

/// The desk that this process has to ask, if a harness has started it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the harness tells it so, through whoever starts the server")]
pub fn desk() -> Option<String> {
    std::env::var(DESK).ok()
}

impl Line {
    /// Asks what to do.
    ///
    /// # Errors
    /// There is no harness at the desk, or it says something else.
    pub async fn open(desk: &str, password: Option<String>, host: String, wrapped: bool) -> io::Result<Self> {
        let stream = TcpStream::connect(desk).await?;
        let (reader, mut writer) = stream.into_split();
        let mut reader = BufReader::new(reader).lines();
        say(&mut writer, &Hello { password, host, wrapped }).await?;
        let orders = hear(&mut reader).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Self { reader, writer, orders })
    }

    /// Says that the door crashes now, and waits until the harness knows it.
    pub async fn crash(&mut self) {
        // Whether the harness hears it or not, it crashes.
        if say(&mut self.writer, &News::Crashes).await.is_ok() {
            self.told().await;
        }
    }

    /// Waits for another word.
    pub async fn told(&mut self) -> Told {
        match hear(&mut self.reader).await {
            Ok(Some(Later::Crash)) => Told::Crash,
            Ok(None) | Err(_) => Told::Gone,
        }
    }
}

/// A door that is open.
pub struct Door {
    listener: TcpListener,
    upstream: String,
}

impl Door {
    /// Opens it, and says so.
    ///
    /// # Errors
    /// The port is taken, or the harness is gone.
    pub async fn open(port: u16, line: &mut Line) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        say(&mut line.writer, &News::Listens(listener.local_addr()?.port())).await?;
        Ok(Self { listener, upstream: line.orders.upstream.clone() })
    }

    /// Its port.
    ///
    /// # Errors
    /// The system does not say.
    pub fn port(&self) -> io::Result<u16> {
        self.listener.local_addr().map(|address| address.port())
    }

    /// Lets everybody through, as long as it is waited for.
    pub async fn stand_open(&self) {
        let mut guests = JoinSet::new();
        loop {
            tokio::select! {
                arrived = self.listener.accept() => {
                    // One that has left already needs no way in.
                    if let Ok((guest, _)) = arrived {
                        guests.spawn(let_through(guest, self.upstream.clone()));
                    }
                }
                Some(_) = guests.join_next() => {}
            }
        }
    }
}

/// What one side says, the other hears, until one of them leaves.
async fn let_through(guest: TcpStream, upstream: String) {
    let Ok(world) = TcpStream::connect(upstream).await else { return };
    // What was waiting to be sent must not wait for more.
    let _ = (guest.set_nodelay(true), world.set_nodelay(true));
    let (mut from_guest, mut to_guest) = guest.into_split();
    let (mut from_world, mut to_world) = world.into_split();
    tokio::select! {
        _ = tokio::io::copy(&mut from_guest, &mut to_world) => {}
        _ = tokio::io::copy(&mut from_world, &mut to_guest) => {}
    }
}

pub(super) async fn say(writer: &mut OwnedWriteHalf, words: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(words)?;
    line.push('\n');
    writer.write_all(line.as_bytes()).await
}

/// The next words; `None` when the other end is closed.
pub(super) async fn hear<T: DeserializeOwned>(
    reader: &mut Lines<BufReader<OwnedReadHalf>>,
) -> io::Result<Option<T>> {
    match reader.next_line().await? {
        Some(line) => Ok(Some(serde_json::from_str(&line)?)),
        None => Ok(None),
    }
}
