//! One cell, a case with one server and one client, before and after it is judged; and many of them at once.

use crate::judge::{Verdict, judge};
use crate::report::{Cell, timeline};
use crate::runner::NotRun;
use fixtures::ServerKind;
use fixtures::recording::Recording;
use futures_util::StreamExt as _;
use parity_specs::NamedCase;

/// A cell and its history.
#[derive(Debug)]
pub struct Finished {
    /// What is reported.
    pub cell: Cell,
    /// What happened; `None` when the harness could not run it.
    pub history: Option<Recording>,
}

/// A cell of which nothing is known yet. `words` are what follows `standin check` to run it with its client.
pub(crate) fn unjudged(named: &NamedCase, server: ServerKind, client: String, words: &str) -> Cell {
    Cell {
        case: named.name.clone(),
        about: named.case.about.clone(),
        server,
        adapter: client,
        plain: named.case.plain,
        verdict: Verdict::HarnessError,
        troubles: Vec::new(),
        lacks: Vec::new(),
        checks: Vec::new(),
        rerun: format!("standin check --case {} --server {server}{words}", named.name),
        timeline: Vec::new(),
    }
}

/// What an adapter's history makes of its cell, or why there is none.
pub(crate) fn judged(mut cell: Cell, history: Result<Recording, NotRun>) -> Finished {
    match history {
        Ok(history) => {
            let judgement = judge(&history.lines);
            cell.verdict = judgement.verdict;
            cell.troubles = judgement.troubles;
            cell.checks = judgement.checks;
            cell.timeline = timeline::of(&history);
            Finished { cell, history: Some(history) }
        }
        Err(why) => {
            if let NotRun::Unsupported(lacks) = &why {
                cell.verdict = Verdict::Unsupported;
                cell.lacks.clone_from(lacks);
            }
            cell.troubles.push(why.to_string());
            Finished { cell, history: None }
        }
    }
}

/// Runs cells, several at once; the order of the result is theirs. `seen` is told each as it is done, and has its history,
/// which nobody else keeps: all of them together are some gigabytes.
pub(crate) async fn run<F: Future<Output = Finished>>(
    runs: impl IntoIterator<Item = F>,
    at_once: usize,
    seen: impl Fn(&Cell, Option<Recording>),
) -> Vec<Cell> {
    let seen = &seen;
    let runs = runs.into_iter().map(|run| async move {
        let Finished { cell, history } = run.await;
        seen(&cell, history);
        cell
    });
    futures_util::stream::iter(runs).buffered(at_once).collect().await
}
