//! Ids of the real servers' form: a prefix, 12 hex digits that sort by time, 14 base-62 characters.
//!
//! The random part comes from a seed, the time from the caller: the same requests give the same ids.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

const BASE_62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Without I, L, O and U.
const BASE_32: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ADJECTIVES: &[&str] = &["calm", "clever", "crisp", "curious", "happy", "jolly", "quiet", "swift"];
const NOUNS: &[&str] = &["cactus", "canyon", "engine", "garden", "harbor", "meadow", "planet", "river"];

/// Makes ids.
#[derive(Debug)]
pub(crate) struct Ids {
    random: ChaCha8Rng,
    last_ms: u64,
    /// How many ids this millisecond has seen.
    counter: u64,
}

impl Ids {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: ChaCha8Rng::seed_from_u64(seed), last_ms: 0, counter: 0 }
    }

    /// Newer ids sort last (`msg_`, `prt_`, `per_`, `evt_`).
    pub(crate) fn ascending(&mut self, prefix: &str, now_ms: u64) -> String {
        let stamp = self.stamp(now_ms);
        self.id(prefix, stamp)
    }

    /// Newer ids sort first (`ses_`).
    pub(crate) fn descending(&mut self, prefix: &str, now_ms: u64) -> String {
        let stamp = !self.stamp(now_ms);
        self.id(prefix, stamp)
    }

    /// A call that no model has made: a time in ten signs, and sixteen by chance.
    pub(crate) fn call(&mut self, now_ms: u64) -> String {
        let of_time = (0..10).rev().map(|place| now_ms >> (place * 5) & 31);
        let mut id: String =
            of_time.map(|sign| char::from(BASE_32[usize::try_from(sign).unwrap_or(0)])).collect();
        for _ in 0..16 {
            id.push(char::from(BASE_32[self.below(BASE_32.len())]));
        }
        id
    }

    /// A name for people: two words.
    pub(crate) fn slug(&mut self) -> String {
        let adjective = ADJECTIVES[self.below(ADJECTIVES.len())];
        let noun = NOUNS[self.below(NOUNS.len())];
        format!("{adjective}-{noun}")
    }

    /// What secures a talk with somebody: 64 hex digits.
    pub(crate) fn state(&mut self) -> String {
        (0..4).map(|_| format!("{:016x}", self.random.next_u64())).collect()
    }

    /// A ticket has the form of a UUID. On the real servers nobody can guess one; here the seed says it.
    pub(crate) fn ticket(&mut self) -> String {
        let [a, b] = [self.random.next_u64(), self.random.next_u64()];
        let (a, b) = (a & !0xf000 | 0x4000, b & !(0b11 << 62) | (0b10 << 62));
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xffff,
            b >> 48,
            b & 0xffff_ffff_ffff
        )
    }

    /// The reference in an `UnknownError`.
    pub(crate) fn error_reference(&mut self) -> String {
        format!("err_{:08x}", self.random.next_u32())
    }

    fn stamp(&mut self, now_ms: u64) -> u64 {
        if now_ms != self.last_ms {
            self.last_ms = now_ms;
            self.counter = 0;
        }
        self.counter += 1;
        now_ms * 0x1000 + self.counter
    }

    fn id(&mut self, prefix: &str, stamp: u64) -> String {
        let mut id = format!("{prefix}_{:012x}", stamp & 0xffff_ffff_ffff);
        for _ in 0..14 {
            id.push(char::from(BASE_62[self.below(BASE_62.len())]));
        }
        id
    }

    /// A little uneven, which nobody can see in an id.
    fn below(&mut self, limit: usize) -> usize {
        (self.random.next_u32() as usize) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_real_form_and_sort_by_time() {
        let mut ids = Ids::new(7);
        let first = ids.ascending("msg", 1_795_243_210_170);
        let second = ids.ascending("msg", 1_795_243_210_170);
        let later = ids.ascending("msg", 1_795_243_210_171);
        assert!(first.starts_with("msg_1fcd575ba001"), "{first}");
        assert_eq!(first.len(), "msg_1fcd575ba001qPbzFd2PH8BKsU".len());
        assert!(first < second && second < later);
        assert!(ids.descending("ses", 1_795_243_210_172) > ids.descending("ses", 1_795_243_210_173));
    }

    #[test]
    fn the_seed_decides() {
        let id = |seed| Ids::new(seed).ascending("evt", 5);
        assert_eq!(id(1), id(1));
        assert_ne!(id(1), id(2));
    }
}
