//! Goal: each case with each server is a test of its own, so that whoever runs tests can name it, run it alone, and deal
//! the cases out to several machines (`cargo nextest run --partition count:1/4`). Method: the cases are listed from the
//! matrix, and the reference must pass each.

use harness::clock::Limits;
use harness::gate::run_cell;
use harness::judge::Verdict;
use harness::report::terminal;
use harness::subject::Subject;
use libtest_mimic::{Arguments, Failed, Trial};
use parity_specs::NamedCase;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = match harness::matrix::embedded() {
        Ok(matrix) => matrix.cases.into_iter().flat_map(trials).collect(),
        Err(error) => vec![Trial::test("the matrix is read", move || Err(error.to_string().into()))],
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A case with each of its servers.
fn trials(named: NamedCase) -> impl Iterator<Item = Trial> {
    let servers = named.case.servers.clone();
    servers.into_iter().map(move |server| {
        let named = named.clone();
        Trial::test(format!("{server}::{}", named.name), move || {
            let runtime = tokio::runtime::Runtime::new()?;
            let finished =
                runtime.block_on(run_cell(&named, server, &Subject::Reference, &Limits::default()));
            match finished.cell.verdict {
                Verdict::Pass => Ok(()),
                _ => Err(Failed::from(terminal::failure(&finished.cell))),
            }
        })
    })
}
