//! The guards kit holds: its reference passes all cases, each mutant is caught where it is said, and who follows the plan
//! word for word meets every hazard by its name.

use harness::clock::Limits;
use harness::judge::Verdict;
use harness::report::GateResult;
use kits::gate::{Reach, Subject, load};
use parity_specs::Matrix;

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_holds_and_every_mutant_is_caught() {
    let loaded = load(kits::find("guards").unwrap(), &Matrix::embedded().unwrap()).unwrap();
    let cases: Vec<_> = loaded.cases.iter().collect();
    let gate = loaded.run(&cases, &Subject::Reference, Reach::Claimed, &Limits::default(), |_| {}).await;
    let failed: Vec<_> = gate.cells.iter().filter(|cell| cell.verdict != Verdict::Pass).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!(gate.toothless, Vec::<String>::new());
    assert!(matches!(gate.result, GateResult::Pass | GateResult::PassWithDebt(_)), "{:?}", gate.result);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_follows_the_letter_meets_every_hazard_by_its_name() {
    let loaded = load(kits::find("guards").unwrap(), &Matrix::embedded().unwrap()).unwrap();
    let cases: Vec<_> = loaded.cases.iter().collect();
    let letter = Subject::Mutant("to-the-letter");
    let gate = loaded.run(&cases, &letter, Reach::Nowhere, &Limits::default(), |_| {}).await;
    let told: Vec<String> =
        gate.cells.iter().map(|cell| format!("{:28} {}", cell.case, cell.outcome())).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert_ne!(gate.result, GateResult::Fail);
}
