//! A phase gate: an adapter through the matrix, for the reference its mutants through the same cases, and the ledger.
//!
//! The gate of a phase holds when every requirement of it is proven, owed or degraded as the plan allows, nothing owed
//! is proven, no trigger fires, and every mutant is caught where a case says so and passes where nothing breaks.
//!
//! * [`judging`] — what comes of it, from cells, recordings and signals.
//! * [`merge`] — reports of parts become one.
//! * [`signals`] — what is known beside the cells.

pub mod judging;
pub mod merge;
pub mod signals;
mod toothless;

use crate::cells::{self, Finished};
use crate::clock::Limits;
use crate::mutants;
use crate::report::{Cell, MutantRow};
use crate::runner::{self, Manner, NotRun};
use crate::subject::Subject;
use crate::virtual_time::{self, Theatre};
use fixtures::ServerKind;
use fixtures::recording::Recording;
use judging::Ran;
use parity_specs::{Matrix, NamedCase, Phase};
use std::path::Path;

/// How many cells run at once. Most of a cell's time is waiting.
const CELLS_AT_ONCE: usize = 12;
/// Broken clients mostly wait for what does not come, until somebody loses patience.
const BROKEN_AT_ONCE: usize = 40;

/// Runs and judges one cell.
pub async fn run_cell(named: &NamedCase, server: ServerKind, subject: &Subject, limits: &Limits) -> Finished {
    let cell = cells::unjudged(named, server, subject.name(), &subject.flag());
    let history = match has_virtual_time(named, server, subject) {
        true => in_virtual_time(named.clone(), server, subject.clone(), *limits).await,
        false => runner::run(named, server, subject, limits).await,
    };
    cells::judged(cell, history)
}

/// Is nothing of this cell in the machine's time? A mutant must be caught for what it does and not for how busy the machine
/// is, and it mostly waits for what does not come.
fn has_virtual_time(named: &NamedCase, server: ServerKind, subject: &Subject) -> bool {
    matches!(subject, Subject::Mutant(_)) && virtual_time::has(named, server)
}

async fn in_virtual_time(
    named: NamedCase,
    server: ServerKind,
    subject: Subject,
    limits: Limits,
) -> Result<Recording, NotRun> {
    let play = move || {
        let theatre = Theatre::new();
        let theatre =
            theatre.map_err(|error| NotRun::Harness(format!("failed to make a folder: {error}")))?;
        theatre.run_within(&named, server, &subject, Manner::default(), &limits)
    };
    let played = tokio::task::spawn_blocking(play).await;
    played.unwrap_or_else(|error| Err(NotRun::Harness(error.to_string())))
}

/// A case with a server and a subject, not run yet.
type Plan<'a> = (&'a NamedCase, ServerKind, &'a Subject);

/// Runs cases with one subject, several at once; the order of the result is that of the cases.
pub async fn run_cases(
    cases: &[NamedCase],
    subject: &Subject,
    limits: &Limits,
    seen: impl Fn(&Cell, Option<Recording>),
) -> Vec<Cell> {
    run_plans(cells_of(cases, subject), CELLS_AT_ONCE, limits, seen).await
}

/// Runs cells, several at once, whoever they belong to; the order of the result is that of the plans.
async fn run_plans(
    plans: Vec<Plan<'_>>,
    at_once: usize,
    limits: &Limits,
    seen: impl Fn(&Cell, Option<Recording>),
) -> Vec<Cell> {
    let run = |(named, server, subject)| run_cell(named, server, subject, limits);
    cells::run(plans.into_iter().map(run), at_once, seen).await
}

fn cells_of<'a>(cases: &'a [NamedCase], subject: &'a Subject) -> Vec<Plan<'a>> {
    let of = |named: &'a NamedCase| named.case.servers.iter().map(move |server| (named, *server, subject));
    cases.iter().flat_map(of).collect()
}

/// Which cells a mutant is run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The cases that say that they catch it, and one plain case.
    Claimed,
    /// All of them.
    All,
}

fn cells_of_mutant<'a>(cases: &'a [NamedCase], subject: &'a Subject, reach: Reach) -> Vec<Plan<'a>> {
    let name = subject.name();
    let all = cells_of(cases, subject);
    if reach == Reach::All {
        return all;
    }
    let plain = all.iter().rfind(|(named, ..)| named.case.plain).copied();
    let claimed = all.into_iter().filter(|(named, ..)| named.case.catches.contains(&name));
    claimed.chain(plain).collect()
}

