//! Cases in which nothing breaks, with an adapter and the real server: what passes with the stand-in and fails here, or
//! the other way round, shows where the stand-in is wrong.

use crate::clock::Limits;
use crate::gate::Finished;
use crate::judge::{Verdict, judge};
use crate::performance::Program;
use crate::report::{Cell, timeline};
use crate::runner::{self, NotRun};
use crate::subject::Subject;
use fixtures::ServerKind;
use futures_util::StreamExt as _;
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
    seen: impl Fn(&Cell),
) -> Vec<Finished> {
    let seen = &seen;
    let cells = cases.iter().flat_map(|named| {
        let servers = named.case.servers.iter();
        servers.filter_map(move |server| programs.get(server).map(|program| (named, *server, program)))
    });
    let runs = cells.map(|(named, server, program)| async move {
        let finished = run_cell(named, server, program, subject, limits).await;
        seen(&finished.cell);
        finished
    });
    futures_util::stream::iter(runs).buffered(AT_ONCE).collect().await
}

/// Runs and judges one case with one server.
pub async fn run_cell(
    named: &NamedCase,
    server: ServerKind,
    program: &Program,
    subject: &Subject,
    limits: &Limits,
) -> Finished {
    let mut cell = Cell {
        case: named.name.clone(),
        about: named.case.about.clone(),
        server,
        adapter: subject.name(),
        plain: named.case.plain,
        verdict: Verdict::HarnessError,
        troubles: Vec::new(),
        checks: Vec::new(),
        rerun: format!(
            "standin check --against real --case {} --server {server}{}",
            named.name,
            subject.flag()
        ),
        timeline: Vec::new(),
    };
    match runner::run_against(named, server, program, subject, limits).await {
        Ok(history) => {
            let judgement = judge(&history.lines);
            cell.verdict = judgement.verdict;
            cell.troubles = judgement.troubles;
            cell.checks = judgement.checks;
            cell.timeline = timeline::of(&history);
            Finished { cell, history: Some(history) }
        }
        Err(why) => {
            if matches!(why, NotRun::Unsupported(_)) {
                cell.verdict = Verdict::Unsupported;
            }
            cell.troubles.push(why.to_string());
            Finished { cell, history: None }
        }
    }
}
