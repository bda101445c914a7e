//! Answers that wait until somebody lets them go: by a name, and never by time.

use super::Piece;
use crate::journal::Journal;
use bytes::Bytes;
use fixtures::recording::{End, HowEnded, Line};
use futures_util::stream::{self, Stream};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use tokio::sync::watch;

/// Which gates are open. All are closed in the beginning, and none is closed again.
#[derive(Debug, Clone, Default)]
pub(super) struct Gates {
    open: Arc<watch::Sender<BTreeSet<String>>>,
}

impl Gates {
    pub(super) fn open(&self, gate: &str) {
        self.open.send_if_modified(|open| open.insert(gate.to_owned()));
    }

    pub(super) async fn pass(&self, gate: &str) {
        let mut open = self.open.subscribe();
        // The sender lives as long as this does.
        let _open = open.wait_for(|open| open.contains(gate)).await;
    }
}

/// A body that comes piece by piece. Each is on the time line when it goes, and so is the end.
pub(super) fn body(
    gates: Gates,
    journal: Journal,
    exchange: u64,
    pieces: Vec<Piece>,
) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(pieces.into_iter(), move |mut left| {
        let (gates, journal) = (gates.clone(), journal.clone());
        async move {
            loop {
                match left.next() {
                    Some(Piece::Gate(gate)) => gates.pass(&gate).await,
                    Some(Piece::Bytes(bytes)) => {
                        let bytes = Bytes::from(bytes);
                        journal.push_chunks(exchange, vec![bytes.clone()]);
                        return Some((Ok(bytes), left));
                    }
                    None => {
                        let how = HowEnded::ClosedByServer;
                        journal.push(|at_us| Line::End(End { at_us, exchange, how }));
                        return None;
                    }
                }
            }
        }
    })
}
