//! Named gates: where an answer waits in mid-turn until the person lets it go on. Points in time, without time.

use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::watch;

/// Which gates are open. Clones are the same gates.
#[derive(Debug, Clone)]
pub struct Gates {
    open: Arc<watch::Sender<Open>>,
}

#[derive(Debug)]
enum Open {
    These(BTreeSet<String>),
    All,
}

impl Default for Gates {
    fn default() -> Self {
        Self { open: Arc::new(watch::Sender::new(Open::These(BTreeSet::new()))) }
    }
}

impl Gates {
    /// Gates that hold nobody.
    #[must_use]
    pub fn all_open() -> Self {
        Self { open: Arc::new(watch::Sender::new(Open::All)) }
    }

    /// Opens a gate, for good.
    pub fn open(&self, name: &str) {
        self.open.send_modify(|open| {
            if let Open::These(names) = open {
                names.insert(name.to_owned());
            }
        });
    }

    /// Is it open?
    #[must_use]
    pub fn is_open(&self, name: &str) -> bool {
        self.open.borrow().has(name)
    }

    /// Waits until it is open.
    pub async fn passed(&self, name: &str) {
        // The sender lives in `self`, so it can't be gone.
        drop(self.open.subscribe().wait_for(|open| open.has(name)).await);
    }
}

impl Open {
    fn has(&self, name: &str) -> bool {
        match self {
            Self::These(names) => names.contains(name),
            Self::All => true,
        }
    }
}
