//! Hands frames to subscribers. A frame is bytes already; subscribers share them.

use crate::performer::{Audience, Frame};
use tokio::sync::mpsc;

/// How many frames may wait for one subscriber. One that reads no more is let go when they are used up, so that
/// it costs bounded memory.
const WAITING_MAX: usize = 65_536;

/// All subscribers.
#[derive(Debug, Default)]
pub(crate) struct Bus {
    subscribers: Vec<(Audience, mpsc::Sender<Frame>)>,
}

impl Bus {
    /// A new subscriber, whose first frame is `hello`.
    pub(crate) fn subscribe(&mut self, audience: Audience, hello: Frame) -> mpsc::Receiver<Frame> {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        // The queue is empty, so there is room.
        let _ = sender.try_send(hello);
        self.subscribers.push((audience, sender));
        receiver
    }

    /// Lets go those who hear exactly this; what they have not read yet still reaches them.
    pub(crate) fn close(&mut self, to: &Audience) {
        self.subscribers.retain(|(audience, _)| audience != to);
    }

    /// Hands a frame to all who hear it, and forgets those who have left or have stopped reading.
    pub(crate) fn send(&mut self, to: &Audience, frame: &Frame) {
        self.subscribers.retain(|(audience, sender)| {
            if audience.hears(to) { sender.try_send(frame.clone()).is_ok() } else { !sender.is_closed() }
        });
    }
}
