//! What a gate makes of cells, without running any.

use super::*;
use crate::checks;
use crate::judge::Judged;
use std::path::PathBuf;

const CASE: &str = "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\nservers = [\"kilo\"]\n";
const FAULT: &str =
    "[[fault]]\nwhen = { stream = \"event\", after_events = 1 }\ndo = { cut = \"between-frames\" }\n";

/// A matrix with one requirement, a case with a fault and one without, and perhaps a debt.
fn matrix(debt: &str) -> Matrix {
    let requirement = "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nsource = \"s\"\nphase = 2\nmvp = true\nevidence = \"checked\"\ncheck = \"convergence\"\n[[requirement]]\nid = \"a.c\"\nabout = \"x\"\nsource = \"s\"\nphase = 2\nmvp = true\nevidence = \"checked\"\n";
    let file = |path: &str, text: String| (PathBuf::from(path), text);
    Matrix::read(&[
        file("requirements/a.toml", requirement.to_owned()),
        file("cases/x/broken.toml", format!("{CASE}catches = [\"m\"]\n{FAULT}")),
        file("cases/x/whole.toml", format!("{CASE}plain = true\n")),
        file("debt.toml", debt.to_owned()),
    ])
    .unwrap()
}

fn owes(ids: &[&str]) -> String {
    ids.iter().map(|id| format!("[[debt]]\nrequirement = \"{id}\"\nreason = \"r\"\n")).collect()
}

fn cell(case: &str, plain: bool, verdict: Verdict) -> Cell {
    Cell {
        case: case.to_owned(),
        about: String::new(),
        server: ServerKind::Kilo,
        adapter: String::new(),
        plain,
        verdict,
        troubles: Vec::new(),
        checks: checks::all()
            .iter()
            .map(|check| Judged { facts: 1, ..Judged::unseen(check.name, verdict) })
            .collect(),
        rerun: String::new(),
        timeline: Vec::new(),
    }
}

/// The report when the reference and one mutant do this in the broken and in the whole case.
fn report(debt: &str, reference: [Verdict; 2], mutant: [Verdict; 2]) -> GateReport {
    let matrix = matrix(debt);
    let phase = Phase { number: 2, name: "two".into() };
    let cells =
        |[broken, whole]: [Verdict; 2]| vec![cell("x/broken", false, broken), cell("x/whole", true, whole)];
    let mutants = vec![MutantRow { name: "m".into(), about: String::new(), cells: cells(mutant) }];
    judge_gate(&matrix, &phase, &matrix.cases, cells(reference), mutants)
}

const GOOD: [Verdict; 2] = [Verdict::Pass, Verdict::Pass];
const CAUGHT: [Verdict; 2] = [Verdict::Fail, Verdict::Pass];

#[test]
fn the_gate_holds_when_the_ledger_is_exactly_what_is_missing() {
    let held = report(&owes(&["a.c"]), GOOD, CAUGHT);
    assert_eq!(held.result, GateResult::PassWithDebt(1));
    assert_eq!(held.result.to_string(), "PASS WITH DEBT (1)");
    let unknown_debt = report("", GOOD, CAUGHT);
    assert_eq!(unknown_debt.result, GateResult::Fail);
    assert!(unknown_debt.requirements.iter().any(|row| row.state == RequirementState::Missing));
    let paid_debt = report(&owes(&["a.b", "a.c"]), GOOD, CAUGHT);
    assert_eq!(paid_debt.result, GateResult::Fail);
    assert!(paid_debt.requirements.iter().any(|row| row.state == RequirementState::OwedButProven));
}

#[test]
fn a_debt_excuses_no_failure() {
    let failing = report(&owes(&["a.b", "a.c"]), [Verdict::Fail, Verdict::Pass], CAUGHT);
    assert_eq!(failing.result, GateResult::Fail);
    for unseen in [Verdict::Untestable, Verdict::HarnessError] {
        assert_eq!(
            report(&owes(&["a.c"]), [unseen, Verdict::Pass], CAUGHT).result,
            GateResult::CouldNotCheck
        );
    }
}

#[test]
fn a_row_tells_the_guilty_cell() {
    let verdicts = |report: &GateReport| -> Vec<Verdict> {
        report.requirements[0].cases.iter().map(|proof| proof.verdict).collect()
    };
    let one_unseen = report(&owes(&["a.c"]), [Verdict::Untestable, Verdict::Pass], CAUGHT);
    assert_eq!(verdicts(&one_unseen), [Verdict::Untestable, Verdict::Pass]);
    let told = crate::report::terminal::render(&one_unseen);
    assert!(
        told.contains("not proven by x/broken (kilo): untestable\n    proven by x/whole (kilo)\n"),
        "{told}"
    );
    // A cell may pass and prove nothing of what this requirement's check is about.
    let mut passing = cell("x/whole", true, Verdict::Pass);
    passing.checks[0].verdict = Verdict::NotApplicable;
    assert_eq!(proof(&passing, Some("convergence")).verdict, Verdict::Untestable);
}

