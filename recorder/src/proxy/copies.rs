//! Copies of all that passes, in one order for all connections: what is put here before it is sent on stands before all
//! that it causes, on whatever connection that comes. Who reads them may lag behind, but only so far.

use super::conversation::Side;
use crate::clock;
use bytes::{Bytes, BytesMut};
use fixtures::recording::HowEnded;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// So many bytes may wait to be read; then the wires wait.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// So much is read at once.
pub(super) const ROOM: usize = 64 * 1024;
/// After it was called, the reader waits so long for more.
const PAUSE: Duration = Duration::from_millis(2);
/// So many buffers are kept for later.
const MOST_SPARE: usize = 64;

/// Something that happened on a connection.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) connection: u64,
    pub(super) when: Instant,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    /// A client came.
    Opened,
    /// The server could not be reached for it; why.
    Unreached(String),
    /// These bytes are about to be sent on.
    Said(Side, Bytes),
    /// One side will say no more.
    Left(Side),
    /// The connection is gone, and so ended what was open on it.
    Ended(HowEnded),
}

#[derive(Debug, Default)]
pub(super) struct Copies {
    queue: Mutex<Queue>,
    filled: Condvar,
    read: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Vec<Copy>,
    /// Of those that wait, and of those that are being read.
    bytes: usize,
    /// Buffers that were read: fresh memory is dear.
    spare: Vec<BytesMut>,
    is_reader_idle: bool,
    is_closed: bool,
}

impl Copies {
    /// Puts a copy at the end. Whoever puts says [`Copies::announce`] when he has nothing more urgent to do.
    pub(super) fn put(&self, connection: u64, what: What) {
        let mut queue = self.lock();
        if let What::Said(_, bytes) = &what {
            queue.bytes += bytes.len();
        }
        // Under the lock, so that the order is that of the times.
        queue.waiting.push(Copy { connection, when: clock::now(), what });
    }

    /// Wakes the reader if it sleeps.
    pub(super) fn announce(&self) {
        if std::mem::take(&mut self.lock().is_reader_idle) {
            self.filled.notify_one();
        }
    }

    /// Waits while too much waits to be read.
    pub(super) async fn room(&self) {
        loop {
            let read = self.read.notified();
            if self.lock().bytes < MOST_BYTES {
                return;
            }
            self.announce();
            read.await;
        }
    }

    /// All that waits, at least one; `None` when nothing more will come. Blocks its thread.
    pub(super) fn take(&self) -> Option<Vec<Copy>> {
        let mut queue = self.lock();
        loop {
            if !queue.waiting.is_empty() {
                return Some(std::mem::take(&mut queue.waiting));
            }
            if queue.is_closed {
                return None;
            }
            queue.is_reader_idle = true;
            while queue.is_reader_idle && !queue.is_closed {
                queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            // To be woken costs the wires something; what comes soon needs no call of its own.
            queue = clock::linger(&self.filled, queue, PAUSE, |queue| queue.is_closed);
        }
    }

    /// These bytes that were taken are read.
    pub(super) fn have_read(&self, bytes: Bytes) {
        let length = bytes.len();
        // What was a part of a buffer is too small to be one.
        let spare = if length > ROOM / 2 { bytes.try_into_mut().ok() } else { None };
        let mut queue = self.lock();
        if let Some(mut spare) = spare
            && queue.spare.len() < MOST_SPARE
        {
            spare.clear();
            queue.spare.push(spare);
        }
        let was_full = queue.bytes >= MOST_BYTES;
        queue.bytes -= length;
        if was_full && queue.bytes < MOST_BYTES {
            drop(queue);
            self.read.notify_waiters();
        }
    }

    /// A buffer that is free again.
    pub(super) fn spare(&self) -> Option<BytesMut> {
        self.lock().spare.pop()
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.filled.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
