//! Limits and pauses. The only file of this crate's judging side that waits for time.

use std::future::Future;
use std::time::Duration;

/// How long the harness waits for what; every wait has one of these limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// For an adapter to start and to say hello: how fast a program is loaded is the machine's doing, and no case's subject.
    pub start: Duration,
    /// For an adapter to answer a request.
    pub answer: Duration,
    /// For an adapter to end after it was told to: as long as for an answer, for a busy machine is no fault of its.
    pub end: Duration,
    /// For a step of the person to become possible, e.g. for a question to be shown.
    pub step: Duration,
    /// For the case to settle after the last step.
    pub settle: Duration,
    /// Nothing has happened for this long: it has settled.
    pub quiet: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            answer: Duration::from_secs(10),
            end: Duration::from_secs(10),
            step: Duration::from_secs(5),
            settle: Duration::from_secs(5),
            quiet: Duration::from_millis(150),
        }
    }
}

/// How long something takes on the machine.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(std::time::Instant);

impl Stopwatch {
    /// From now on.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this file owns the judge's time")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Since then.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Waits for a future, but no longer than `limit`.
#[expect(clippy::disallowed_methods, reason = "this file owns the judge's waiting")]
pub async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, future).await.ok()
}

/// Waits.
#[expect(clippy::disallowed_methods, reason = "this file owns the judge's waiting")]
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
