//! What one subscriber is to be told, in order. Of a thousand subscribers most have nothing waiting most of the time, so
//! a queue costs little while it is empty; one that nobody reads is bounded.

use crate::fault::Beat;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// How many frames, and of how many bytes, may wait for one subscriber. One that reads no more is let go when they are
/// used up, so that it costs bounded memory.
pub(super) const FRAMES_MAX: usize = 262_144;
pub(super) const BYTES_MAX: usize = 64 * 1024 * 1024;
/// So many frames, and of about so many bytes, are taken with one look.
const AT_ONCE: usize = 256;
const BYTES_AT_ONCE: usize = 64 * 1024;

/// A queue, and who reads it.
pub(super) fn queue() -> (Teller, Beats) {
    let shared = Arc::new(Mutex::new(Waiting::default()));
    (Teller(shared.clone()), Beats { shared, taken: Vec::new().into_iter() })
}

/// Writes into a queue.
#[derive(Debug)]
pub(super) struct Teller(Arc<Mutex<Waiting>>);

/// What one subscriber is told, in order.
#[derive(Debug)]
pub(crate) struct Beats {
    shared: Arc<Mutex<Waiting>>,
    /// What was taken at once: to take one is as dear as to take many.
    taken: std::vec::IntoIter<Beat>,
}

#[derive(Debug, Default)]
struct Waiting {
    beats: VecDeque<Beat>,
    bytes: usize,
    /// Nobody writes any more.
    is_over: bool,
    /// Nobody reads any more.
    is_left: bool,
    reader: Option<Waker>,
}

fn locked(shared: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn length(beat: &Beat) -> usize {
    match beat {
        Beat::Frame(bytes) | Beat::Chunk(bytes) => bytes.len(),
        _ => 0,
    }
}

impl Teller {
    /// Is there a place for it, and somebody who reads? One frame always has a place, however long it is, and so has the
    /// end: whoever is full still hears how it ends.
    pub(super) fn tell(&self, beat: Beat) -> bool {
        let mut waiting = locked(&self.0);
        let length = length(&beat);
        let has_place =
            waiting.beats.len() < FRAMES_MAX && (waiting.bytes == 0 || waiting.bytes + length <= BYTES_MAX);
        if waiting.is_left || !has_place && !matches!(beat, Beat::End(_)) {
            return false;
        }
        waiting.bytes += length;
        waiting.beats.push_back(beat);
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
        true
    }

    /// Has the reader left?
    pub(super) fn is_left(&self) -> bool {
        locked(&self.0).is_left
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        let mut waiting = locked(&self.0);
        waiting.is_over = true;
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Beats {
    /// The next one; none when the server has let the subscriber go.
    pub(crate) async fn next(&mut self) -> Option<Beat> {
        match self.taken.next() {
            Some(beat) => Some(beat),
            None => poll_fn(|context| locked(&self.shared).poll(context)).await,
        }
    }

    /// The next one, if it is there already.
    pub(crate) fn next_now(&mut self) -> Option<Beat> {
        if self.taken.len() == 0 {
            self.taken = locked(&self.shared).take().into_iter();
        }
        self.taken.next()
    }
}

impl Drop for Beats {
    fn drop(&mut self) {
        let mut waiting = locked(&self.shared);
        waiting.is_left = true;
        waiting.beats = VecDeque::new();
    }
}

impl Waiting {
    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Beat>> {
        match self.pop() {
            Some(beat) => Poll::Ready(Some(beat)),
            None if self.is_over => Poll::Ready(None),
            None => {
                self.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    fn pop(&mut self) -> Option<Beat> {
        let beat = self.beats.pop_front()?;
        self.bytes -= length(&beat);
        if self.beats.is_empty() && self.beats.capacity() > AT_ONCE {
            // A burst is over, and the next one may be long in coming.
            self.beats = VecDeque::new();
        }
        Some(beat)
    }

    fn take(&mut self) -> Vec<Beat> {
        let mut taken = Vec::with_capacity(self.beats.len().min(AT_ONCE));
        let mut bytes = 0;
        while taken.len() < AT_ONCE
            && bytes < BYTES_AT_ONCE
            && let Some(beat) = self.pop()
        {
            bytes += length(&beat);
            taken.push(beat);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use fixtures::fault_plan::action::CutEnd;

    fn frame(number: u8) -> Beat {
        Beat::Frame(Bytes::from(vec![number; 300]))
    }

    #[tokio::test]
    async fn all_is_read_in_its_order_one_by_one_and_many_at_once_and_then_it_is_over() {
        let (teller, mut beats) = queue();
        let telling = tokio::spawn(async move {
            for number in 0..=u8::MAX {
                for _ in 0..3 {
                    assert!(teller.tell(frame(number)));
                }
                if number % 16 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            assert!(teller.tell(Beat::End(CutEnd::Clean)));
        });
        let mut read = Vec::new();
        while let Some(beat) = beats.next().await {
            read.push(beat);
            while let Some(beat) = beats.next_now() {
                read.push(beat);
            }
        }
        telling.await.unwrap();
        let mut wanted: Vec<Beat> = (0..=u8::MAX).flat_map(|number| vec![frame(number); 3]).collect();
        wanted.push(Beat::End(CutEnd::Clean));
        assert_eq!(read, wanted);
        assert_eq!(locked(&beats.shared).bytes, 0);
    }

    #[test]
    fn who_has_left_is_told_nothing_and_holds_nothing() {
        let (teller, beats) = queue();
        assert!(teller.tell(frame(1)) && !teller.is_left());
        drop(beats);
        assert!(!teller.tell(frame(2)) && !teller.tell(Beat::End(CutEnd::Clean)) && teller.is_left());
        assert_eq!(locked(&teller.0).beats.capacity(), 0);
    }

    #[test]
    fn after_a_burst_the_room_that_it_took_is_given_back() {
        let (teller, mut beats) = queue();
        for _ in 0..10 * AT_ONCE {
            teller.tell(frame(0));
        }
        assert!(locked(&teller.0).beats.capacity() > AT_ONCE);
        while beats.next_now().is_some() {}
        let waiting = locked(&teller.0);
        assert_eq!((waiting.beats.capacity(), waiting.bytes), (0, 0));
    }
}
