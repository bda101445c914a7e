//! Threads whose work can wait: what must not wait for them has the processor first.

use std::io;
use std::thread::{Builder, JoinHandle};

/// How much such a thread steps back: as much as can be.
#[cfg(target_os = "linux")]
const STEPS_BACK: i32 = 19;

/// Starts one.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.to_owned()).spawn(move || {
        // Only Linux has this for a single thread; elsewhere all threads are alike.
        #[cfg(target_os = "linux")]
        rustix::process::nice(STEPS_BACK).ok();
        work()
    })
}
