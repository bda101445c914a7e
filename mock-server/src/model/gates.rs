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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_gate_is_opened_by_its_name_and_for_good() {
        let gates = Gates::default();
        let same = gates.clone();
        assert!(!gates.is_open("a"));
        same.open("a");
        gates.passed("a").await;
        assert!(gates.is_open("a") && !gates.is_open("b"));
    }

    #[tokio::test]
    async fn open_gates_hold_nobody_whatever_their_names() {
        let gates = Gates::all_open();
        assert!(gates.is_open("a"));
        gates.passed("a").await;
        gates.open("a");
        assert!(gates.is_open("b"), "one that is opened closes no other");
    }
}
