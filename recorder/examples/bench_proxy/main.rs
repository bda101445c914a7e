//! Measures what the proxy costs, beside a bare TCP copy in the same run: `cargo xtask bench proxy`.
//!
//! Server and client are threads that block. Between them stands nobody, the copy, or the proxy with all that belongs
//! to it: the recording is made and written. They take turns, so that what else the machine does hits them alike.

#![expect(clippy::disallowed_methods, reason = "to measure is to look at the clock")]

mod between;
mod figures;
mod peers;

use between::{Between, Stand};
use figures::Figures;
use std::error::Error;
use std::process::ExitCode;

/// Turns of each.
const ROUNDS: usize = 15;

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
    match measured() {
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

fn measured() -> Result<Figures, Box<dyn Error>> {
    let server = peers::serve()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let mut figures = Figures::default();
    for _ in 0..ROUNDS {
        for who in Between::ALL {
            let stand = runtime.block_on(Stand::of(who, server))?;
            figures.take(who, stand.port)?;
            runtime.block_on(stand.end())?;
        }
    }
    Ok(figures)
}
