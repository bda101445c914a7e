//! Passwords for servers that we start. The only file of this crate that asks for randomness.

use std::fs::File;
use std::io::{self, Read as _};

/// 32 letters that nobody can guess, and of which nobody can tell that they are a secret.
pub(crate) fn random_letters() -> io::Result<String> {
    let digits = random_password()?;
    let letter = |digit: char| LETTERS.chars().nth(digit.to_digit(16)? as usize);
    Ok(digits.chars().filter_map(letter).collect())
}

/// One for each hex digit.
const LETTERS: &str = "bcdfghjklmnprstv";

/// 32 hex digits that nobody can guess.
pub fn random_password() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
