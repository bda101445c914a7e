//! Cases in which nothing breaks, with an adapter and the real server: what passes with the stand-in and fails here, or
//! the other way round, shows where the stand-in is wrong.

use crate::cells::{self, Finished};
use crate::clock::Limits;
use crate::performance::Program;
use crate::report::Cell;
use crate::runner;
use crate::subject::Subject;
use fixtures::ServerKind;
use fixtures::recording::Recording;
use parity_specs::NamedCase;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many real servers run at once: each needs seconds and much of the machine to begin.
const AT_ONCE: usize = 2;

/// A real server takes its time, above all for its first turn.
#[must_use]
pub fn limits() -> Limits {
    let patience = Duration::from_secs(60);
    Limits { answer: patience, step: patience, settle: patience, ..Limits::default() }
}

/// Runs cases with one subject; a server without a program has no cells.
pub async fn run_cases(
    cases: &[NamedCase],
    programs: &BTreeMap<ServerKind, Program>,
    subject: &Subject,
    limits: &Limits,
    seen: impl Fn(&Cell, Option<Recording>),
) -> Vec<Cell> {
    let cells = cases.iter().flat_map(|named| {
        let servers = named.case.servers.iter();
        servers.filter_map(move |server| programs.get(server).map(|program| (named, *server, program)))
    });
    let run = |(named, server, program)| run_cell(named, server, program, subject, limits);
    cells::run(cells.map(run), AT_ONCE, seen).await
}

/// A real server knows of no scale: a client that waits a tenth of its time for a sign of life hears none.
fn in_real_time(named: &NamedCase) -> NamedCase {
    let mut named = named.clone();
    named.case.time_scale = 1.0;
    named
}

/// Runs and judges one case with one server.
pub async fn run_cell(
    named: &NamedCase,
    server: ServerKind,
    program: &Program,
    subject: &Subject,
    limits: &Limits,
) -> Finished {
    let words = format!(" --against real{}", subject.flag());
    let named = in_real_time(named);
    let cell = cells::unjudged(&named, server, subject.name(), &words);
    cells::judged(cell, runner::run_against(&named, server, program, subject, limits).await)
}
