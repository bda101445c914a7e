//! Who is judged by `standin check`: an adapter, the reference without any other named, or a command as it is.

use super::Arguments;
use crate::commands::{FAILS, Failure, mutant, runtime};
use harness::blackbox::Command;
use harness::clock::Limits;
use harness::gate::history_path;
use harness::handshake::{NoAdapter, greet};
use harness::report::Cell;
use harness::say;
use harness::subject::Subject;
use parity_specs::NamedCase;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How many seconds a command may take, unless somebody says otherwise.
const COMMAND_LIMIT_S: u64 = 30;

/// Who is judged.
pub(super) enum Client {
    Adapter(Subject),
    Command(Command),
}

impl Client {
    /// The one that the command line names.
    pub(super) fn of(arguments: &Arguments) -> Result<Self, Failure> {
        let Some(command) = &arguments.command else { return subject(arguments).map(Self::Adapter) };
        let limit = Duration::from_secs(arguments.limit.unwrap_or(COMMAND_LIMIT_S));
        Command::parse(command, limit).map(Self::Command).map_err(Failure::Misuse)
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Adapter(subject) => subject.name(),
            Self::Command(command) => command.name(),
        }
    }

    /// The matrix; for a command its own cases, too.
    pub(super) fn cases(&self) -> Result<Vec<NamedCase>, Failure> {
        let mut cases = harness::matrix::embedded()?.cases;
        if matches!(self, Self::Command(_)) {
            cases.extend(parity_specs::commands::cases()?);
            cases.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Ok(cases)
    }

    /// Where a history is kept. A command's line can be longer than a file's name may be.
    pub(super) fn history_path(&self, folder: &Path, cell: &Cell) -> PathBuf {
        match self {
            Self::Adapter(_) => history_path(folder, cell),
            Self::Command(_) => history_path(folder, &Cell { adapter: "command".to_owned(), ..cell.clone() }),
        }
    }
}

/// The exit code when the program is no adapter, after that was said.
pub(super) fn refused(subject: &Subject) -> Result<Option<ExitCode>, Failure> {
    if !matches!(subject, Subject::Program { .. }) {
        return Ok(None);
    }
    match runtime()?.block_on(greet(subject, &Limits::default())) {
        Ok(()) => Ok(None),
        Err(NoAdapter::CannotStart(why)) => Err(Failure::Misuse(why)),
        Err(NoAdapter::DoesNotSpeak(why)) => {
            say!("fail: {} is no adapter; no case was run", subject.name());
            why.lines().for_each(|line| say!("    {line}"));
            Ok(Some(ExitCode::from(FAILS)))
        }
    }
}

fn subject(arguments: &Arguments) -> Result<Subject, Failure> {
    if let Some(name) = &arguments.mutant {
        return mutant(name).map(|mutant| Subject::Mutant(mutant.name.to_owned()));
    }
    let Some(command) = &arguments.adapter else { return Ok(Subject::Reference) };
    let mut words = command.split_whitespace().map(str::to_owned);
    let program = words.next().ok_or_else(|| Failure::Misuse("--adapter names no program".to_owned()))?;
    let program = PathBuf::from(program);
    // A bare word is looked for in the PATH by the system.
    if program.components().count() > 1 && !program.is_file() {
        return Err(Failure::Misuse(format!("--adapter: there is no program {}", program.display())));
    }
    Ok(Subject::Program { program, args: words.collect() })
}
