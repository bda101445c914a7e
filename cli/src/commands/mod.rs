//! The commands, and how they fail.

pub(crate) mod adapter;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod gate;
pub(crate) mod judge;
pub(crate) mod model;
pub(crate) mod record;
pub(crate) mod serve;

use fixtures::error::FileError;
use fixtures::recording::{Recording, Writer};
use fixtures::redact::Redactor;
use fixtures::scenario::Scenario;
use fixtures::{ServerKind, catalog};
use harness::judge::Verdict;
use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// What a command ends with.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// Something fails, as exit code.
pub(crate) const FAILS: u8 = 1;
const MISUSE: u8 = 2;
const COULD_NOT_CHECK: u8 = 3;

/// Why a command did not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was tried and does not hold: exit code 1.
    Fails(String),
    /// The user asked for something that can't be: exit code 2.
    Misuse(String),
    /// It was tried and was not possible: exit code 3.
    CouldNot(String),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Fails(_) => FAILS,
            Self::Misuse(_) => MISUSE,
            Self::CouldNot(_) => COULD_NOT_CHECK,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fails(message) | Self::Misuse(message) | Self::CouldNot(message) => f.write_str(message),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Misuse(error.to_string())
    }
}

/// A scenario by its name, or from a file.
pub(crate) fn scenario(name_or_file: &str) -> Result<Scenario, FileError> {
    let path = Path::new(name_or_file);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let text = std::fs::read_to_string(path).map_err(|error| FileError::io(path, "read it", &error))?;
        return Scenario::parse(path, &text);
    }
    catalog::scenario(name_or_file)
}

/// A runtime for a command that waits.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Runtime::new()
        .map_err(|error| Failure::CouldNot(format!("failed to start a runtime: {error}")))
}

/// Parses `--server`.
pub(crate) fn server(word: &str) -> Result<ServerKind, String> {
    word.parse()
}

/// The exit code for a verdict.
pub(crate) fn code_of(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Fail => FAILS,
        Verdict::Untestable | Verdict::HarnessError => COULD_NOT_CHECK,
    }
}

/// Writes a history without the secrets in it, with the folders above it.
pub(crate) fn write_history(history: &Recording, path: &Path) -> Result<(), Failure> {
    let mut redacted = history.clone();
    Redactor::default().recording(&mut redacted);
    let written = Writer::create(path, &redacted.header).and_then(|mut writer| {
        redacted.lines.iter().try_for_each(|line| writer.push(line))?;
        writer.finish()
    });
    written.map_err(|error| Failure::CouldNot(error.to_string()))
}

/// Writes a file, with the folders above it.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| Failure::CouldNot(format!("failed to write {}: {error}", path.display())))
}
