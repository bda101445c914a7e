//! Who is judged by `standin check`: an adapter, the reference without any other named, or a command as it is.

use super::Arguments;
use crate::commands::{Failure, subject};
use harness::blackbox::Command;
use harness::gate::history_path;
use harness::report::Cell;
use harness::subject::Subject;
use parity_specs::NamedCase;
use std::path::{Path, PathBuf};
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
        let Some(command) = &arguments.command else {
            let named = subject::named(arguments.adapter.as_deref(), arguments.mutant.as_deref());
            return named.map(Self::Adapter);
        };
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
