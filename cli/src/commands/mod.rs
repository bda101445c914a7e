//! The commands, and how they fail.

pub(crate) mod acp;
pub(crate) mod adapter;
pub(crate) mod check;
pub(crate) mod cloud;
pub(crate) mod compare;
pub(crate) mod corpus;
pub(crate) mod drift;
pub(crate) mod gate;
pub(crate) mod judge;
pub(crate) mod kit;
pub(crate) mod model;
pub(crate) mod probe;
pub(crate) mod record;
pub(crate) mod report;
mod select;
pub(crate) mod serve;
mod service;
mod stage;
pub(crate) mod stand_for;
mod subject;
mod surroundings;
pub(crate) mod sweep;
pub(crate) mod tell;
pub(crate) mod words;

use fixtures::catalog;
use fixtures::error::{FileError, io_words};
use fixtures::near_names::unknown;
use fixtures::recording::{Recording, Writer};
use fixtures::redact::Redactor;
use fixtures::scenario::Scenario;
use harness::complain;
use harness::judge::Verdict;
use harness::mutants::Mutant;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

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
        ExitCode::from(self.code())
    }

    fn code(&self) -> u8 {
        match self {
            Self::Fails(_) => FAILS,
            Self::Misuse(_) => MISUSE,
            Self::CouldNot(_) => COULD_NOT_CHECK,
        }
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
    if words::is_file_name(name_or_file, ".toml") {
        let path = Path::new(name_or_file);
        return Scenario::parse(path, &read_text(path)?);
    }
    catalog::scenario(name_or_file).map_err(|mut error| {
        if Path::new(name_or_file).is_file() {
            error.message = format!("{}; for the file of that name write ./{name_or_file}", error.message);
        }
        error
    })
}

/// More than anybody writes by hand; a device without an end is longer.
const LONGEST_TEXT: u64 = 4 * 1024 * 1024;

/// The text of a file that a person wrote.
pub(crate) fn read_text(path: &Path) -> Result<String, FileError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_TEXT + 1).read_to_string(&mut text));
    let length = read.map_err(|error| FileError::io(path, "read it", &error))?;
    if u64::try_from(length).is_ok_and(|length| length > LONGEST_TEXT) {
        return Err(FileError::whole(path, "longer than 4 MiB: is it the file that you mean?"));
    }
    Ok(text)
}

/// A file of Standin's format. Where a kill tore its last line off, that is said.
pub(crate) fn read_recording(path: &Path) -> Result<Recording, FileError> {
    let recording = Recording::read(path)?;
    if recording.torn {
        complain!("standin: note: {} ends in the middle of a line; that line is left out", path.display());
    }
    Ok(recording)
}

/// A mutant by its name.
pub(crate) fn mutant(name: &str) -> Result<Mutant, Failure> {
    harness::mutants::find(name).ok_or_else(|| {
        let known: Vec<&str> = harness::mutants::all().iter().map(|mutant| mutant.name).collect();
        Failure::Misuse(unknown("mutant", name, &known))
    })
}

/// A runtime for a command that waits.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Runtime::new()
        .map_err(|error| Failure::CouldNot(format!("failed to start a runtime: {error}")))
}

/// Listens from now on for who ends the program politely; the future waits for that. Whoever reads the ready line may
/// do so at once.
pub(crate) fn told_to_end() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| Failure::CouldNot(format!("failed to wait for signals: {error}")))
    };
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// The exit code for a verdict.
pub(crate) fn code_of(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Pass => 0,
        Verdict::Fail | Verdict::Unsupported => FAILS,
        Verdict::NotApplicable | Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError => {
            COULD_NOT_CHECK
        }
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
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).map_err(|error| {
        Failure::CouldNot(format!("failed to write {}: {}", path.display(), io_words(&error)))
    })
}

/// Makes a folder and tries to write in it: better told before long work than after it. A folder that can't be
/// written is misuse, as a file is that can't be read.
pub(crate) fn writable_folder(path: &Path, option: &str) -> Result<(), Failure> {
    let why = if path.exists() && !path.is_dir() {
        "it is a file, and a folder is wanted".to_owned()
    } else {
        match std::fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path)) {
            Ok(_) => return Ok(()),
            Err(error) => io_words(&error),
        }
    };
    let place = path.display();
    Err(Failure::Misuse(format!("failed to write in {place}: {why}; name another place with {option}")))
}

/// As [`writable_folder`], for the folder of a file.
pub(crate) fn writable_file(path: &Path, option: &str) -> Result<(), Failure> {
    if path.is_dir() {
        let place = path.display();
        let why =
            format!("failed to write {place}: it is a folder, and a file is wanted; name one with {option}");
        return Err(Failure::Misuse(why));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    writable_folder(folder.unwrap_or(Path::new(".")), option)
}
