//! The doors of the lanes: where each listens, and when it does not.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The doors of a stand-in.
#[derive(Debug, Default)]
pub(crate) struct Doors {
    lanes: Mutex<Vec<Door>>,
}

#[derive(Debug)]
struct Door {
    lane: String,
    address: SocketAddr,
    shut: watch::Sender<Shut>,
}

/// A door is shut for a while.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shut {
    pub(crate) duration: Duration,
    /// Afterwards it is elsewhere.
    pub(crate) moves: bool,
}

impl Doors {
    /// A lane listens here; what comes out says when it has to stop.
    pub(crate) fn open(&self, lane: &str, address: SocketAddr) -> watch::Receiver<Shut> {
        let (shut, shuts) = watch::channel(Shut::default());
        let door = Door { lane: lane.to_owned(), address, shut };
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(door);
        shuts
    }

    /// A lane listens here from now on.
    pub(crate) fn moved(&self, lane: &str, address: SocketAddr) {
        let mut doors = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        doors.iter_mut().filter(|door| door.lane == lane).for_each(|door| door.address = address);
    }

    /// Shuts the door of a lane, or all.
    pub(crate) fn shut(&self, lane: Option<&str>, shut: Shut) {
        let doors = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        for door in doors.iter().filter(|door| lane.is_none_or(|lane| lane == door.lane)) {
            door.shut.send_replace(shut);
        }
    }

    /// Where all lanes listen, in the order in which they were opened.
    pub(crate) fn addresses(&self) -> Vec<(String, SocketAddr)> {
        let doors = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        doors.iter().map(|door| (door.lane.clone(), door.address)).collect()
    }
}
