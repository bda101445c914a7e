//! The pipeline kit holds: its reference passes all cases, each mutant is caught where it is said, and a second run says
//! the same.

#![allow(clippy::unwrap_used, reason = "a test may: its failure is its answer")]

use harness::clock::Limits;
use harness::judge::Verdict;
use harness::report::GateResult;
use kits::gate::{Loaded, Reach, Subject, load};
use kits::pipeline::Pipeline;
use parity_specs::Matrix;
use std::path::PathBuf;

fn loaded() -> Loaded {
    load(&Pipeline, &Matrix::embedded().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_holds_and_every_mutant_is_caught() {
    let loaded = loaded();
    let cases: Vec<_> = loaded.cases.iter().collect();
    let gate = loaded.run(&cases, &Subject::Reference, Reach::Claimed, &Limits::default(), |_| {}).await;
    for cell in gate.cells.iter().filter(|cell| cell.verdict != Verdict::Pass) {
        let red: Vec<_> = cell.checks.iter().filter(|judged| !judged.findings.is_empty()).collect();
        eprintln!("{}: {:?} {:?} {red:?}", cell.case, cell.verdict, cell.troubles);
    }
    assert_eq!(gate.toothless, Vec::<String>::new());
    assert_eq!(gate.result, GateResult::Pass, "{:?}", gate.counts);
}

/// Facts and findings are the same each time: kills come at places, not at times.
#[tokio::test(flavor = "multi_thread")]
async fn two_runs_with_kills_say_the_same() {
    let loaded = loaded();
    let killed = |name: &str| name.starts_with("resume/killed-") && !name.ends_with("every-git");
    let cases: Vec<_> = loaded.cases.iter().filter(|case| killed(&case.name)).collect();
    let mut told = Vec::new();
    for _ in 0..2 {
        let gate = loaded
            .run(&cases, &Subject::Mutant("restart-from-first"), Reach::Nowhere, &Limits::default(), |_| {})
            .await;
        let cells = gate.cells.into_iter().map(|cell| (cell.case, cell.verdict, cell.checks));
        told.push(cells.collect::<Vec<_>>());
    }
    assert_eq!(told[0], told[1]);
    assert!(told[0].iter().any(|(_, verdict, _)| *verdict == Verdict::Fail));
}

/// A program that is no adapter is no pass.
#[tokio::test]
async fn who_says_nothing_does_not_pass() {
    let loaded = loaded();
    let cases: Vec<_> = loaded.cases.iter().filter(|case| case.name == "cleanup/nothing").collect();
    let subject = Subject::Program { program: PathBuf::from("/bin/true"), args: Vec::new() };
    let gate = loaded.run(&cases, &subject, Reach::Nowhere, &Limits::default(), |_| {}).await;
    assert_eq!(gate.cells[0].verdict, Verdict::Fail);
}
