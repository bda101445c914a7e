//! The stand-in's time. The only file of this crate that reads a clock or waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Where time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockKind {
    /// The machine's clock.
    #[default]
    Real,
    /// The machine's clock, so many times as fast: what takes a minute takes a second, by 60.
    Scaled {
        /// How many times; 0 counts as 1.
        by: u32,
    },
    /// A count: each look at the clock is a millisecond. The same requests see the same times.
    Logical,
    /// That of a paused runtime: time passes when nothing else can happen, at once, to what is waited for next. It never
    /// meets a socket: a stand-in with this clock is asked in memory.
    Virtual,
}

/// The machine's own time, as its disks have it: milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this file owns the crate's time")]
pub(crate) fn machine_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}

/// When logical and virtual time begin: a round number in the past.
const LOGICAL_START_MS: u64 = 1_700_000_000_000;

/// A clock.
#[derive(Debug)]
pub struct Clock {
    kind: ClockKind,
    start: Instant,
    start_ms: u64,
    ticks: AtomicU64,
}

impl Clock {
    /// A clock that begins now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this file owns the crate's time")]
    pub fn new(kind: ClockKind) -> Self {
        let start_ms = match kind {
            ClockKind::Real | ClockKind::Scaled { .. } => machine_ms(),
            ClockKind::Logical | ClockKind::Virtual => LOGICAL_START_MS,
        };
        Self { kind, start: Instant::now(), start_ms, ticks: AtomicU64::new(0) }
    }

    /// Milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.start_ms
            + match self.kind {
                ClockKind::Real | ClockKind::Scaled { .. } | ClockKind::Virtual => self.elapsed_us() / 1000,
                ClockKind::Logical => self.ticks.fetch_add(1, Ordering::Relaxed),
            }
    }

    /// Microseconds since the clock began.
    pub fn elapsed_us(&self) -> u64 {
        match self.kind {
            ClockKind::Real | ClockKind::Scaled { .. } | ClockKind::Virtual => {
                let passed = u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX);
                passed.saturating_mul(u64::from(self.speed()))
            }
            ClockKind::Logical => self.ticks.load(Ordering::Relaxed) * 1000,
        }
    }

    /// How many seconds pass in one of the machine's.
    fn speed(&self) -> u32 {
        match self.kind {
            ClockKind::Scaled { by } => by.max(1),
            ClockKind::Real | ClockKind::Logical | ClockKind::Virtual => 1,
        }
    }

    fn on_the_machine(&self, duration: Duration) -> Duration {
        duration / self.speed()
    }

    /// Does time pass only by looking at it?
    #[must_use]
    pub fn is_logical(&self) -> bool {
        self.kind == ClockKind::Logical
    }

    /// Is there no socket, and no process beside this one?
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        self.kind == ClockKind::Virtual
    }

    /// Logical time leaps to a time that is to come; the machine's clock does not.
    pub fn leap_to(&self, at_ms: u64) {
        if self.is_logical() {
            self.ticks.fetch_max(at_ms.saturating_sub(self.start_ms), Ordering::Relaxed);
        }
    }

    /// How long it is until then.
    #[must_use]
    pub fn until(&self, at_ms: u64) -> Duration {
        Duration::from_millis(at_ms.saturating_sub(self.now_ms()))
    }

    /// Lets time pass on the machine, whatever the clock: sockets know no other.
    #[expect(clippy::disallowed_methods, reason = "this file owns the crate's time")]
    pub async fn pass(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    /// Waits. Logical time does not pass by waiting, so there it waits for ever.
    #[expect(clippy::disallowed_methods, reason = "this file owns the crate's time")]
    pub async fn wait(&self, duration: Duration) {
        match self.kind {
            ClockKind::Real | ClockKind::Scaled { .. } | ClockKind::Virtual => {
                tokio::time::sleep(self.on_the_machine(duration)).await
            }
            ClockKind::Logical => std::future::pending().await,
        }
    }
}

impl Clock {
    /// Waits; where time does not pass by waiting, that takes none.
    pub async fn wait_or_skip(&self, duration: Duration) {
        if !self.is_logical() {
            self.wait(duration).await;
        }
    }
}

/// The result of `work`, or `None` if it takes longer than `limit` on the machine.
#[expect(clippy::disallowed_methods, reason = "this file owns the crate's time")]
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_time_is_waited_for_so_many_times_shorter() {
        let minute = Duration::from_secs(60);
        for (kind, seconds) in
            [(ClockKind::Scaled { by: 60 }, 1), (ClockKind::Scaled { by: 0 }, 60), (ClockKind::Real, 60)]
        {
            assert_eq!(Clock::new(kind).on_the_machine(minute).as_secs(), seconds, "{kind:?}");
        }
    }

    #[test]
    fn scaled_time_passes_so_many_times_faster() {
        let clock = Clock::new(ClockKind::Scaled { by: 1000 });
        let (first, start) = (clock.now_ms(), clock.start);
        while start.elapsed() < Duration::from_millis(2) {
            std::thread::yield_now();
        }
        assert!(clock.now_ms() >= first.max(clock.start_ms + 2000));
    }
}
