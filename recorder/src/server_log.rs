//! What a server says on stdout and stderr, kept in a file for the person who wonders why it does what it does, or
//! quoted in a message. The file is its owner's alone. Neither holds a secret, or codes that colour a terminal.

use fixtures::FileError;
use fixtures::redact::{Redactor, Secrets, pseudonym};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// An open log; clones write to the same file.
#[derive(Debug, Clone)]
pub struct ServerLog {
    page: Arc<Mutex<Page>>,
}

#[derive(Debug)]
struct Page {
    file: File,
    redactor: Redactor,
}

impl ServerLog {
    /// Begins the file, with the folders above it; what stood there is replaced. `secrets` will not stand in it.
    pub fn create(path: &Path, secrets: &Secrets) -> Result<Self, FileError> {
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
        Ok(Self { page: Arc::new(Mutex::new(Page { file, redactor: Redactor::new(secrets) })) })
    }

    /// Appends a line. A log that can't be written is no reason to stop a performance.
    pub(crate) fn write(&self, line: &str) {
        let mut page = self.page.lock().unwrap_or_else(PoisonError::into_inner);
        let line = page.redactor.text(&without_codes(line));
        page.file.write_all(format!("{line}\n").as_bytes()).ok();
    }
}

/// A text for a message. A program may say its password, or the key of somebody else.
pub(crate) fn without_secrets(text: &str, password: &str) -> String {
    let mut secrets = Secrets::default();
    secrets.add(password);
    let plain = without_codes(text);
    let hidden = if password.is_empty() { plain } else { plain.replace(password, &pseudonym(password)) };
    Redactor::new(&secrets).text(&hidden)
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
            let log = ServerLog::create(&path, &Secrets::default()).unwrap();
            log.clone().write(line);
            log.write("end");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{line}\nend\n"));
        }
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_log_that_can_not_be_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = ServerLog::create(folder.path(), &Secrets::default()).unwrap_err().to_string();
        assert!(error.contains(": failed to begin the server's log: "), "{error}");
    }

    #[test]
    fn words_have_no_colours_and_no_password() {
        let words = "\u{1b}[91m\u{1b}[1mError: \u{1b}[0mbad\tword hunter22\n\u{7}two";
        assert_eq!(without_secrets(words, "hunter22"), "Error: bad\tword redacted\ntwo");
        assert_eq!(without_secrets("a\u{1b}[", ""), "a");
    }
}
