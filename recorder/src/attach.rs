//! Listens to a server that runs already: both event streams, kept until somebody ends it or the server ends.
//!
//! A stream that ends is opened again, as clients do it; each opening is an exchange of its own.

use crate::capture::{CaptureError, Client, Credentials};
use crate::clock;
use crate::events::how_broken;
use crate::identity;
use crate::ledger::{Account, Ledger, Room};
use crate::loopback::Loopback;
use crate::tape::Tape;
use fixtures::fault_plan::StreamName;
use fixtures::recording::HowEnded;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Before a stream is opened again.
const PAUSE: Duration = Duration::from_millis(250);
/// A server that can't be reached for so long has ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// A listener that is ready.
#[derive(Debug)]
pub struct Attached {
    server: Loopback,
    client: Client,
    ledger: Mutex<Ledger>,
}

impl Attached {
    /// Gets ready to listen; what is heard goes on `tape`.
    pub fn new(
        server: Loopback,
        credentials: Credentials,
        tape: Tape,
        room: Room,
    ) -> Result<Self, CaptureError> {
        let client = Client::new(&server.to_string(), credentials, tape.clone())?;
        Ok(Self { server, client, ledger: Mutex::new(Ledger::new(tape, room)) })
    }

    /// The folder in which the server was started. To listen to `/event` is to work in it.
    pub async fn folder(server: &Loopback, credentials: &Credentials) -> Option<String> {
        let client = Client::new(&server.to_string(), credentials.clone(), Tape::new()).ok()?;
        identity::folder(&client).await
    }

    /// Listens until `end`, or until the server ends; says what was heard.
    pub async fn listen(self, end: impl Future<Output = ()>) -> Result<Account, CaptureError> {
        let both =
            async { tokio::try_join!(self.follow(StreamName::Event), self.follow(StreamName::GlobalEvent)) };
        let heard = tokio::select! {
            heard = both => heard.map(drop),
            () = end => Ok(()),
        };
        let mut ledger = self.ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
        ledger.end_all(clock::now(), HowEnded::ClosedByClient);
        heard.map(|()| ledger.account)
    }

    /// Opens a stream as often as it ends, while there is a server.
    async fn follow(&self, stream: StreamName) -> Result<(), CaptureError> {
        let mut how = None;
        loop {
            if let Some(how) = how {
                let what = format!("the stream {} ended ({how:?}) and is opened again", stream.path());
                self.lock().remark(clock::now(), what);
            }
            self.lock().account.connections += 1;
            how = Some(match self.once(stream).await {
                Ok(how) => how,
                // It was there when it was looked for; the next look decides.
                Err(CaptureError::NoAnswer { .. }) if how.is_some() => HowEnded::Broken,
                Err(error) => return Err(error),
            });
            clock::pause(PAUSE).await;
            if !self.is_there().await {
                return Ok(());
            }
        }
    }

    async fn once(&self, stream: StreamName) -> Result<HowEnded, CaptureError> {
        self.lock().account.requests += 1;
        let (exchange, mut response) = self.client.open(stream, "", None).await?;
        self.lock().open_stream(exchange);
        let how = loop {
            match response.chunk().await {
                Ok(Some(bytes)) => self.lock().chunk(clock::now(), exchange, &bytes),
                Ok(None) => break HowEnded::ClosedByServer,
                Err(error) => break how_broken(&error),
            }
        };
        self.lock().end(clock::now(), exchange, how);
        Ok(how)
    }

    /// Can the server be reached, at least soon?
    async fn is_there(&self) -> bool {
        let reach = async {
            while self.server.connect().await.is_err() {
                clock::pause(PAUSE).await;
            }
        };
        clock::within(PATIENCE, reach).await.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
