//! What a server says on stdout and stderr, kept in a file for the person who wonders why it does what it does. The
//! file is its owner's alone, and the password of the run is not in it.

use fixtures::FileError;
use fixtures::redact::pseudonym;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// An open log; clones write to the same file.
#[derive(Clone)]
pub struct ServerLog {
    file: Arc<Mutex<File>>,
    password: String,
}

impl fmt::Debug for ServerLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerLog").field("file", &self.file).finish_non_exhaustive()
    }
}

impl ServerLog {
    /// Begins the file, with the folders above it; what stood there is replaced. `password` will not stand in it.
    pub fn create(path: &Path, password: &str) -> Result<Self, FileError> {
        let failed = |error| FileError::io(path, "begin the server's log", &error);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        // Made anew: an old file may be readable by others.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(path).map_err(failed)?;
        Ok(Self { file: Arc::new(Mutex::new(file)), password: password.to_owned() })
    }

    /// Appends a line. A log that can't be written is no reason to stop a performance.
    pub(crate) fn write(&self, line: &str) {
        let line = without_secrets(line, &self.password);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(format!("{line}\n").as_bytes()).ok();
    }
}

/// A text of the server without the password of the run and without codes that colour a terminal.
pub(crate) fn without_secrets(text: &str, password: &str) -> String {
    let plain = without_codes(text);
    if password.is_empty() { plain } else { plain.replace(password, &pseudonym(password)) }
}

/// Drops escape sequences (`ESC [ … letter`) and other control characters but tabs and line ends.
fn without_codes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else if !char.is_control() || matches!(char, '\n' | '\t') {
            plain.push(char);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_log_is_private_and_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/log");
        for line in ["first", "second"] {
            let log = ServerLog::create(&path, "").unwrap();
            log.clone().write(line);
            log.write("end");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{line}\nend\n"));
        }
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_log_that_can_not_be_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = ServerLog::create(folder.path(), "").unwrap_err().to_string();
        assert!(error.contains(": failed to begin the server's log: "), "{error}");
    }

    #[test]
    fn words_have_no_colours_and_no_password() {
        let words = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mbad\tword hunter22\n\u{7}two";
        assert_eq!(without_secrets(words, "hunter22"), "Error: bad\tword redacted\ntwo");
        assert_eq!(without_secrets("a\u{1b}[", ""), "a");
    }
}
