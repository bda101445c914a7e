//! Hands frames to subscribers. A frame is bytes already; subscribers share them.

use crate::performer::{Audience, Frame};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// How many frames, and of how many bytes, may wait for one subscriber. One that reads no more is let go when they are
/// used up, so that it costs bounded memory.
const FRAMES_MAX: usize = 262_144;
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// All subscribers.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    subscribers: Vec<Subscriber>,
}

#[derive(Debug)]
struct Subscriber {
    audience: Audience,
    frames: mpsc::Sender<Frame>,
    waiting: Arc<AtomicUsize>,
    breaks: Arc<AtomicBool>,
}

/// The frames of one subscriber, in order.
#[derive(Debug)]
pub(crate) struct Frames {
    frames: mpsc::Receiver<Frame>,
    waiting: Arc<AtomicUsize>,
    breaks: Arc<AtomicBool>,
}

impl Frames {
    /// The next one; none when the server has let the subscriber go.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        let frame = self.frames.recv().await?;
        self.waiting.fetch_sub(frame.bytes.len(), Ordering::Relaxed);
        Some(frame)
    }

    /// The next one, if it is there already.
    pub(crate) fn next_now(&mut self) -> Option<Frame> {
        let frame = self.frames.try_recv().ok()?;
        self.waiting.fetch_sub(frame.bytes.len(), Ordering::Relaxed);
        Some(frame)
    }

    /// Does the connection break where the frames end?
    pub(crate) fn breaks(&self) -> bool {
        self.breaks.load(Ordering::Relaxed)
    }
}

impl Subscriber {
    /// Is it still there? One frame is always taken, however long it is.
    fn take(&self, frame: &Frame) -> bool {
        let length = frame.bytes.len();
        let before = self.waiting.fetch_add(length, Ordering::Relaxed);
        (before == 0 || before + length <= BYTES_MAX) && self.frames.try_send(frame.clone()).is_ok()
    }
}

impl Bus {
    /// A new subscriber, whose first frame is `hello`.
    pub(crate) fn subscribe(&mut self, audience: Audience, hello: Frame) -> Frames {
        let (frames, receiver) = mpsc::channel(FRAMES_MAX);
        let waiting = Arc::new(AtomicUsize::new(0));
        let breaks = Arc::new(AtomicBool::new(false));
        let subscriber = Subscriber { audience, frames, waiting: waiting.clone(), breaks: breaks.clone() };
        // The queue is empty, so there is room.
        let _ = subscriber.take(&hello);
        if self.subscribers.len() == self.subscribers.capacity() {
            // While nothing is sent nobody is missed: before the list grows, those who have left make room.
            self.subscribers.retain(|subscriber| !subscriber.frames.is_closed());
        }
        self.subscribers.push(subscriber);
        Frames { frames: receiver, waiting, breaks }
    }

    /// Lets go those who hear exactly this; what they have not read yet still reaches them.
    pub(crate) fn close(&mut self, to: &Audience) {
        self.subscribers.retain(|subscriber| subscriber.audience != *to);
    }

    /// Lets all go; perhaps their connections break.
    pub(crate) fn let_all_go(&mut self, breaks: bool) {
        for subscriber in self.subscribers.drain(..) {
            subscriber.breaks.store(breaks, Ordering::Relaxed);
        }
    }

    /// Hands a frame to all who hear it, and forgets those who have left or have stopped reading.
    pub(crate) fn send(&mut self, to: &Audience, frame: &Frame) {
        self.subscribers.retain(|subscriber| {
            if subscriber.audience.hears(to) {
                subscriber.take(frame)
            } else {
                !subscriber.frames.is_closed()
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use fixtures::fault_plan::StreamName;

    fn frame(bytes: usize) -> Frame {
        Frame { kind: Arc::from("x"), bytes: Bytes::from(vec![0; bytes]) }
    }

    #[tokio::test]
    async fn who_reads_no_more_is_let_go_by_frames_and_by_bytes() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        for (bytes, sent) in [(1, FRAMES_MAX), (BYTES_MAX / 4, 4), (BYTES_MAX * 2, 1)] {
            let mut bus = Bus::default();
            let mut frames = bus.subscribe(to.clone(), frame(0));
            let frame = frame(bytes);
            let taken = (0..FRAMES_MAX * 2).take_while(|_| {
                bus.send(&to, &frame);
                !bus.subscribers.is_empty()
            });
            // The greeting has a place, too.
            assert_eq!(taken.count() + usize::from(bytes == 1), sent, "frames of {bytes} bytes");
            let mut read = 0;
            while frames.next().await.is_some() {
                read += 1;
            }
            assert_eq!(read + usize::from(bytes == 1), sent + 1, "what was taken is given");
        }
    }

    #[test]
    fn who_leaves_while_nothing_is_sent_makes_room() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        let mut bus = Bus::default();
        let _stays = bus.subscribe(to.clone(), frame(0));
        for _ in 0..1000 {
            bus.subscribe(to.clone(), frame(0));
        }
        assert!(bus.subscribers.len() < 10);
    }

    #[tokio::test]
    async fn who_reads_stays() {
        let to = Audience { stream: StreamName::GlobalEvent, directory: None };
        let mut bus = Bus::default();
        let mut frames = bus.subscribe(to.clone(), frame(0));
        let large = frame(BYTES_MAX / 2);
        for _ in 0..8 {
            bus.send(&to, &large);
            frames.next().await.unwrap();
        }
        assert_eq!(bus.subscribers.len(), 1);
    }
}
