//! Bodies of requests: whole, up to a limit, and the long ones few at a time.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use tokio::sync::Semaphore;
use tokio_stream::StreamExt as _;

/// The longest body that is read. The real servers were seen to read 200 MiB.
const MOST_BYTES: usize = 256 * 1024 * 1024;
pub(crate) const TOO_LONG: &str = "standin reads bodies of up to 256 MiB";
/// From here on a body is long, and how many of these are read at once.
const LONG_BYTES: usize = 4 * 1024 * 1024;
const LONG_ONES: usize = 4;

/// Reads bodies.
#[derive(Debug)]
pub(crate) struct Intake {
    long_ones: Semaphore,
}

/// Why there is no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It ends before its end, or its chunks are none.
    Broken,
    TooLong,
}

impl Default for Intake {
    fn default() -> Self {
        Self { long_ones: Semaphore::new(LONG_ONES) }
    }
}

impl Intake {
    pub(crate) async fn read(&self, body: Body) -> Result<Bytes, Unread> {
        let mut chunks = body.into_data_stream();
        let mut read = BytesMut::new();
        let mut permit = None;
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| Unread::Broken)?;
            let length = read.len() + chunk.len();
            if length > MOST_BYTES {
                return Err(Unread::TooLong);
            }
            if length > LONG_BYTES && permit.is_none() {
                // It is never closed.
                permit = self.long_ones.acquire().await.ok();
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read.freeze())
    }
}
