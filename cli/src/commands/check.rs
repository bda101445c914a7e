//! `standin check`: cases with one adapter; the reference without any other named.

use super::{FAILS, Failure, Outcome, runtime, server};
use clap::Args;
use fixtures::ServerKind;
use harness::clock::Limits;
use harness::gate::{history_path, run_cases};
use harness::handshake::{NoAdapter, greet};
use harness::judge::Verdict;
use harness::report::terminal;
use harness::subject::Subject;
use parity_specs::NamedCase;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is checked.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A program that speaks the adapter protocol, with its arguments, separated by spaces.
    #[arg(long, value_name = "COMMAND")]
    adapter: Option<String>,
    /// A mutant of the reference adapter, by its name.
    #[arg(long, conflicts_with = "adapter")]
    mutant: Option<String>,
    /// Only this case, as area/slug. Repeatable.
    #[arg(long = "case")]
    cases: Vec<String>,
    /// Only with this server: kilo or opencode.
    #[arg(long, value_parser = server)]
    server: Option<ServerKind>,
    /// Keep the histories in this folder; `standin judge` judges them again.
    #[arg(long, value_name = "DIR")]
    histories: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let subject = subject(arguments)?;
    let cases = cases(arguments)?;
    let runtime = runtime()?;
    if matches!(subject, Subject::Program { .. }) {
        match runtime.block_on(greet(&subject, &Limits::default())) {
            Ok(()) => {}
            Err(NoAdapter::CannotStart(why)) => return Err(Failure::Misuse(why)),
            Err(NoAdapter::DoesNotSpeak(why)) => {
                println!("fail: {} is no adapter; no case was run", subject.name());
                why.lines().for_each(|line| println!("    {line}"));
                return Ok(ExitCode::from(FAILS));
            }
        }
    }
    let finished = runtime.block_on(run_cases(&cases, &subject, &Limits::default(), |cell| {
        let mark = if cell.verdict == Verdict::Pass { "✓" } else { "✗" };
        println!("{mark} {} {} ({})", cell.verdict, cell.case, cell.server);
    }));
    for run in &finished {
        if run.cell.verdict != Verdict::Pass {
            print!("\n{}", terminal::failure(&run.cell));
        }
        if let (Some(folder), Some(history)) = (&arguments.histories, &run.history) {
            super::write_history(history, &history_path(folder, &run.cell))?;
        }
    }
    let worst = finished.iter().map(|run| run.cell.verdict).max().unwrap_or(Verdict::Untestable);
    let passed = finished.iter().filter(|run| run.cell.verdict == Verdict::Pass).count();
    println!("\n{passed} of {} pass with {}", finished.len(), subject.name());
    Ok(ExitCode::from(super::code_of(worst)))
}

fn subject(arguments: &Arguments) -> Result<Subject, Failure> {
    if let Some(name) = &arguments.mutant {
        return match harness::mutants::find(name) {
            Some(_) => Ok(Subject::Mutant(name.clone())),
            None => {
                let known: Vec<&str> = harness::mutants::all().iter().map(|mutant| mutant.name).collect();
                Err(Failure::Misuse(format!("there is no mutant '{name}'; there are: {}", known.join(", "))))
            }
        };
    }
    let Some(command) = &arguments.adapter else { return Ok(Subject::Reference) };
    let mut words = command.split_whitespace().map(str::to_owned);
    let program = words.next().ok_or_else(|| Failure::Misuse("--adapter names no program".to_owned()))?;
    Ok(Subject::Program { program: PathBuf::from(program), args: words.collect() })
}

fn cases(arguments: &Arguments) -> Result<Vec<NamedCase>, Failure> {
    let matrix = harness::matrix::embedded()?;
    let known = || matrix.cases.iter().map(|named| named.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(unknown) =
        arguments.cases.iter().find(|name| !matrix.cases.iter().any(|named| named.name == **name))
    {
        return Err(Failure::Misuse(format!("there is no case '{unknown}'; there are: {}", known())));
    }
    let wanted = |named: &&NamedCase| arguments.cases.is_empty() || arguments.cases.contains(&named.name);
    let mut cases: Vec<NamedCase> = matrix.cases.iter().filter(wanted).cloned().collect();
    if let Some(only) = arguments.server {
        cases.iter_mut().for_each(|named| named.case.servers.retain(|server| *server == only));
    }
    Ok(cases)
}
