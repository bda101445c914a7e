//! One time line for everything that is kept: REST, both streams, the person's steps and, pushed in from outside,
//! the calls of the model. Who pushes later stands later and has a later time.

use crate::clock;
use fixtures::recording::Line;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A growing list of lines. Clones write to the same list.
#[derive(Debug, Clone)]
pub struct Tape {
    inner: Arc<Inner>,
}

struct Inner {
    start: Instant,
    exchanges: AtomicU64,
    written: Mutex<Written>,
    listener: Option<Listener>,
}

#[derive(Debug, Default)]
struct Written {
    lines: Vec<Arc<Line>>,
    latest_us: u64,
}

/// Hears each line in its order. It is called under the tape's lock, so it must neither wait nor push.
pub type Listener = Box<dyn Fn(&Arc<Line>) + Send + Sync>;

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape")
            .field("start", &self.start)
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl Default for Tape {
    fn default() -> Self {
        Self::new()
    }
}

impl Tape {
    /// An empty tape; its time begins now.
    #[must_use]
    pub fn new() -> Self {
        Self::starting(None)
    }

    /// An empty tape with somebody who hears each line as it is pushed.
    #[must_use]
    pub fn heard_by(listener: Listener) -> Self {
        Self::starting(Some(listener))
    }

    fn starting(listener: Option<Listener>) -> Self {
        Self {
            inner: Arc::new(Inner {
                start: clock::now(),
                exchanges: AtomicU64::new(0),
                written: Mutex::default(),
                listener,
            }),
        }
    }

    /// Appends the line that `line` makes of the time (microseconds). The time is taken under the lock, so that
    /// the order of the lines is the order of their times. `line` must not push.
    pub fn push(&self, line: impl FnOnce(u64) -> Line) {
        self.write(&mut self.lock(), clock::now(), line);
    }

    /// As [`Tape::push`], for what happened at another time. One that lies before the latest line is moved to it: who
    /// pushes later stands later.
    pub fn push_at(&self, when: Instant, line: impl FnOnce(u64) -> Line) {
        self.write(&mut self.lock(), when, line);
    }

    fn write(&self, written: &mut Written, when: Instant, line: impl FnOnce(u64) -> Line) {
        let since = when.saturating_duration_since(self.inner.start);
        let at_us = u64::try_from(since.as_micros()).unwrap_or(u64::MAX).max(written.latest_us);
        let line = Arc::new(line(at_us));
        if let Some(listener) = &self.inner.listener {
            listener(&line);
        }
        written.latest_us = at_us;
        written.lines.push(line);
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.inner.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of all lines so far.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.lock().lines.iter().map(|line| Line::clone(line)).collect()
    }

    /// All lines so far, taken off the tape: for who needs it no more, and has no room for a copy.
    #[must_use]
    pub fn take(&self) -> Vec<Line> {
        std::mem::take(&mut self.lock().lines).into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// A number for the next exchange, from 1, never given twice.
    #[must_use]
    pub fn next_exchange(&self) -> u64 {
        self.inner.exchanges.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::recording::Note;

    #[test]
    fn times_never_go_back_whoever_pushes() {
        let tape = Tape::new();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let tape = tape.clone();
                scope.spawn(move || {
                    for _ in 0..500 {
                        tape.push(|at_us| Line::Note(Note { at_us, text: writer.to_string() }));
                    }
                });
            }
        });
        let times: Vec<u64> = tape
            .lines()
            .iter()
            .map(|line| match line {
                Line::Note(note) => note.at_us,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(times.len(), 2000);
        assert!(times.is_sorted());
    }

    #[test]
    fn what_is_pushed_later_stands_later() {
        let tape = Tape::new();
        let early = clock::now();
        tape.push(|at_us| Line::Note(Note { at_us, text: "1".into() }));
        tape.push_at(early, |at_us| Line::Note(Note { at_us, text: "2".into() }));
        let times: Vec<u64> = tape.lines().iter().map(Line::at_us).collect();
        assert_eq!(times[0], times[1]);
    }

    #[test]
    fn a_listener_hears_every_line_in_its_order() {
        let (heard, lines) = std::sync::mpsc::channel();
        let tape = Tape::heard_by(Box::new(move |line| heard.send(Line::clone(line)).unwrap()));
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let tape = tape.clone();
                scope.spawn(move || {
                    for _ in 0..100 {
                        tape.push(|at_us| Line::Note(Note { at_us, text: writer.to_string() }));
                    }
                });
            }
        });
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), tape.lines());
        assert_eq!(tape.lines().len(), 400);
    }

    #[test]
    fn clones_share_the_numbers_of_exchanges() {
        let tape = Tape::new();
        let other = tape.clone();
        assert_eq!([tape.next_exchange(), other.next_exchange(), tape.next_exchange()], [1, 2, 3]);
    }
}
