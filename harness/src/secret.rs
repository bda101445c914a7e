//! Passwords for servers that we start. The only file of this crate that asks for randomness.

use std::fs::File;
use std::io::{self, Read as _};

/// 32 hex digits that nobody can guess.
pub fn random_password() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
