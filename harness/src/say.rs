//! Lines for the person at the terminal. `println!` panics when its reader has left, as in `standin check | head -1`;
//! these go on working, because the exit code is still to come. What could not be written for another reason (a full
//! disk) is remembered for the exit code.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::sync::OnceLock;

static LOST: OnceLock<String> = OnceLock::new();

/// Writes a line to stdout, as `println!` does.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}

/// Writes a line to stderr, as `eprintln!` does.
#[macro_export]
macro_rules! complain {
    ($($words:tt)*) => { $crate::say::complaint(format_args!($($words)*)) };
}

/// A line on stdout.
pub fn line(words: fmt::Arguments<'_>) {
    keep(writeln!(io::stdout().lock(), "{words}"));
}

/// A text on stdout, with its own line ends.
pub fn text(text: &str) {
    let mut stdout = io::stdout().lock();
    keep(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
}

/// A line on stderr. If that fails, there is nobody left to be told.
pub fn complaint(words: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{words}");
}

/// Why something could not be written to stdout; `None` when all was, or when the reader had read enough.
#[must_use]
pub fn lost() -> Option<&'static str> {
    keep(io::stdout().lock().flush());
    LOST.get().map(String::as_str)
}

fn keep(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        // The first loss is the one to be told.
        let _ = LOST.set(format!("failed to write to stdout: {error}"));
    }
}
