//! The body of one event stream: what the bus hands to it and its heartbeats, as raw chunks.
//!
//! Raw chunks and not a library's events, so that a body can end in the middle of a frame.

use crate::fault::Beat;
use crate::http::core::Core;
use crate::http::wire::Wire;
use crate::stream::queue::Beats;
use bytes::{Bytes, BytesMut};
use fixtures::fault_plan::StreamName;
use fixtures::fault_plan::action::CutEnd;
use fixtures::recording::{End, HowEnded, Line};
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

type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One connection to an event stream.
pub(crate) struct Connection {
    core: Arc<Core>,
    exchange: u64,
    pub(crate) stream: StreamName,
    beats: Beats,
    every: Option<Duration>,
    /// The wait for the next heartbeat: it comes in its time, whatever else is sent.
    heartbeat: Wait,
    state: State,
    wire: Option<Wire>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing is sent any more, and it does not end.
    Silent,
    Ended,
}

/// Why a body breaks off; what HTTP makes of it is a body without its last chunk.
#[derive(Debug, thiserror::Error)]
#[error("the stream was cut")]
pub(crate) struct Cut;

impl Connection {
    pub(crate) fn new(core: Arc<Core>, exchange: u64, stream: StreamName, beats: Beats) -> Self {
        let every = heartbeat_of(stream);
        let heartbeat = wait(&core, every);
        let state = State::Open;
        Self { core, exchange, stream, beats, every, heartbeat, state, wire: None }
    }

    /// The chunks of the body, which are written to this wire.
    pub(crate) fn into_body(mut self, wire: Wire) -> impl Stream<Item = Result<Bytes, Cut>> {
        self.wire = Some(wire);
        stream::unfold(self, |mut connection| async move {
            let chunk = connection.next_chunk().await?;
            Some((chunk, connection))
        })
    }

    async fn next_chunk(&mut self) -> Option<Result<Bytes, Cut>> {
        if self.state == State::Ended {
            return None;
        }
        loop {
            match self.next_beat().await {
                // The server let this subscriber go, or the other way round.
                None => {
                    let is_silent = self.state == State::Silent;
                    self.end(if is_silent { HowEnded::ClosedByClient } else { HowEnded::ClosedByServer });
                    return None;
                }
                Some(Beat::End(how)) => match how {
                    CutEnd::Broken => return Some(Err(self.break_off(HowEnded::Broken).await)),
                    CutEnd::Clean => {
                        self.end(HowEnded::ClosedByServer);
                        return None;
                    }
                    CutEnd::Reset => {
                        let cut = self.break_off(HowEnded::Reset).await;
                        if let Some(wire) = &self.wire {
                            wire.reset();
                        }
                        return Some(Err(cut));
                    }
                    CutEnd::Silent => self.state = State::Silent,
                },
                Some(_) if self.state == State::Silent => {}
                Some(Beat::Frame(bytes)) => return Some(Ok(self.with_what_waits(bytes))),
                Some(Beat::Chunk(bytes)) => {
                    self.core.journal.push_chunks(self.exchange, vec![bytes.clone()]);
                    // What follows at once would be written with it.
                    tokio::task::yield_now().await;
                    return Some(Ok(bytes));
                }
                Some(Beat::Pause(ms)) => self.core.clock.wait_or_skip(Duration::from_millis(ms)).await,
                Some(Beat::BeatEvery(ms)) => {
                    self.every = Some(Duration::from_millis(ms));
                    self.heartbeat = wait(&self.core, self.every);
                }
            }
        }
    }

    async fn next_beat(&mut self) -> Option<Beat> {
        loop {
            tokio::select! {
                biased;
                beat = self.beats.next() => return beat,
                () = left(self.wire.as_ref()), if self.state == State::Silent => return None,
                () = &mut self.heartbeat, if self.state == State::Open => {
                    self.heartbeat = wait(&self.core, self.every);
                    // It goes where all frames go.
                    self.core.beat(self.exchange, self.stream);
                }
            }
        }
    }

    /// HTTP drops what it has not flushed when a body fails; giving way once lets it flush first.
    async fn break_off(&mut self, how: HowEnded) -> Cut {
        tokio::task::yield_now().await;
        self.end(how);
        Cut
    }

    /// The frames that wait behind this one go with it: a chunk is a write, and a write is what costs. The journal has
    /// them one by one.
    fn with_what_waits(&mut self, first: Bytes) -> Bytes {
        let mut length = first.len();
        let mut sent = vec![first];
        while length < CHUNK_MAX
            && let Some(bytes) = self.beats.next_frame_now()
        {
            length += bytes.len();
            sent.push(bytes);
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
            self.core.stream_ends();
            self.core.journal.push(|at_us| Line::End(End { at_us, exchange, how }));
        }
    }
}

async fn left(wire: Option<&Wire>) {
    match wire {
        Some(wire) => wire.is_left().await,
        None => std::future::pending().await,
    }
}

fn wait(core: &Core, every: Option<Duration>) -> Wait {
    let clock = core.clock.clone();
    match every {
        Some(every) => Box::pin(async move { clock.wait(every).await }),
        None => Box::pin(std::future::pending()),
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.end(HowEnded::ClosedByClient);
    }
}
