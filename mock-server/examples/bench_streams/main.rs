//! Measures how fast frames reach their subscribers, beside bare hyper in the same run: `cargo xtask bench streams`.
//!
//! Server and readers share the machine and one runtime. The contenders take turns, so that what else the machine does
//! hits them alike. All send the same frames: those of a long answer, as the stand-in makes them.

#![expect(clippy::disallowed_methods, reason = "to measure is to look at the clock")]

mod bare;
mod figures;
mod readers;
mod stand;

use bare::Writes;
use figures::Figures;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// Turns of each contender: the shortest take a thirtieth of a second, and the machine is never alone.
const ROUNDS: usize = 9;

/// How many subscribers, how many deltas the answer has, and how many one has that is pending when they begin to read.
const SIZES: [(usize, usize, usize); 3] = [(1, 20_000, 150_000), (100, 5_000, 5_000), (1_000, 1_000, 1_000)];

/// So long the system may take to fill what lies between a server that has sent all and readers that do not read.
const FILLING: Duration = Duration::from_millis(300);

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    StandIn,
    /// The same, with a fault armed for every subscriber that never acts.
    Armed,
    /// The same, when all is pending.
    Flood,
    /// Bare hyper: one write for each frame as it comes, or joined what is pending.
    Bare(Writes),
}

impl Who {
    pub(crate) const ALL: [Self; 5] = [
        Self::StandIn,
        Self::Armed,
        Self::Bare(Writes::OnePerFrame),
        Self::Flood,
        Self::Bare(Writes::Joined),
    ];
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_json = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["text"] => false,
        ["json"] => true,
        _ => {
            eprintln!("text or json is wanted");
            return ExitCode::from(2);
        }
    };
    let measured =
        tokio::runtime::Runtime::new().map_err(Into::into).and_then(|runtime| runtime.block_on(measured()));
    match measured {
        Ok(figures) => {
            println!("{}", if is_json { figures.json().to_string() } else { figures.table() });
            ExitCode::from(u8::from(!figures.hold()))
        }
        Err(error) => {
            eprintln!("nothing was measured: {error}");
            ExitCode::from(3)
        }
    }
}

async fn measured() -> Result<Figures, Box<dyn Error>> {
    let mut figures = Figures::default();
    for (subscribers, deltas, pending) in SIZES {
        let (frames, flood) = (stand::frames(deltas).await?, stand::frames(pending).await?);
        for _ in 0..ROUNDS {
            for who in Who::ALL {
                let (took, frames) = match who {
                    Who::StandIn => (stand::turn(subscribers, deltas, false).await?, &frames),
                    Who::Armed => (stand::turn(subscribers, deltas, true).await?, &frames),
                    Who::Flood => (stand::flood(subscribers, pending).await?, &flood),
                    Who::Bare(writes) => {
                        let frames = if writes == Writes::Joined { &flood } else { &frames };
                        (bare::turn(subscribers, frames, writes).await?, frames)
                    }
                };
                let sent = (subscribers * frames.len()) as f64;
                figures.take(subscribers, who, sent / took.as_secs_f64());
            }
        }
    }
    Ok(figures)
}

/// Waits until whoever has something to send has sent what the system takes.
pub(crate) async fn until_all_are_full() {
    tokio::time::sleep(FILLING).await;
}
