//! Goal: each case is a test of its own, so that whoever runs tests can name it, run it alone, and deal the cases out to
//! several machines (`cargo nextest run --partition count:1/4`); and its snapshot beside it tells what a person sees. The
//! snapshots document; only checks judge. Method: the cases are listed from the matrix, and the reference must pass each
//! with each of its servers.

#![allow(clippy::expect_used, reason = "a test may: its failure is its answer")]

use fixtures::ServerKind;
use fixtures::recording::Recording;
use harness::clock::Limits;
use harness::gate::run_cell;
use harness::history;
use harness::judge::Verdict;
use harness::protocol::Update;
use harness::report::terminal;
use harness::report::timeline::{changed, seen};
use harness::subject::Subject;
use libtest_mimic::{Arguments, Failed, Trial};
use parity_specs::NamedCase;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = match harness::matrix::embedded() {
        Ok(matrix) => matrix.cases.into_iter().map(trial).collect(),
        Err(error) => vec![Trial::test("the matrix is read", move || Err(error.to_string().into()))],
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A case with all of its servers: what differs between them is to be seen side by side.
fn trial(named: NamedCase) -> Trial {
    Trial::test(named.name.clone(), move || {
        let runtime = tokio::runtime::Runtime::new()?;
        let cells = named.case.servers.iter().map(|server| held(&named, *server));
        let cells = runtime.block_on(futures_util::future::try_join_all(cells))?;
        let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (server, observed) in cells {
            shown.entry(observed).or_default().push(server.to_string());
        }
        tells_what_its_snapshot_tells(&named, &shown);
        Ok(())
    })
}

/// What a person saw in this cell, which passed.
async fn held(named: &NamedCase, server: ServerKind) -> Result<(ServerKind, String), Failed> {
    let finished = run_cell(named, server, &Subject::Reference, &Limits::default()).await;
    match (finished.cell.verdict, finished.history) {
        (Verdict::Pass, Some(history)) => Ok((server, observations(named, &history))),
        _ => Err(Failed::from(terminal::failure(&finished.cell))),
    }
}

fn tells_what_its_snapshot_tells(named: &NamedCase, shown: &BTreeMap<String, Vec<String>>) {
    let text: Vec<String> =
        shown.iter().map(|(observed, servers)| format!("== {}\n{observed}", servers.join(", "))).collect();
    let (area, slug) = named.name.rsplit_once('/').expect("a case lies in an area");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../parity-specs/cases").join(area);
    insta::with_settings!({
        snapshot_path => folder,
        prepend_module_to_snapshot => false,
        omit_expression => true,
        description => named.case.about.clone(),
    }, {
        insta::assert_snapshot!(slug, text.join("\n\n"));
    });
}

/// What the person sees: how it went, and what stands on the screen in the end. How text is cut, and whether a thing
/// came by itself or with everything else, is free: it differs from run to run.
fn observations(named: &NamedCase, history: &Recording) -> String {
    let updates = history::updates(&history.lines);
    let went = updates.into_iter().filter(|update| {
        matches!(
            update,
            Update::Connection { .. }
                | Update::Server { .. }
                | Update::Terminal { .. }
                | Update::Error { .. }
        )
    });
    let mut went: Vec<Update> = went.collect();
    // Which of several tasks ends first is free, too.
    for of_tasks in went.chunk_by_mut(|a, b| a.task_id().is_some() && b.task_id().is_some()) {
        of_tasks.sort_by(|a, b| a.task_id().cmp(&b.task_id()));
    }
    // What a server says at its end is the system's, and differs.
    let without_words = |update: &Update| match update {
        Update::Server { state, reason, .. } => {
            Update::Server { state: *state, reason: *reason, message: None }
        }
        update => update.clone(),
    };
    let mut lines: Vec<String> = went.iter().map(|update| seen(&without_words(update))).collect();
    let is_about_changes = named.case.proves.iter().any(|id| id == "diff.shown");
    for (task_id, view) in history::screen(&history.lines).tasks {
        let diff = view.diff.as_ref().filter(|_| is_about_changes).map(changed);
        let diff = diff.map(|diff| format!("{task_id}: {diff}"));
        lines.push(format!("{task_id}: {}", seen(&Update::Timeline { task_id: task_id.clone(), view })));
        lines.extend(diff);
    }
    lines.join("\n").replace("shown anew: ", "")
}
