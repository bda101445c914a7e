//! Which adapter is judged, as the command line names it.

use super::{FAILS, Failure, mutant, runtime};
use harness::clock::Limits;
use harness::handshake::{NoAdapter, greet};
use harness::say;
use harness::subject::Subject;
use kits::Kit;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code when the program is no adapter, after that was said.
pub(crate) fn refused(subject: &Subject) -> Result<Option<ExitCode>, Failure> {
    if !matches!(subject, Subject::Program { .. }) {
        return Ok(None);
    }
    told(runtime()?.block_on(greet(subject, &Limits::default())), &subject.name(), "adapter")
}

/// As [`refused`], of a kit's adapter.
pub(crate) fn refused_by(
    kit: &'static dyn Kit,
    subject: &kits::gate::Subject,
) -> Result<Option<ExitCode>, Failure> {
    if !matches!(subject, kits::gate::Subject::Program { .. }) {
        return Ok(None);
    }
    let greeted = runtime()?.block_on(kits::handshake::greet(kit, subject, &Limits::default()));
    told(greeted, &subject.name(), &format!("adapter of the kit {}", kit.name()))
}

fn told(greeted: Result<(), NoAdapter>, name: &str, what: &str) -> Result<Option<ExitCode>, Failure> {
    match greeted {
        Ok(()) => Ok(None),
        Err(NoAdapter::CannotStart(why)) => Err(Failure::Misuse(why)),
        Err(NoAdapter::DoesNotSpeak(why)) => {
            say!("fail: {name} is no {what}; no case was run");
            why.lines().for_each(|line| say!("    {line}"));
            Ok(Some(ExitCode::from(FAILS)))
        }
    }
}

/// The adapter that the command line names; the reference when it names none.
pub(crate) fn named(adapter: Option<&str>, mutant_name: Option<&str>) -> Result<Subject, Failure> {
    if let Some(name) = mutant_name {
        return mutant(name).map(|mutant| Subject::Mutant(mutant.name.to_owned()));
    }
    let Some(words) = adapter else { return Ok(Subject::Reference) };
    let (program, args) = command(words)?;
    Ok(Subject::Program { program, args })
}

/// A program and its arguments, as `--adapter` has them.
pub(crate) fn command(words: &str) -> Result<(PathBuf, Vec<String>), Failure> {
    let mut words = words.split_whitespace().map(str::to_owned);
    let program = words.next().ok_or_else(|| Failure::Misuse("--adapter names no program".to_owned()))?;
    let program = PathBuf::from(program);
    // A bare word is looked for in the PATH by the system.
    if program.components().count() > 1 && !program.is_file() {
        return Err(Failure::Misuse(format!("--adapter: there is no program {}", program.display())));
    }
    Ok((program, words.collect()))
}