fn subjects() -> Vec<Subject> {
    mutants::all().iter().map(|mutant| Subject::Mutant(mutant.name.to_owned())).collect()
}

/// What a gate runs.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The phases.
    pub phases: &'a [Phase],
    /// Who is judged.
    pub subject: &'a Subject,
    /// Where the mutants are run; nowhere, when somebody else than the reference is judged.
    pub reach: Option<Reach>,
    /// The cases, with the servers that each is run with: those of the phases, or a part of them.
    pub cases: &'a [NamedCase],
}

/// The cases of the phases.
#[must_use]
pub fn cases_of(matrix: &Matrix, phases: &[Phase]) -> Vec<NamedCase> {
    let asked = |named: &&NamedCase| phases.iter().any(|phase| belongs_to(matrix, named, phase));
    matrix.cases.iter().filter(asked).cloned().collect()
}

/// Runs what a gate asks for. `seen` is told each cell as it is done, `keep` gets the histories.
pub async fn run_gate(
    asked: &Asked<'_>,
    limits: &Limits,
    seen: impl Fn(&Cell),
    keep: impl Fn(&Cell, Recording),
) -> Ran {
    let subjects = if asked.reach.is_some() { subjects() } else { Vec::new() };
    let own = cells_of(asked.cases, asked.subject);
    let reach = asked.reach.unwrap_or(Reach::Claimed);
    let seen_and_kept = |cell: &Cell, history: Option<Recording>| {
        seen(cell);
        if let Some(history) = history {
            keep(cell, history);
        }
    };
    let cells = run_plans(own, CELLS_AT_ONCE, limits, seen_and_kept).await;
    let mut rows: Vec<MutantRow> = mutants::all()
        .into_iter()
        .take(subjects.len())
        .map(|mutant| MutantRow {
            name: mutant.name.to_owned(),
            about: mutant.about.to_owned(),
            cells: Vec::new(),
        })
        .collect();
    let of_mutants = subjects.iter().flat_map(|subject| cells_of_mutant(asked.cases, subject, reach));
    let (played, others): (Vec<Plan<'_>>, Vec<Plan<'_>>) =
        of_mutants.partition(|(named, server, subject)| has_virtual_time(named, *server, subject));
    let (plain, broken): (Vec<Plan<'_>>, Vec<Plan<'_>>) =
        others.into_iter().partition(|(named, ..)| named.case.plain);
    // Who waits for nothing is done the sooner the less it shares the machine.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // Where nothing breaks, a mutant has to keep the bounds of time as the reference has.
    for (plans, at_once) in [(broken, BROKEN_AT_ONCE), (plain, CELLS_AT_ONCE), (played, cores)] {
        for cell in run_plans(plans, at_once, limits, |cell, _| seen(cell)).await {
            if let Some(row) = rows.iter_mut().find(|row| row.name == cell.adapter) {
                row.cells.push(cell);
            }
        }
    }
    let with_mutants = asked.reach.is_some();
    Ran { subject: asked.subject.name(), partition: None, cells, mutants: rows, with_mutants }
}

/// How many cells a gate runs.
#[must_use]
pub fn count_cells(asked: &Asked<'_>) -> usize {
    let subjects = if asked.reach.is_some() { subjects() } else { Vec::new() };
    let reach = asked.reach.unwrap_or(Reach::Claimed);
    let of_mutants =
        subjects.iter().map(|subject| cells_of_mutant(asked.cases, subject, reach).len()).sum::<usize>();
    cells_of(asked.cases, asked.subject).len() + of_mutants
}

/// A phase asks for a case that proves something of it, or something that sends users back in it.
fn belongs_to(matrix: &Matrix, named: &NamedCase, phase: &Phase) -> bool {
    let watched = |id: &String| {
        let mut watching = matrix.triggers.iter().filter(|trigger| trigger.watches.contains(id));
        watching.any(|trigger| trigger.phase <= phase.number)
    };
    let asked = |id: &String| {
        matrix.requirements.get(id).is_some_and(|requirement| requirement.phase <= phase.number)
    };
    named.case.proves.iter().any(|id| asked(id) || watched(id))
}

/// Where a cell's history is kept in a folder of histories.
#[must_use]
pub fn history_path(folder: &Path, cell: &Cell) -> std::path::PathBuf {
    // An adapter's name may be a command: no word of a shell, no folder.
    let adapter = cell.adapter.replace(|letter: char| letter == '/' || letter.is_whitespace(), "-");
    folder.join(format!("{}.{}.{}.jsonl", cell.case, cell.server, adapter))
}

#[cfg(test)]
mod tests;
