//! `standin compare A B`: two recordings of one scenario, equal or where not.

use super::{FAILS, Failure, Outcome, read_recording};
use clap::Args;
use fixtures::catalog;
use fixtures::compare::Sides;
use harness::truth::differences;
use harness::{complain, say};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Which recordings.
#[derive(Debug, Args)]
#[command(
    after_help = "Ids, times and paths are replaced by names first; what a server sends at no fixed place
(its declared floats) may stand elsewhere. Each difference is told with its neighbours:

    standin compare before.jsonl after.jsonl

Exit codes: 0 equal, 1 they differ, 2 misuse, a file that can't be read among it."
)]
pub(crate) struct Arguments {
    /// The first recording, a .jsonl file.
    first: PathBuf,
    /// The second recording.
    second: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let first = read_recording(&arguments.first)?;
    let second = read_recording(&arguments.second)?;
    let sides = sides(&arguments.first, &arguments.second);
    if first.header.server != second.header.server {
        return Err(Failure::Misuse(format!(
            "{} was recorded from {}, {} from {}: there is nothing to compare",
            sides.first, first.header.server, sides.second, second.header.server
        )));
    }
    if first.header.scenario != second.header.scenario {
        let (one, two) = (&first.header.scenario, &second.header.scenario);
        complain!("standin: note: {} shows '{one}', {} '{two}': they will differ", sides.first, sides.second);
    }
    let found = differences(&first, &second, &catalog::floats(first.header.server)?);
    if found.is_empty() {
        say!("equal");
        return Ok(ExitCode::SUCCESS);
    }
    found.iter().for_each(|difference| say!("{}", difference.told(&sides)));
    say!(
        "{}",
        if found.len() == 1 { "1 difference".to_owned() } else { format!("{} differences", found.len()) }
    );
    Ok(ExitCode::from(FAILS))
}

/// The files' names, without the folders that both are in.
fn sides(first: &Path, second: &Path) -> Sides {
    let folders = first.components().zip(second.components());
    let both = folders.take_while(|(one, two)| one == two).count();
    let own = |path: &Path| path.components().skip(both).collect::<PathBuf>().display().to_string();
    if own(first).is_empty() || own(second).is_empty() {
        return Sides::new(first.display().to_string(), second.display().to_string());
    }
    Sides::new(own(first), own(second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_named_by_what_tells_them_apart() {
        let named = |first: &str, second: &str| {
            let sides = sides(Path::new(first), Path::new(second));
            (sides.first, sides.second)
        };
        let owned = |first: &str, second: &str| (first.to_owned(), second.to_owned());
        assert_eq!(named("/r/a.jsonl", "/r/b.jsonl"), owned("a.jsonl", "b.jsonl"));
        assert_eq!(named("r/one/a.jsonl", "r/two/a.jsonl"), owned("one/a.jsonl", "two/a.jsonl"));
        assert_eq!(named("a", "a"), owned("a", "a"));
    }
}
