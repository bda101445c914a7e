//! `standin check`: cases with one adapter, the reference without any other named; or with a command as it is.

mod client;
mod real;

use super::select::{Partition, select};
use super::subject::refused;
use super::{Failure, Outcome, read_text, runtime, words, writable_folder};
use clap::{Args, ValueEnum};
use client::Client;
use fixtures::ServerKind;
use fixtures::recording::Recording;
use harness::against;
use harness::baseline::Baseline;
use harness::blackbox;
use harness::clock::Limits;
use harness::gate::run_cases;
use harness::report::Cell;
use harness::report::check::{CheckReport, Row};
use harness::report::{junit, markdown};
use harness::say;
use indicatif::{ProgressBar, ProgressStyle};
use parity_specs::NamedCase;
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;

/// What is checked.
#[derive(Debug, Args)]
#[command(
    after_help = "Each case is performed by the embedded stand-in with the adapter in front of it, a fault in
its way, and the history is judged. The adapter is the reference unless you name yours (docs/adapters.md):

    standin check
    standin check --list
    standin check --case reconnect/cut-in-mid-turn --server kilo --histories h
    standin check --adapter 'node my-adapter.js --verbose' --format junit > report.xml
    standin check --adapter 'node my-adapter.js' --baseline known.toml --partition 1/4
    standin check --mutant resume_without_refresh     (fails: that mutant has the mistake)
    standin check --command 'my-client --attach {url} -u {user} -p {password} {prompt}'

A command needs no adapter: it is started once a case, in a folder of its own ({folder}; the server's is
{workspace}), without input, and judged by what it prints, how it ends and what it asks. What a person does
beside prompting it can't do, and such cases are not applicable.

    standin check --against real      (the cases in which nothing breaks, with the real servers)

A baseline lists what is known not to hold; what fails beside it is red, and so is an entry that passes:

    [[expected]]
    case = \"reconnect/cut-in-mid-turn\"
    server = \"kilo\"            # both when left out
    check = \"convergence\"      # the case as a whole when left out
    verdict = \"fail\"           # or \"unsupported\"
    reason = \"The stream is not opened again.\"

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
    /// A client as it is, with its arguments; {url}, {prompt} and such stand for values.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["adapter", "mutant"])]
    command: Option<String>,
    /// How many seconds a command may take.
    #[arg(long, value_name = "SECONDS", requires = "command", value_parser = clap::value_parser!(u64).range(1..=3600))]
    limit: Option<u64>,
    /// Play the cases in which nothing breaks with the real server: is the stand-in wrong?
    #[arg(long, value_enum, conflicts_with = "command")]
    against: Option<Against>,
    /// The folder whose node_modules hold the real servers, filled by npm [default: the user's cache].
    #[arg(long, value_name = "DIR", requires = "against")]
    npm_dir: Option<PathBuf>,
    /// Only this case, as area/slug, or an area's, as area. Repeatable.
    #[arg(long = "case", value_name = "CASE")]
    cases: Vec<String>,
    /// Only with this server: kilo or opencode.
    #[arg(long, value_parser = words::server)]
    server: Option<ServerKind>,
    /// Only a part of the cases, as 2/3.
    #[arg(long, value_name = "K/N", value_parser = Partition::parse)]
    partition: Option<Partition>,
    /// Say which cases would be run, one a line with its server, and run none.
    #[arg(long)]
    list: bool,
    /// What is known not to hold, with reasons.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Keep the histories in this folder; `standin judge` judges them again.
    #[arg(long, value_name = "DIR")]
    histories: Option<PathBuf>,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Against {
    /// The vendor's own program, with the scripted model.
    Real,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: a line a case as it is done, then what does not hold.
    Text,
    /// For programs.
    Json,
    /// For CI.
    Junit,
    /// For a comment.
    Markdown,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let client = Client::of(arguments)?;
    let all = client.cases()?;
    let playable =
        if arguments.against.is_some() { real::playable(&all, &arguments.cases)? } else { all.clone() };
    let cases = select(&playable, &arguments.cases, arguments.server, arguments.partition)?;
    if arguments.list {
        for named in &cases {
            named.case.servers.iter().for_each(|server| say!("{} {server}", named.name));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let baseline = match &arguments.baseline {
        Some(path) => Baseline::read(path, &read_text(path)?, &all, &blackbox::NAMES)?,
        None => Baseline::default(),
    };
    if let Some(folder) = &arguments.histories {
        writable_folder(folder, "--histories")?;
    }
    if cases.is_empty() {
        // A part may be smaller than the number of parts; there is nothing wrong with that.
        say!("0 cases: this part is empty");
        return Ok(ExitCode::SUCCESS);
    }
    if let Client::Adapter(subject) = &client
        && let Some(code) = refused(subject)?
    {
        return Ok(code);
    }
    let (limits, runtime) = (Limits::default(), runtime()?);
    let shown = Shown::new(arguments.format, &cases, &baseline);
    // They are written when all is done: to write them takes the time of those who are watched.
    let kept = RefCell::new(Vec::new());
    let seen = |cell: &Cell, history: Option<Recording>| {
        shown.cell(cell);
        if let (Some(folder), Some(history)) = (&arguments.histories, history) {
            kept.borrow_mut().push((client.history_path(folder, cell), history));
        }
    };
    let cells = match &client {
        Client::Adapter(subject) if arguments.against.is_some() => {
            let programs = real::programs(&cases, arguments.npm_dir.as_deref())?;
            runtime.block_on(against::run_cases(&cases, &programs, subject, &against::limits(), seen))
        }
        Client::Adapter(subject) => runtime.block_on(run_cases(&cases, subject, &limits, seen)),
        Client::Command(command) => runtime.block_on(blackbox::run_cases(&cases, command, &limits, seen)),
    };
    shown.bar.finish_and_clear();
    for (path, history) in kept.into_inner() {
        super::write_history(&history, &path)?;
    }
    report(arguments, &client, &cells, &baseline)
}

/// Says what came of it, and gives the exit code.
fn report(arguments: &Arguments, client: &Client, cells: &[Cell], baseline: &Baseline) -> Outcome {
    let report = CheckReport::of(client.name(), cells, baseline);
    say::text(&match arguments.format {
        Format::Text => report.text(),
        Format::Json => report
            .json()
            .map_err(|error| Failure::CouldNot(format!("failed to write the report: {error}")))?,
        Format::Junit => junit::render(&report),
        Format::Markdown => markdown::render(&report),
    });
    Ok(ExitCode::from(super::code_of(report.verdict)))
}

/// What is seen while the cases are run: a bar on a terminal, and in text a line a case.
struct Shown<'a> {
    bar: ProgressBar,
    lines: bool,
    baseline: &'a Baseline,
}

impl<'a> Shown<'a> {
    fn new(format: Format, cases: &[NamedCase], baseline: &'a Baseline) -> Self {
        let count: usize = cases.iter().map(|named| named.case.servers.len()).sum();
        let bar = ProgressBar::new(u64::try_from(count).unwrap_or(0));
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        Self { bar, lines: format == Format::Text, baseline }
    }

    fn cell(&self, cell: &Cell) {
        if self.lines {
            let row = Row::of(cell, self.baseline);
            self.bar.suspend(|| say!("{}", row.line()));
        }
        self.bar.set_message(format!("{} ({})", cell.case, cell.server));
        self.bar.inc(1);
    }
}
