//! A client's connection and ours to the server, joined: bytes go on as they come, as they are, and ends, too. Who
//! reads slowly slows the other one down, as without anybody between them.

use super::conversation::Side;
use super::copies::{Copies, ROOM, What};
use crate::loopback::Loopback;
use bytes::{Bytes, BytesMut};
use fixtures::recording::HowEnded;
use std::io::{self, ErrorKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};

/// With less room than this, more is made.
const LEAST_ROOM: usize = 4 * 1024;

/// How passing bytes in one direction came to its end.
enum End {
    /// The reader said that no more will come.
    Closed,
    /// Reading failed.
    Unread(io::Error),
    /// Nobody takes the bytes any more.
    Unwanted,
}

/// One connection, until both sides or one of them have ended it: and so ends what is still open on it.
pub(super) async fn join(
    mut client: TcpStream,
    server: &Loopback,
    connection: u64,
    copies: &Copies,
) -> HowEnded {
    copies.put(connection, What::Opened);
    copies.announce();
    let mut server = match server.connect().await {
        Ok(server) => server,
        Err(error) => {
            copies.put(connection, What::Unreached(error.to_string()));
            // As if nobody listened here either.
            client.set_zero_linger().ok();
            return HowEnded::Reset;
        }
    };
    client.set_nodelay(true).ok();
    let broken = pass(&mut client, &mut server, connection, copies).await;
    if broken.is_some() {
        // What was broken is passed on as broken.
        client.set_zero_linger().ok();
        server.set_zero_linger().ok();
    }
    broken.unwrap_or(HowEnded::Cut)
}

/// Passes bytes on until both sides have said all; or `Some` if one of them broke it off.
async fn pass(
    client: &mut TcpStream,
    server: &mut TcpStream,
    connection: u64,
    copies: &Copies,
) -> Option<HowEnded> {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let up = Passage { connection, copies, side: Side::Client };
    let down = Passage { connection, copies, side: Side::Server };
    let mut up = std::pin::pin!(up.pass(&mut from_client, &mut to_server));
    let mut down = std::pin::pin!(down.pass(&mut from_server, &mut to_client));
    let (mut is_up_over, mut is_down_over) = (false, false);
    while !(is_up_over && is_down_over) {
        tokio::select! {
            end = &mut up, if !is_up_over => match end {
                // A server that reads no more may still have something to say.
                End::Closed | End::Unwanted => is_up_over = true,
                End::Unread(_) => return Some(HowEnded::ClosedByClient),
            },
            end = &mut down, if !is_down_over => match end {
                End::Closed => is_down_over = true,
                End::Unwanted => return Some(HowEnded::ClosedByClient),
                End::Unread(error) => return Some(match error.kind() {
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => HowEnded::Reset,
                    _ => HowEnded::Broken,
                }),
            },
        }
    }
    None
}

/// One direction.
struct Passage<'a> {
    connection: u64,
    copies: &'a Copies,
    side: Side,
}

impl Passage<'_> {
    async fn pass(&self, from: &mut ReadHalf<'_>, to: &mut WriteHalf<'_>) -> End {
        let mut room = BytesMut::new();
        loop {
            self.copies.room().await;
            if room.capacity() < LEAST_ROOM {
                room = self.copies.spare().unwrap_or_else(|| BytesMut::with_capacity(ROOM));
            }
            match from.read_buf(&mut room).await {
                Ok(0) => {
                    self.put(What::Left(self.side));
                    to.shutdown().await.ok();
                    self.copies.announce();
                    return End::Closed;
                }
                Ok(_) => {}
                Err(error) => return End::Unread(error),
            }
            // A buffer that is full goes on as a whole, and comes back when it is read.
            let bytes = if room.len() > ROOM / 2 { std::mem::take(&mut room) } else { room.split() }.freeze();
            self.put(What::Said(self.side, bytes.clone()));
            if self.send(bytes, to).await.is_err() {
                return End::Unwanted;
            }
        }
    }

    /// The bytes first, and then the word that there is something to read.
    async fn send(&self, bytes: Bytes, to: &mut WriteHalf<'_>) -> io::Result<()> {
        let sent = match to.try_write(&bytes) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            sent => sent,
        };
        self.copies.announce();
        to.write_all(&bytes[sent?..]).await
    }

    fn put(&self, what: What) {
        self.copies.put(self.connection, what);
    }
}
