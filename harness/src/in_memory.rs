//! Requests to a stand-in in virtual time: handed over in memory, each a moment under way. How long is drawn from a seed, so
//! that answers and events overtake each other as they do over sockets, and in the same way each time.

use crate::clock::pause;
use crate::net::{Answered, Ask, Net, RetryAfter};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use mock_server::in_memory::{Call, Called, Lanes};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The lanes of a stand-in, as a net.
pub(crate) struct InMemory {
    lanes: Lanes,
    /// None: nothing is ever under way.
    draws: Option<Mutex<ChaCha8Rng>>,
}

/// What is under way arrives within so many milliseconds.
const MOST_MS: u32 = 3;

impl InMemory {
    pub(crate) fn at_once(lanes: Lanes) -> Self {
        Self { lanes, draws: None }
    }

    pub(crate) fn with_delays(lanes: Lanes, seed: u64) -> Self {
        Self { lanes, draws: Some(Mutex::new(ChaCha8Rng::seed_from_u64(seed))) }
    }

    fn delay(&self) -> Duration {
        let Some(draws) = &self.draws else { return Duration::ZERO };
        let drawn = draws.lock().unwrap_or_else(PoisonError::into_inner).next_u32();
        Duration::from_millis(u64::from(drawn % (MOST_MS + 1)))
    }
}

/// Lets time pass; none is no wait at all.
async fn passes(time: Duration) {
    if !time.is_zero() {
        pause(time).await;
    }
}

impl Net for InMemory {
    fn send(&self, ask: Ask) -> BoxFuture<'static, Result<Answered, String>> {
        let (there, back) = (self.delay(), self.delay());
        let lanes = self.lanes.clone();
        let Ask { method, server, path, credentials, accept, origin, body } = ask;
        let call = Call {
            method: method.to_owned(),
            port: server.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_default(),
            path,
            credentials,
            headers: [("accept", accept), ("origin", origin)]
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
                .collect(),
            body: body.map(|body| body.to_string()),
        };
        Box::pin(async move {
            passes(there).await;
            let called = lanes.call(call).await.map_err(|lost| lost.to_string())?;
            passes(back).await;
            let header = |name: &str| {
                called.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
            };
            let retry_after = header("retry-after").and_then(|value| RetryAfter::of(value, header("date")));
            let status = called.status;
            let chunks = stream::unfold(called, |mut called: Called| async move {
                let chunk = called.chunk().await?;
                Some((chunk.map_err(|lost| lost.to_string()), called))
            });
            Ok(Answered { status, retry_after, body: chunks.boxed() })
        })
    }
}
