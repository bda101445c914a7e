//! What one subscriber is to be told, in order. Of a thousand subscribers most have nothing waiting most of the time, so
//! a queue costs little while it is empty; one that nobody reads is bounded.

use crate::fault::Beat;
use bytes::Bytes;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// How many frames, and of how many bytes, may wait for one subscriber. One that reads no more is let go when they are
/// used up, so that it costs bounded memory.
pub(super) const FRAMES_MAX: usize = 262_144;
pub(super) const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Whoever has nothing to do keeps room for so many frames and no more.
const ROOM: usize = 64;

/// A queue, and who reads it.
pub(super) fn queue() -> (Teller, Beats) {
    let shared = Arc::new(Mutex::new(Waiting::default()));
    (Teller(shared.clone()), Beats { shared, taken: VecDeque::new() })
}

/// Writes into a queue.
#[derive(Debug)]
pub(super) struct Teller(Arc<Mutex<Waiting>>);

/// What one subscriber is told, in order.
#[derive(Debug)]
pub(crate) struct Beats {
    shared: Arc<Mutex<Waiting>>,
    /// All that waited at the last look: whoever writes must not wait while it is read, and to take one is as dear as to
    /// take many.
    taken: VecDeque<Beat>,
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
        poll_fn(|context| self.poll(context)).await
    }

    /// The next one, if it is a frame that is there already.
    pub(crate) fn next_frame_now(&mut self) -> Option<Bytes> {
        if self.taken.is_empty() {
            locked(&self.shared).hand_over(&mut self.taken);
        }
        match self.taken.pop_front_if(|beat| matches!(beat, Beat::Frame(_)))? {
            Beat::Frame(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Beat>> {
        if let Some(beat) = self.taken.pop_front() {
            return Poll::Ready(Some(beat));
        }
        let mut waiting = locked(&self.shared);
        waiting.hand_over(&mut self.taken);
        match self.taken.pop_front() {
            Some(beat) => Poll::Ready(Some(beat)),
            None if waiting.is_over => Poll::Ready(None),
            None => {
                // A burst is over, and the next one may be long in coming.
                for beats in [&mut self.taken, &mut waiting.beats] {
                    if beats.capacity() > ROOM {
                        *beats = VecDeque::new();
                    }
                }
                waiting.reader = Some(context.waker().clone());
                Poll::Pending
            }
        }
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
    /// All that waits, for the room that whoever reads has no more use for.
    fn hand_over(&mut self, emptied: &mut VecDeque<Beat>) {
        if !self.beats.is_empty() {
            std::mem::swap(&mut self.beats, emptied);
            self.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
            while let Some(bytes) = beats.next_frame_now() {
                read.push(Beat::Frame(bytes));
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

    #[tokio::test]
    async fn after_a_burst_the_room_that_it_took_is_given_back() {
        let (teller, mut beats) = queue();
        for _ in 0..10 * ROOM {
            teller.tell(frame(0));
        }
        assert!(beats.next().await.is_some() && beats.taken.capacity() > ROOM);
        while beats.next_frame_now().is_some() {}
        let pending = poll_fn(|context| Poll::Ready(beats.poll(context).is_pending())).await;
        let waiting = locked(&teller.0);
        assert_eq!((pending, waiting.beats.capacity(), beats.taken.capacity()), (true, 0, 0));
        assert_eq!(waiting.bytes, 0);
    }

    #[test]
    fn what_is_no_frame_keeps_its_turn() {
        let (teller, mut beats) = queue();
        for beat in [frame(1), Beat::Pause(5), frame(2)] {
            teller.tell(beat);
        }
        assert_eq!(beats.next_frame_now(), Some(Bytes::from(vec![1; 300])));
        assert_eq!(beats.next_frame_now(), None);
        assert_eq!(beats.taken, [Beat::Pause(5), frame(2)]);
    }
}
