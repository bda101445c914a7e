//! What is cut is to be read as it is cut. A pipe puts together what its reader has not fetched in time, and then nothing was
//! cut: so a piece waits until the one before it has been read, where that can be known.

use crate::clock::{Clock, ClockKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// How many bytes wait to be read by the client.
pub type Unread = Arc<dyn Fn() -> usize + Send + Sync>;

/// A reader that is there fetches what there is within so many turns of the machine, or a little later. All pieces of a
/// line together wait so many milliseconds at most: a talk of many lines has to be over before whoever judges it gives up.
const TURNS: usize = 50;
const PATIENCE_MS: u64 = 400;
/// Longer pieces are no matter of where they are cut.
const SHORT: usize = 1024;

/// Writes pieces, each by itself.
pub(super) async fn write<'a>(
    stdout: &mut (impl AsyncWrite + Unpin),
    pieces: impl IntoIterator<Item = &'a [u8]>,
    unread: Option<&Unread>,
    see: impl Fn(&[u8]),
) -> std::io::Result<()> {
    let (mut before, mut left_ms) = (0, PATIENCE_MS);
    for piece in pieces {
        if let Some(unread) = unread.filter(|_| (1..SHORT).contains(&before)) {
            left_ms = until_read(unread, left_ms).await;
        }
        see(piece);
        stdout.write_all(piece).await?;
        stdout.flush().await?;
        before = piece.len();
    }
    Ok(())
}

/// Waits for so many milliseconds at most; gives how many are left.
async fn until_read(unread: &Unread, left_ms: u64) -> u64 {
    for _ in 0..TURNS {
        if unread() == 0 {
            return left_ms;
        }
        tokio::task::yield_now().await;
    }
    // On a busy machine a wait is longer than it was meant to be.
    let clock = Clock::new(ClockKind::Real);
    let begun = clock.now_ms();
    let left = |clock: &Clock| left_ms.saturating_sub(clock.now_ms() - begun);
    while left(&clock) > 0 && unread() > 0 {
        clock.pass(Duration::from_millis(1)).await;
    }
    left(&clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn a_piece_waits_until_the_one_before_has_been_read() {
        let (mut stdout, mut client) = tokio::io::duplex(100);
        let unread = Arc::new(Mutex::new(0));
        let looks: Unread = {
            let unread = unread.clone();
            Arc::new(move || *unread.lock().unwrap())
        };
        let writing = async {
            let see = |piece: &[u8]| *unread.lock().unwrap() += piece.len();
            write(&mut stdout, [&b"ab"[..], b"c", b"d"], Some(&looks), see).await.unwrap();
            drop(stdout);
        };
        let reading = async {
            let (mut reads, mut bytes) = (Vec::new(), [0; 100]);
            loop {
                // It comes late each time.
                for _ in 0..TURNS / 2 {
                    tokio::task::yield_now().await;
                }
                match client.read(&mut bytes).await.unwrap() {
                    0 => return reads,
                    count => reads.push(String::from_utf8_lossy(&bytes[..count]).into_owned()),
                }
                *unread.lock().unwrap() = 0;
            }
        };
        let ((), reads) = tokio::join!(writing, reading);
        assert_eq!(reads, ["ab", "c", "d"]);
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "it is the paused clock that is read")]
    async fn who_reads_nothing_is_written_to_all_the_same() {
        let (mut stdout, _client) = tokio::io::duplex(100);
        let never: Unread = Arc::new(|| 1);
        let begun = tokio::time::Instant::now();
        write(&mut stdout, [&b"ab"[..], b"c", b"d", b"e"], Some(&never), |_| {}).await.unwrap();
        // However many pieces there are.
        assert!(begun.elapsed() < Duration::from_millis(2 * PATIENCE_MS));
    }
}
