//! Goal: an adapter is judged the same as a process on stdio as in this process. Method: the reference, and a
//! mutant, both ways; the same verdicts, findings and observations.

use crate::STANDIN;
use fixtures::ServerKind;
use harness::clock::Limits;
use harness::gate::run_cell;
use harness::history;
use harness::judge::Verdict;
use harness::protocol::Update;
use harness::report::Cell;
use harness::report::timeline::seen;
use harness::subject::Subject;
use parity_specs::Matrix;
use std::path::PathBuf;

fn program(args: &[&str]) -> Subject {
    Subject::Program {
        program: PathBuf::from(STANDIN),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
    }
}

/// What is found in a cell. How many pieces a text comes in, and so how many facts there are, is not the same twice.
fn found(cell: &Cell) -> Vec<(&str, Verdict, &[String])> {
    cell.checks.iter().map(|judged| (judged.check, judged.verdict, &judged.findings[..])).collect()
}

/// A cell, and what stands on the screen in the end.
async fn judged(case: &str, subject: &Subject) -> (Cell, String) {
    let matrix = Matrix::embedded().unwrap();
    let named = matrix.cases.iter().find(|named| named.name == case).unwrap();
    let finished = run_cell(named, ServerKind::Kilo, subject, &Limits::default()).await;
    let screen = history::screen(&finished.history.unwrap().lines);
    let shown = screen.tasks.into_iter().map(|(task_id, view)| seen(&Update::Timeline { task_id, view }));
    (finished.cell, shown.collect::<Vec<_>>().join("\n"))
}

#[tokio::test]
async fn the_reference_is_the_same_in_process_and_on_stdio() {
    for case in ["turn/write-allowed-once", "reconnect/cut-in-mid-turn"] {
        let (inside, inside_shown) = judged(case, &Subject::Reference).await;
        let (outside, outside_shown) = judged(case, &program(&["adapter"])).await;
        assert_eq!(inside.verdict, Verdict::Pass);
        assert_eq!(
            (outside.verdict, found(&outside), &outside.troubles),
            (inside.verdict, found(&inside), &inside.troubles)
        );
        assert_eq!(inside_shown, outside_shown, "{case}");
    }
}

#[tokio::test]
async fn a_mutant_is_caught_the_same_way_on_stdio() {
    let case = "reconnect/cut-in-mid-turn";
    let (inside, _) = judged(case, &Subject::Mutant("resume_without_refresh".into())).await;
    let (outside, _) = judged(case, &program(&["adapter", "--mutant", "resume_without_refresh"])).await;
    assert_eq!(inside.verdict, Verdict::Fail);
    assert_eq!(found(&inside), found(&outside));
}

#[tokio::test]
async fn programs_that_are_no_adapters_get_a_clear_verdict() {
    let sh =
        |script: &str| Subject::Program { program: "/bin/sh".into(), args: vec!["-c".into(), script.into()] };
    for (subject, expected) in [
        (sh("exit 3"), "ended"),
        (sh("read line; echo nonsense; cat >/dev/null"), "nonsense"),
        (
            sh(
                "read line; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol\":1}}'; cat >/dev/null",
            ),
            "initialize",
        ),
    ] {
        let limits = Limits { answer: std::time::Duration::from_millis(500), ..Limits::default() };
        let matrix = Matrix::embedded().unwrap();
        let finished = run_cell(&matrix.cases[0], ServerKind::Kilo, &subject, &limits).await;
        assert_eq!(finished.cell.verdict, Verdict::Fail, "{subject:?}");
        let troubles = finished.cell.troubles.join("\n");
        assert!(troubles.contains(expected), "{subject:?}: {troubles}");
    }
    let missing = Subject::Program { program: "/nowhere/adapter".into(), args: vec![] };
    let matrix = Matrix::embedded().unwrap();
    let finished = run_cell(&matrix.cases[0], ServerKind::Kilo, &missing, &Limits::default()).await;
    assert_eq!(finished.cell.verdict, Verdict::HarnessError);
    assert!(finished.cell.troubles[0].starts_with("failed to start the adapter /nowhere/adapter"));
}
