//! The rewind kit holds: its reference passes all cases, and each mutant is caught where it is said.

use harness::clock::Limits;
use harness::judge::Verdict;
use harness::report::GateResult;
use kits::gate::{Reach, Subject, load};
use kits::rewind::Rewind;
use parity_specs::Matrix;

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_holds_and_every_mutant_is_caught() {
    let loaded = load(&Rewind, &Matrix::embedded().unwrap()).unwrap();
    let cases: Vec<_> = loaded.cases.iter().collect();
    let gate = loaded.run(&cases, &Subject::Reference, Reach::Claimed, &Limits::default(), |_| {}).await;
    for cell in gate.cells.iter().filter(|cell| cell.verdict != Verdict::Pass) {
        eprintln!("{}: {:?} {:?} {:?}", cell.case, cell.verdict, cell.troubles, cell.checks);
    }
    assert_eq!(gate.toothless, Vec::<String>::new());
    assert_eq!(gate.result, GateResult::Pass, "{:?}", gate.counts);
}

/// Who follows the plan word for word fails where a case names the hazard, and nowhere else.
#[tokio::test(flavor = "multi_thread")]
async fn who_follows_the_letter_meets_every_hazard_by_its_name() {
    let loaded = load(&Rewind, &Matrix::embedded().unwrap()).unwrap();
    let cases: Vec<_> = loaded.cases.iter().collect();
    let letter = Subject::Mutant("to-the-letter");
    let gate = loaded.run(&cases, &letter, Reach::Nowhere, &Limits::default(), |_| {}).await;
    let told: Vec<String> =
        gate.cells.iter().map(|cell| format!("{:26} {}", cell.case, cell.outcome())).collect();
    let red: Vec<String> = gate
        .cells
        .iter()
        .filter(|cell| cell.verdict == harness::judge::Verdict::Fail)
        .map(|cell| {
            format!(
                "{} {:?}",
                cell.case,
                cell.checks
                    .iter()
                    .filter(|judged| judged.verdict == harness::judge::Verdict::Fail)
                    .map(|judged| &judged.check)
                    .collect::<Vec<_>>()
            )
        })
        .collect();
    assert_eq!(red, Vec::<String>::new());
    insta::assert_snapshot!(told.join("\n"));
    assert_ne!(gate.result, GateResult::Fail);
}
