//! What the stand-in saw and did, on one time line, in the common file format.

use crate::clock::Clock;
use fixtures::recording::Line;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// A growing list of lines; clones share it.
#[derive(Debug, Clone)]
pub struct Journal {
    clock: Arc<Clock>,
    lines: Arc<Mutex<Vec<Line>>>,
    length: watch::Sender<usize>,
}

impl Journal {
    /// An empty journal.
    #[must_use]
    pub fn new(clock: Arc<Clock>) -> Self {
        Self { clock, lines: Arc::default(), length: watch::Sender::new(0) }
    }

    /// Appends the line that is made of the time. The time is taken under the lock: lines and times have one order.
    pub fn push(&self, line: impl FnOnce(u64) -> Line) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line(self.clock.elapsed_us()));
        self.length.send_replace(lines.len());
    }

    /// All lines so far.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the lines so far satisfy `holds`. Has no limit of its own: the caller's wait has one.
    pub async fn wait_until(&self, mut holds: impl FnMut(&[Line]) -> bool) {
        let mut length = self.length.subscribe();
        loop {
            length.borrow_and_update();
            if holds(&self.lines.lock().unwrap_or_else(PoisonError::into_inner))
                || length.changed().await.is_err()
            {
                return;
            }
        }
    }
}
