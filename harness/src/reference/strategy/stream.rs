//! When a stream is opened again, when it is dead, and which events were seen already.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Decides when a lost stream is opened again.
pub trait Backoff: Send {
    /// How long to wait, unscaled, after `failures` attempts in a row have failed; `None` is for ever.
    ///
    /// 100 ms, doubled for each failure, 5 s at most. `jitter` is below 256 and makes the wait longer by up to a
    /// quarter, so that many clients don't come back at once.
    fn delay_ms(&self, failures: u32, jitter: u8) -> Option<u64> {
        // 2^6 × 100 ms is beyond the cap already, so the shift can't overflow.
        let base = (100_u64 << failures.min(6)).min(5000);
        Some(base + base * u64::from(jitter) / 1024)
    }

    /// The server has said how long to wait: how long is waited?
    fn retry_after_ms(&self, asked: u64, own: u64) -> u64 {
        asked.max(own)
    }

    /// Is it heard when the server has said so by a date?
    fn reads_dates(&self) -> bool {
        true
    }

    /// Is there no sense in trying again after this status? Wrong credentials stay wrong.
    fn gives_up_on(&self, status: u16) -> bool {
        matches!(status, 401 | 403)
    }

    /// A stream that was live for less than this has not ended a row of failures.
    fn proven_after_ms(&self) -> u64 {
        2000
    }
}

/// Decides whether a stream lives.
pub trait Liveness: Send {
    /// A stream that says nothing for so long is dead, unscaled; `None` is never.
    fn silence_limit_ms(&self) -> Option<u64> {
        Some(15_000)
    }

    /// Are bytes that are no event (a comment, say) a sign of life?
    fn hears_bytes(&self) -> bool {
        true
    }

    /// Is the stream live when its head has come, before its first event?
    fn is_live_at_head(&self) -> bool {
        false
    }

    /// Is the stream that was there closed when a new one is opened?
    fn closes_old(&self) -> bool {
        true
    }
}

/// Decides whether an event was seen already.
pub trait Seen: Send {
    /// A new connection begins.
    fn begin(&mut self) {}

    /// Was this event seen? `id` is the server's name of it, `data` the whole of it.
    ///
    /// The same id says little (some releases repeat it), nor does its order; the same id with the same content does.
    fn is_seen(&mut self, id: Option<&str>, data: &str, latest: &mut Latest) -> bool {
        id.is_some() && !latest.add(data)
    }
}

/// The latest events, by what they say. Bounded.
#[derive(Debug, Default)]
pub struct Latest(VecDeque<u64>);

impl Latest {
    const MOST: usize = 1024;

    /// Notes an event; false when it is among the latest already.
    pub fn add(&mut self, data: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        data.hash(&mut hasher);
        let print = hasher.finish();
        if self.0.contains(&print) {
            return false;
        }
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(print);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Careful;
    use super::*;

    #[test]
    fn the_delay_doubles_up_to_five_seconds_and_jitter_adds_a_quarter_at_most() {
        let delays: Vec<u64> = (0..8).filter_map(|failures| Careful.delay_ms(failures, 0)).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(Careful.delay_ms(u32::MAX, 0), Some(5000));
        assert_eq!(Careful.delay_ms(0, 255), Some(124));
    }

    #[test]
    fn the_same_id_with_other_content_is_another_event() {
        let mut latest = Latest::default();
        let mut is_seen = |id, data| Careful.is_seen(id, data, &mut latest);
        assert!(!is_seen(Some("1"), "a") && !is_seen(Some("1"), "b") && is_seen(Some("1"), "a"));
        assert!(!is_seen(None, "c") && !is_seen(None, "c"), "without an id nothing can be said");
    }
}
