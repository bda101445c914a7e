//! `standin check`: cases with one adapter; the reference without any other named.

use super::{FAILS, Failure, Outcome, mutant, runtime, words, writable_folder};
use clap::Args;
use fixtures::ServerKind;
use fixtures::near_names::unknown;
use harness::clock::Limits;
use harness::gate::{history_path, run_cases};
use harness::handshake::{NoAdapter, greet};
use harness::judge::Verdict;
use harness::report::terminal;
use harness::say;
use harness::subject::Subject;
use parity_specs::NamedCase;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is checked.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case is performed by the embedded stand-in with the adapter in front of it, a fault in
its way, and the history is judged. The adapter is the reference unless you name yours:

    standin check
    standin check --case reconnect/cut-in-mid-turn --server kilo --histories h
    standin check --adapter 'node my-adapter.js --verbose'
    standin check --mutant resume_without_refresh     (fails: that mutant has the mistake)

Exit codes: 0 all pass, 1 a case fails, or the program ends or speaks otherwise at the first words, 2 misuse,
a folder that can't be written among it, 3 a case could not be examined."
)]
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
    #[arg(long, value_parser = words::server)]
    server: Option<ServerKind>,
    /// Keep the histories in this folder; `standin judge` judges them again.
    #[arg(long, value_name = "DIR")]
    histories: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let subject = subject(arguments)?;
    let cases = cases(arguments)?;
    if let Some(folder) = &arguments.histories {
        writable_folder(folder, "--histories")?;
    }
    let runtime = runtime()?;
    if matches!(subject, Subject::Program { .. }) {
        match runtime.block_on(greet(&subject, &Limits::default())) {
            Ok(()) => {}
            Err(NoAdapter::CannotStart(why)) => return Err(Failure::Misuse(why)),
            Err(NoAdapter::DoesNotSpeak(why)) => {
                say!("fail: {} is no adapter; no case was run", subject.name());
                why.lines().for_each(|line| say!("    {line}"));
                return Ok(ExitCode::from(FAILS));
            }
        }
    }
    let finished = runtime.block_on(run_cases(&cases, &subject, &Limits::default(), |cell| {
        let mark = if cell.verdict == Verdict::Pass { "✓" } else { "✗" };
        say!("{mark} {} {} ({})", cell.verdict, cell.case, cell.server);
    }));
    for run in &finished {
        if run.cell.verdict != Verdict::Pass {
            say::text(&format!("\n{}", terminal::failure(&run.cell)));
        }
        if let (Some(folder), Some(history)) = (&arguments.histories, &run.history) {
            super::write_history(history, &history_path(folder, &run.cell))?;
        }
    }
    let worst = finished.iter().map(|run| run.cell.verdict).max().unwrap_or(Verdict::Untestable);
    let passed = finished.iter().filter(|run| run.cell.verdict == Verdict::Pass).count();
    say!("\n{passed} of {} pass with {}", finished.len(), subject.name());
    Ok(ExitCode::from(super::code_of(worst)))
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

fn cases(arguments: &Arguments) -> Result<Vec<NamedCase>, Failure> {
    let matrix = harness::matrix::embedded()?;
    let known: Vec<&str> = matrix.cases.iter().map(|named| named.name.as_str()).collect();
    if let Some(wrong) = arguments.cases.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::Misuse(unknown("case", wrong, &known)));
    }
    let wanted = |named: &&NamedCase| arguments.cases.is_empty() || arguments.cases.contains(&named.name);
    let mut cases: Vec<NamedCase> = matrix.cases.iter().filter(wanted).cloned().collect();
    if let Some(only) = arguments.server {
        cases.iter_mut().for_each(|named| named.case.servers.retain(|server| *server == only));
        if cases.iter().all(|named| named.case.servers.is_empty()) {
            return Err(Failure::Misuse(format!(
                "none of these cases is run with {only}: leave --server out"
            )));
        }
    }
    Ok(cases)
}
