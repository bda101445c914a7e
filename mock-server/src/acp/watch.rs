//! Who watches an agent's process, and what faults do to it beside its words.

use futures_util::{Stream, StreamExt as _};
use std::sync::Arc;
use tokio::sync::watch;

/// What is seen of an agent, in the order in which it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen<'a> {
    /// Bytes that it has read.
    Stdin(&'a [u8]),
    /// The client has closed its stdin.
    StdinEnd,
    /// Bytes that it is about to write.
    Stdout(&'a [u8]),
    /// A fault acts on its process.
    Strain(Strain),
}

/// Who sees it.
pub type Watcher = Arc<dyn Fn(Seen<'_>) + Send + Sync>;

/// What a fault does to the process of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strain {
    /// Nothing is read any more.
    StopReading,
    /// It outlives its stdin.
    Linger,
    /// A child that outlives it is started; whoever watches does that.
    Child,
}

/// An agent's process, as far as faults change it. Clones are the same process.
#[derive(Clone)]
pub(super) struct Process {
    watcher: Option<Watcher>,
    deaf: watch::Sender<bool>,
    lingers: watch::Sender<bool>,
}

impl Process {
    pub(super) fn new(watcher: Option<Watcher>) -> Self {
        Self { watcher, deaf: watch::Sender::new(false), lingers: watch::Sender::new(false) }
    }

    pub(super) fn see(&self, seen: Seen<'_>) {
        if let Some(watcher) = &self.watcher {
            watcher(seen);
        }
    }

    pub(super) fn bear(&self, strain: Strain) {
        match strain {
            Strain::StopReading => drop(self.deaf.send_replace(true)),
            Strain::Linger => drop(self.lingers.send_replace(true)),
            Strain::Child => {}
        }
        self.see(Seen::Strain(strain));
    }

    /// What is read, unless nothing is read any more.
    pub(super) async fn unless_deaf<T>(&self, read: impl Future<Output = T>) -> T {
        let mut deaf = self.deaf.subscribe();
        let is_deaf = async {
            // The sender lives as long as this process does.
            deaf.wait_for(|deaf| *deaf).await.is_ok()
        };
        tokio::select! {
            biased;
            _ = is_deaf => std::future::pending().await,
            read = read => read,
        }
    }

    /// One that outlives its stdin goes on with its work, and never comes back from here.
    pub(super) async fn linger(&self, work: &mut (impl Stream<Item = ()> + Unpin)) {
        if *self.lingers.borrow() {
            while work.next().await.is_some() {}
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::future::ready;
    use std::sync::Mutex;

    #[test]
    fn a_strain_lasts_and_is_seen() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sees = Arc::clone(&seen);
        let watcher: Watcher = Arc::new(move |seen| {
            if let Seen::Strain(strain) = seen {
                sees.lock().unwrap().push(strain);
            }
        });
        let process = Process::new(Some(watcher));
        let nothing = || futures_util::stream::empty::<()>();
        assert_eq!(process.unless_deaf(ready(1)).now_or_never(), Some(1));
        assert_eq!(process.linger(&mut nothing()).now_or_never(), Some(()));
        process.bear(Strain::StopReading);
        assert_eq!(process.unless_deaf(ready(1)).now_or_never(), None);
        assert_eq!(process.linger(&mut nothing()).now_or_never(), Some(()));
        process.bear(Strain::Linger);
        assert_eq!(process.linger(&mut nothing()).now_or_never(), None);
        assert_eq!(*seen.lock().unwrap(), [Strain::StopReading, Strain::Linger]);
    }
}
