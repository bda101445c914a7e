//! Time. Every wait of this crate has a named limit, and this is the only file that reads a clock or waits for one.

use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long each thing may take. The defaults fit the real servers on a slow machine; a stand-in, which has no
/// jobs in the background, can do with shorter ones. And how closely the person looks, which takes time, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From the start of the server to its ready line.
    pub ready: Duration,
    /// The first answer of `/global/health`.
    pub health: Duration,
    /// From the polite request to end, to the end by force.
    pub stop: Duration,
    /// An exchange that does not wait for the agent, and the head of a stream.
    pub exchange: Duration,
    /// No event for this long on both streams: the server has booted.
    pub boot_quiet: Duration,
    /// From the first event to that quiet.
    pub boot: Duration,
    /// The next question for permission.
    pub permission: Duration,
    /// The end of a turn.
    pub idle: Duration,
    /// No event for this long on both streams: the jobs after a turn are done.
    pub quiet: Duration,
    /// From the last step to that quiet.
    pub settle: Duration,
    /// The person reads the server's state at each question too, and not at the end alone.
    pub reads_at_questions: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ready: Duration::from_secs(60),
            health: Duration::from_secs(60),
            stop: Duration::from_secs(10),
            exchange: Duration::from_secs(90),
            boot_quiet: Duration::from_millis(700),
            boot: Duration::from_secs(60),
            permission: Duration::from_secs(60),
            idle: Duration::from_secs(120),
            quiet: Duration::from_millis(1500),
            settle: Duration::from_secs(60),
            reads_at_questions: false,
        }
    }
}

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The result of `work`, or `None` if it takes longer than `limit`.
#[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(limit, work).await.ok()
}

/// Waits so long before something is tried again.
#[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
pub async fn pause(length: Duration) {
    tokio::time::sleep(length).await;
}

/// Waits so long on a thread, or until `enough` holds when somebody calls.
pub(crate) fn linger<'a, T>(
    call: &Condvar,
    guard: MutexGuard<'a, T>,
    length: Duration,
    enough: impl Fn(&T) -> bool,
) -> MutexGuard<'a, T> {
    call.wait_timeout_while(guard, length, |state| !enough(state)).unwrap_or_else(PoisonError::into_inner).0
}

/// Waits until `last_activity` lies `quiet` in the past. The caller bounds it with [`within`].
#[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
pub(crate) async fn quiet_since(quiet: Duration, last_activity: impl Fn() -> Instant) {
    loop {
        let left = quiet.saturating_sub(last_activity().elapsed());
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left).await;
    }
}

/// Waits for a fact that the kernel knows and tells nobody. The caller bounds it with [`within`].
#[expect(clippy::disallowed_methods, reason = "this file owns the clock")]
pub async fn until(mut fact: impl FnMut() -> bool) {
    const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
    while !fact() {
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}
