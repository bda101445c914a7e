//! The body of one event stream: frames and heartbeats, through the connection's faults, as raw chunks.
//!
//! Raw chunks and not a library's events, so that a body can end in the middle of a frame.

use crate::fault::StreamFaults;
use crate::http::core::Core;
use crate::stream::bus::Frames;
use bytes::{Bytes, BytesMut};
use fixtures::fault_plan::StreamName;
use fixtures::recording::{End, FaultLine, HowEnded, Line};
use futures_util::stream::{self, Stream};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Frames that wait are sent together until a chunk has so many bytes.
const CHUNK_MAX: usize = 64 * 1024;

/// How often the real servers send a heartbeat.
fn heartbeat_of(stream: StreamName) -> Option<Duration> {
    match stream {
        StreamName::Event | StreamName::GlobalEvent => Some(Duration::from_secs(10)),
        StreamName::NextEvent => Some(Duration::from_secs(15)),
        StreamName::SessionEvent => None,
    }
}

/// One connection to an event stream.
pub(crate) struct Connection {
    pub(crate) core: Arc<Core>,
    pub(crate) exchange: u64,
    pub(crate) lane: Arc<str>,
    pub(crate) stream: StreamName,
    pub(crate) frames: Frames,
    pub(crate) faults: StreamFaults,
    /// The wait for the next heartbeat: it comes in its time, whatever else is sent.
    beat: Pin<Box<dyn Future<Output = ()> + Send>>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The next thing the reader sees is a broken connection.
    Breaking,
    Ended,
}

/// Why a body breaks off; what HTTP makes of it is a body without its last chunk.
#[derive(Debug, thiserror::Error)]
#[error("the stream was cut")]
pub(crate) struct Cut;

impl Connection {
    pub(crate) fn new(
        core: Arc<Core>,
        exchange: u64,
        lane: Arc<str>,
        stream: StreamName,
        frames: Frames,
        faults: StreamFaults,
    ) -> Self {
        let beat = next_beat(&core, stream);
        Self { core, exchange, lane, stream, frames, faults, beat, state: State::Open }
    }

    /// The chunks of the body.
    pub(crate) fn into_body(self) -> impl Stream<Item = Result<Bytes, Cut>> {
        stream::unfold(self, |mut connection| async move {
            let chunk = connection.next_chunk().await?;
            Some((chunk, connection))
        })
    }

    async fn next_chunk(&mut self) -> Option<Result<Bytes, Cut>> {
        match self.state {
            State::Ended => return None,
            State::Breaking => return Some(Err(self.break_off().await)),
            State::Open => {}
        }
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.frames.next() => frame,
                () = &mut self.beat => {
                    self.beat = next_beat(&self.core, self.stream);
                    Some(self.core.heartbeat(self.stream))
                }
            };
            let Some(frame) = frame else {
                if self.frames.breaks() {
                    return Some(Err(self.break_off().await));
                }
                // The server let this subscriber go.
                self.end(HowEnded::ClosedByServer);
                return None;
            };
            let outcome = self.faults.frame(&frame);
            for (fault, did) in outcome.fired {
                let lane = self.lane.to_string();
                self.core.journal.push(|at_us| Line::Fault(FaultLine { at_us, fault, lane, did }));
            }
            if !outcome.bytes.is_empty() {
                if !outcome.breaks && !self.faults.may_act() {
                    return Some(Ok(self.with_what_waits(outcome.bytes)));
                }
                self.core.journal.push_chunks(self.exchange, [outcome.bytes.clone()]);
                if outcome.breaks {
                    self.state = State::Breaking;
                }
                return Some(Ok(outcome.bytes));
            }
            if outcome.breaks {
                return Some(Err(self.break_off().await));
            }
        }
    }

    /// HTTP drops what it has not flushed when a body fails; giving way once lets it flush first.
    async fn break_off(&mut self) -> Cut {
        tokio::task::yield_now().await;
        self.end(HowEnded::Broken);
        Cut
    }

    /// The frames that wait behind this one go with it: a chunk is a write, and a write is what costs. The journal has
    /// them one by one.
    fn with_what_waits(&mut self, first: Bytes) -> Bytes {
        let mut sent = vec![first];
        let mut length = sent[0].len();
        while length < CHUNK_MAX
            && let Some(frame) = self.frames.next_now()
        {
            length += frame.bytes.len();
            sent.push(frame.bytes);
        }
        let chunk = match sent.as_slice() {
            [alone] => alone.clone(),
            several => {
                let mut chunk = BytesMut::with_capacity(length);
                several.iter().for_each(|frame| chunk.extend_from_slice(frame));
                chunk.freeze()
            }
        };
        self.core.journal.push_chunks(self.exchange, sent);
        chunk
    }

    fn end(&mut self, how: HowEnded) {
        if self.state != State::Ended {
            self.state = State::Ended;
            let exchange = self.exchange;
            self.core.journal.push(|at_us| Line::End(End { at_us, exchange, how }));
        }
    }
}

fn next_beat(core: &Core, stream: StreamName) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let clock = core.clock.clone();
    match heartbeat_of(stream) {
        Some(wait) => Box::pin(async move { clock.wait(wait).await }),
        None => Box::pin(std::future::pending()),
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end(HowEnded::ClosedByClient);
    }
}