#[test]
fn what_does_not_bite_fails_the_gate() {
    let debt = owes(&["a.c"]);
    let survivor = report(&debt, GOOD, GOOD);
    assert_eq!(survivor.result, GateResult::Fail);
    let told = survivor.toothless.join("\n");
    for expected in ["the case x/broken (kilo) does not catch m", "the check convergence catches no mutant"] {
        assert!(told.contains(expected), "{told}");
    }
    let wreck = report(&debt, GOOD, [Verdict::Fail, Verdict::Fail]);
    assert_eq!(wreck.result, GateResult::Fail);
    let told = wreck.toothless.join("\n");
    assert!(told.contains("the mutant m is fail in the plain case x/whole"), "{told}");
    let unseen = report(&debt, GOOD, [Verdict::HarnessError, Verdict::Pass]);
    assert_eq!(unseen.result, GateResult::CouldNotCheck);
}

#[test]
fn a_mutant_that_nobody_claims_and_a_case_that_claims_nobody_are_told() {
    let mut matrix = matrix(&owes(&["a.c"]));
    matrix.cases[0].case.catches.clear();
    let row = MutantRow { name: "m".into(), about: String::new(), cells: Vec::new() };
    let told = toothless::find(&matrix, &matrix.cases, &[row]).join("\n");
    for expected in ["no case says that it catches the mutant m", "the case x/broken catches no mutant"] {
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn red_for_another_reason_is_not_caught() {
    let matrix = matrix(&owes(&["a.c"]));
    let mut caught = cell("x/broken", false, Verdict::Fail);
    for judged in &mut caught.checks {
        judged.verdict = if judged.check == "prefix" { Verdict::Fail } else { Verdict::Pass };
    }
    let row = MutantRow { name: "m".into(), about: String::new(), cells: vec![caught] };
    let told = toothless::find(&matrix, &matrix.cases, &[row]).join("\n");
    assert!(
        told.contains("does not catch m by a check of what it proves: it is fail, red is [prefix]"),
        "{told}"
    );
}

#[test]
fn a_phase_asks_for_nothing_of_a_later_one() {
    let mut matrix = matrix("");
    matrix.requirements.get_mut("a.c").unwrap().phase = 3;
    matrix.cases[1].case.proves = vec!["a.c".to_owned()];
    for (number, ids, cells) in [(1, &[][..], 0), (2, &["a.b"], 1), (3, &["a.b", "a.c"], 2)] {
        let phase = Phase { number, name: "p".into() };
        let rows = judge_gate(&matrix, &phase, &[], Vec::new(), Vec::new()).requirements;
        assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ids);
        // None of the mutants is claimed, and the first plain case is one of two cases.
        let plain = usize::from(number == 3) * mutants::all().len();
        assert_eq!(count_cells(&matrix, &phase, Reach::Claimed), cells + plain);
        assert_eq!(count_cells(&matrix, &phase, Reach::All), cells * (1 + mutants::all().len()));
    }
}

#[test]
fn a_trigger_fails_the_gate_of_every_phase_and_a_decision_degrades_until_its_time_is_over() {
    let mut matrix = matrix(&owes(&["a.c"]));
    let trigger = parity_specs::Trigger {
        id: "t".into(),
        about: "It is out.".into(),
        source: "s".into(),
        check: "escape".into(),
        then: "Back.".into(),
    };
    matrix.triggers.push(trigger);
    let degraded = parity_specs::Degraded { until: 3, by: "decision 9".into() };
    matrix.requirements.get_mut("a.b").unwrap().degraded = Some(degraded);
    let judge = |number: u32, escape: Verdict| {
        let phase = Phase { number, name: "p".into() };
        let mut cells = vec![cell("x/broken", false, Verdict::Pass), cell("x/whole", true, Verdict::Pass)];
        for judged in cells.iter_mut().flat_map(|cell| &mut cell.checks) {
            match judged.check {
                "convergence" => judged.degraded.push("7 paths".to_owned()),
                "escape" => judged.verdict = escape,
                _ => {}
            }
        }
        let caught = vec![cell("x/broken", false, Verdict::Fail), cell("x/whole", true, Verdict::Pass)];
        let mutants = vec![MutantRow { name: "m".into(), about: String::new(), cells: caught }];
        judge_gate(&matrix, &phase, &matrix.cases, cells, mutants)
    };
    let accepted = judge(2, Verdict::Pass);
    assert_eq!(accepted.requirements[0].state, RequirementState::Degraded);
    assert_eq!(accepted.result, GateResult::PassWithDebt(1), "it is green, and told");
    let told = crate::report::terminal::render(&accepted);
    assert!(told.contains("    degraded (decision 9): 7 paths"), "{told}");
    assert_eq!(judge(3, Verdict::Pass).requirements[0].state, RequirementState::Proven);
    for phase in 1..4 {
        let fired = judge(phase, Verdict::Fail);
        assert_eq!(fired.result, GateResult::Fail);
        let told = crate::report::terminal::render(&fired);
        assert!(
            told.contains("the trigger t has fired in x/broken (kilo), x/whole (kilo): It is out."),
            "{told}"
        );
    }
}
