//! `standin kit`: the cases of a kit with an adapter that speaks its protocol, or with the kit's reference and its mutants.

use super::report::{Format, write};
use super::select::wanted;
use super::subject::{command, refused_by};
use super::{Failure, Outcome, runtime, writable_folder, write_history};
use clap::Args;
use fixtures::near_names::unknown;
use fixtures::recording::Recording;
use harness::clock::Limits;
use harness::report::Report;
use harness::report::kit::KitGate;
use harness::say;
use indicatif::{ProgressBar, ProgressStyle};
use kits::Kit;
use kits::case::Case;
use kits::gate::{Finished, Loaded, Reach, Subject, load};
use parity_specs::Matrix;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

/// Which kit, for whom.
#[derive(Debug, Args)]
#[command(
    after_help = "A kit judges one kind of system: guards of paths and commands, rewinds, pipelines, clients
of agents. Its adapters are programs that speak JSON-RPC in lines (docs/kits.md); what yours can't do is not
asked of it.

    standin kit                                            which kits there are
    standin kit guards --list                              its cases, and what they show
    standin kit guards --adapter 'python3 my_guard.py'
    standin kit guards --adapter 'python3 my_guard.py' --case command/chain --histories h
    standin kit guards                                     its reference adapter and its mutants

An adapter that declares that it follows a rule to the letter which is wrong by its own aim is expected to
fail in the cases that show it: such a failure is told with the hazard's name and is green; that it passes
is red.

DIR then holds report.json, report.html, report.md and junit.xml. Exit codes: 0 all holds (with debt,
too), 1 something does not, 2 misuse, 3 something could not be checked."
)]
pub(crate) struct Arguments {
    /// The kit; without one, all of them are named.
    kit: Option<String>,
    /// A program that speaks the kit's protocol, with its arguments, separated by spaces.
    #[arg(long, value_name = "COMMAND", requires = "kit")]
    adapter: Option<String>,
    /// A mutant of the kit's reference adapter, by its name.
    #[arg(long, conflicts_with = "adapter", requires = "kit")]
    mutant: Option<String>,
    /// Only this case, as area/slug, or an area's, as area. Repeatable.
    #[arg(long = "case", value_name = "CASE", requires = "kit")]
    cases: Vec<String>,
    /// Say which cases there are, one a line, and run none.
    #[arg(long, requires = "kit")]
    list: bool,
    /// Run each mutant in every case, not only in those that say that they catch it.
    #[arg(long, conflicts_with_all = ["adapter", "mutant"])]
    all_mutants: bool,
    /// Keep the histories in this folder.
    #[arg(long, value_name = "DIR")]
    histories: Option<PathBuf>,
    /// The folder for the reports.
    #[arg(long, value_name = "DIR", default_value = "standin-kit")]
    out: PathBuf,
    /// What is printed.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let Some(name) = &arguments.kit else {
        for kit in kits::all() {
            say!("{:10} {}", kit.name(), kit.about());
        }
        return Ok(ExitCode::SUCCESS);
    };
    let loaded = load(named(name)?, &harness::matrix::embedded()?)?;
    let cases = chosen(&loaded, &arguments.cases)?;
    if arguments.list {
        for case in &cases {
            say!("{:32} {}", case.name, case.head.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let subject = subject(loaded.kit, arguments)?;
    let reach = match subject {
        Subject::Reference if arguments.all_mutants => Reach::Everywhere,
        Subject::Reference if arguments.cases.is_empty() => Reach::Claimed,
        _ => Reach::Nowhere,
    };
    writable_folder(&arguments.out, "--out")?;
    if let Some(code) = refused_by(loaded.kit, &subject)? {
        return Ok(code);
    }
    let bar = ProgressBar::new(u64::try_from(loaded.count(&cases, reach)).unwrap_or(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let (gate, histories) = runtime()?.block_on(run_kit(&loaded, &cases, &subject, reach, &bar));
    bar.finish_and_clear();
    if let Some(folder) = &arguments.histories {
        for (name, history) in &histories {
            write_history(history, &folder.join(format!("{name}.jsonl")))?;
        }
    }
    write(&Report::of(Vec::new()).with_kits(vec![gate]), &arguments.out, arguments.format)
}

/// All kits with their reference adapters and their mutants, for the gate.
pub(super) fn run_all(matrix: &Matrix, bar: &ProgressBar) -> Result<(Vec<KitGate>, Histories), Failure> {
    let mut gates = Vec::new();
    let mut histories = Vec::new();
    for kit in kits::all() {
        let loaded = load(kit, matrix)?;
        let cases: Vec<&Case> = loaded.cases.iter().collect();
        bar.inc_length(u64::try_from(loaded.count(&cases, Reach::Claimed)).unwrap_or(0));
        let ran = run_kit(&loaded, &cases, &Subject::Reference, Reach::Claimed, bar);
        let (gate, kept) = runtime()?.block_on(ran);
        gates.push(gate);
        histories.extend(kept);
    }
    Ok((gates, histories))
}

/// By `kit/adapter/case`.
type Histories = Vec<(String, Recording)>;

async fn run_kit(
    loaded: &Loaded,
    cases: &[&Case],
    subject: &Subject,
    reach: Reach,
    bar: &ProgressBar,
) -> (KitGate, Histories) {
    let kept = Mutex::new(Vec::new());
    let seen = |finished: &Finished| {
        bar.set_message(format!("{} {}", finished.cell.adapter, finished.cell.case));
        bar.inc(1);
        // A program's name has its arguments and its folders; it is one subject, so it needs none here.
        let adapter = match subject {
            Subject::Program { .. } => "adapter",
            Subject::Reference | Subject::Mutant(_) => &finished.cell.adapter,
        };
        let name = format!("{}/{adapter}/{}", loaded.kit.name(), finished.cell.case);
        if let (Some(history), Ok(mut kept)) = (&finished.history, kept.lock()) {
            kept.push((name, history.clone()));
        }
    };
    let gate = loaded.run(cases, subject, reach, &Limits::default(), seen).await;
    (gate, kept.into_inner().unwrap_or_default())
}

/// The kit of a name.
pub(super) fn named(name: &str) -> Result<&'static dyn Kit, Failure> {
    kits::find(name).ok_or_else(|| {
        let known: Vec<&str> = kits::all().iter().map(|kit| kit.name()).collect();
        Failure::Misuse(unknown("kit", name, &known))
    })
}

/// The mutant of a name.
pub(super) fn mutant(kit: &dyn Kit, name: &str) -> Result<&'static str, Failure> {
    let known: Vec<&'static str> = kit.mutants().iter().map(|mutant| mutant.name).collect();
    let found = known.iter().find(|known| **known == name).copied();
    found.ok_or_else(|| Failure::Misuse(unknown(&format!("mutant of the kit {}", kit.name()), name, &known)))
}

fn subject(kit: &dyn Kit, arguments: &Arguments) -> Result<Subject, Failure> {
    match (&arguments.adapter, &arguments.mutant) {
        (Some(words), _) => {
            let (program, args) = command(words)?;
            Ok(Subject::Program { program, args })
        }
        (None, Some(name)) => Ok(Subject::Mutant(mutant(kit, name)?)),
        (None, None) => Ok(Subject::Reference),
    }
}

fn chosen<'a>(loaded: &'a Loaded, names: &[String]) -> Result<Vec<&'a Case>, Failure> {
    let known: Vec<&str> = loaded.cases.iter().map(|case| case.name.as_str()).collect();
    let wanted = wanted(&known, names)?;
    Ok(loaded.cases.iter().filter(|case| wanted(&case.name)).collect())
}
