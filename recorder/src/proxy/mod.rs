//! Stands between any client and a running server, and records what they say to each other.
//!
//! * [`wire`] passes the bytes on, raw and at once; it understands none of them.
//! * [`copies`] brings a copy of each to a thread of its own, in the order in which they were sent on.
//! * [`conversation`] makes exchanges of them, with [`http`] and [`body`]; [`credentials`] finds passwords.
//!
//! Whatever the recording can't hold or understand passes all the same.

mod body;
mod conversation;
mod copies;
mod credentials;
mod http;
mod wire;

use crate::background;
use crate::clock;
use crate::ledger::{Account, Ledger, Room};
use crate::loopback::Loopback;
use crate::tape::Tape;
use conversation::Conversation;
use copies::{Copies, What};
use fixtures::recording::HowEnded;
use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// When no connection can be accepted, the reason needs time to go away.
const AFTER_A_FAILURE: Duration = Duration::from_millis(100);

/// A proxy at work.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    ends: watch::Sender<bool>,
    wires: tokio::task::JoinHandle<()>,
    copies: Arc<Copies>,
    reader: JoinHandle<Account>,
}

impl Proxy {
    /// Listens on 127.0.0.1, and passes on to `server` what comes; all of it is put on `tape`, as far as there is
    /// room.
    pub async fn start(port: u16, server: Loopback, tape: Tape, room: Room) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let copies = Arc::new(Copies::default());
        let read = Arc::clone(&copies);
        let ledger = Ledger::new(tape, room);
        let reader = background::spawn("reader", move || listen(&read, ledger))?;
        let (ends, is_over) = watch::channel(false);
        let wires = tokio::spawn(accept(listener, server, Arc::clone(&copies), is_over));
        Ok(Self { port, ends, wires, copies, reader })
    }

    /// Where clients find it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Closes all connections, and says what passed. Everything is on the tape then.
    pub async fn end(self) -> Account {
        self.ends.send_replace(true);
        self.wires.await.ok();
        self.copies.close();
        let reader = self.reader;
        let account = tokio::task::spawn_blocking(move || reader.join()).await;
        account.ok().and_then(Result::ok).unwrap_or_default()
    }
}

async fn accept(
    listener: TcpListener,
    server: Loopback,
    copies: Arc<Copies>,
    is_over: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    for number in 1.. {
        let mut ends = is_over.clone();
        let client = tokio::select! {
            client = next_client(&listener) => client,
            _ = ends.wait_for(|is_over| *is_over) => break,
        };
        // Those that are over need no longer be remembered.
        while connections.try_join_next().is_some() {}
        let (server, copies, mut is_over) = (server.clone(), Arc::clone(&copies), is_over.clone());
        connections.spawn(async move {
            let how = tokio::select! {
                how = wire::join(client, &server, number, &copies) => how,
                _ = is_over.wait_for(|is_over| *is_over) => HowEnded::ClosedByClient,
            };
            copies.put(number, What::Ended(how));
            copies.announce();
        });
    }
    while connections.join_next().await.is_some() {}
}

async fn next_client(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((client, _)) => return client,
            Err(_) => clock::pause(AFTER_A_FAILURE).await,
        }
    }
}

/// Makes lines of copies until no more come.
fn listen(copies: &Copies, mut ledger: Ledger) -> Account {
    let mut conversations: HashMap<u64, Conversation> = HashMap::new();
    while let Some(taken) = copies.take() {
        for copy in taken {
            let (number, when) = (copy.connection, copy.when);
            let conversation = conversations.entry(number).or_insert_with(|| Conversation::new(number));
            match copy.what {
                What::Opened => ledger.account.connections += 1,
                What::Unreached(why) => {
                    ledger.leave_out(
                        when,
                        format!("connection {number}: the server could not be reached: {why}"),
                    );
                }
                What::Said(side, bytes) => {
                    conversation.hear(side, when, &bytes, &mut ledger);
                    copies.have_read(bytes);
                }
                What::Left(side) => conversation.left(side, when, &mut ledger),
                What::Ended(how) => {
                    conversation.end(when, how, &mut ledger);
                    conversations.remove(&number);
                }
            }
        }
    }
    ledger.account
}

#[cfg(test)]
mod tests;
