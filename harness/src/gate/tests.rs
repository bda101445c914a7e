//! What a gate makes of cells, without running any.

use super::judging::{judge, proof};
use super::merge::{belong_together, merge};
use super::signals::Known;
use super::*;
use crate::checks;
use crate::judge::{Judged, Verdict};
use crate::report::{Gate, GateResult, Report, RequirementState};
use std::path::{Path, PathBuf};

const INDEX: &str = "title = \"P\"\n[[heading]]\nid = \"a\"\ntitle = \"A\"\nbullets = 9\n";

const CASE: &str = "about = \"x\"\nscenario = \"text/plain\"\nproves = [\"a.b\"]\nservers = [\"kilo\"]\n";
const FAULT: &str =
    "[[fault]]\nwhen = { stream = \"event\", after_events = 1 }\ndo = { cut = \"between-frames\" }\n";

/// A matrix with one requirement, a case with a fault and one without, and perhaps a debt.
fn matrix(debt: &str) -> Matrix {
    let requirement = "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nclaims = [\"p §a bullet 1\"]\nphase = 2\nmvp = true\nevidence = \"checked\"\ncheck = \"convergence\"\n[[requirement]]\nid = \"a.c\"\nabout = \"x\"\nclaims = [\"p §a bullet 2\"]\nphase = 2\nmvp = true\nevidence = \"checked\"\n";
    let file = |path: &str, text: String| (PathBuf::from(path), text);
    Matrix::read(&[
        file("plans/p/index.toml", INDEX.to_owned()),
        file("phases.toml", "[[phase]]\nnumber = 2\nname = \"two\"\n".to_owned()),
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
        lacks: Vec::new(),
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
fn report(debt: &str, reference: [Verdict; 2], mutant: [Verdict; 2]) -> Gate {
    let matrix = matrix(debt);
    let mutants = vec![MutantRow { name: "m".into(), about: String::new(), cells: cells(mutant) }];
    let ran = Ran { cells: cells(reference), mutants, with_mutants: true, ..Ran::default() };
    judge(&matrix, &[two()], ran, &Known::default())
}

fn cells([broken, whole]: [Verdict; 2]) -> Vec<Cell> {
    vec![cell("x/broken", false, broken), cell("x/whole", true, whole)]
}

fn two() -> Phase {
    Phase { number: 2, name: "two".into(), adds: Vec::new() }
}

const GOOD: [Verdict; 2] = [Verdict::Pass, Verdict::Pass];
const CAUGHT: [Verdict; 2] = [Verdict::Fail, Verdict::Pass];

#[test]
fn the_gate_holds_when_the_ledger_is_exactly_what_is_missing() {
    let held = report(&owes(&["a.c"]), GOOD, CAUGHT);
    assert_eq!(held.result(), GateResult::PassWithDebt(1));
    assert_eq!(held.result().to_string(), "PASS WITH DEBT (1)");
    let unknown_debt = report("", GOOD, CAUGHT);
    assert_eq!(unknown_debt.result(), GateResult::Fail);
    assert!(unknown_debt.requirements.iter().any(|row| row.worst() == RequirementState::Missing));
    let paid_debt = report(&owes(&["a.b", "a.c"]), GOOD, CAUGHT);
    assert_eq!(paid_debt.result(), GateResult::Fail);
    assert!(paid_debt.requirements.iter().any(|row| row.worst() == RequirementState::OwedButProven));
}

#[test]
fn a_debt_excuses_no_failure() {
    let failing = report(&owes(&["a.b", "a.c"]), [Verdict::Fail, Verdict::Pass], CAUGHT);
    assert_eq!(failing.result(), GateResult::Fail);
    for unseen in [Verdict::Untestable, Verdict::HarnessError] {
        assert_eq!(
            report(&owes(&["a.c"]), [unseen, Verdict::Pass], CAUGHT).result(),
            GateResult::CouldNotCheck
        );
    }
}

#[test]
fn a_row_tells_the_guilty_cell() {
    let verdicts = |report: &Gate| -> Vec<Verdict> {
        report.requirements[0].cases.iter().map(|proof| proof.verdict).collect()
    };
    let one_unseen = report(&owes(&["a.c"]), [Verdict::Untestable, Verdict::Pass], CAUGHT);
    assert_eq!(verdicts(&one_unseen), [Verdict::Untestable, Verdict::Pass]);
    let told = crate::report::terminal::render(&Report::of(vec![one_unseen]));
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
    assert_eq!(survivor.result(), GateResult::Fail);
    let told = survivor.toothless.join("\n");
    for expected in ["the case x/broken (kilo) does not catch m", "the check convergence catches no mutant"] {
        assert!(told.contains(expected), "{told}");
    }
    let wreck = report(&debt, GOOD, [Verdict::Fail, Verdict::Fail]);
    assert_eq!(wreck.result(), GateResult::Fail);
    let told = wreck.toothless.join("\n");
    assert!(told.contains("the mutant m is fail in the plain case x/whole"), "{told}");
    let unseen = report(&debt, GOOD, [Verdict::HarnessError, Verdict::Pass]);
    assert_eq!(unseen.result(), GateResult::CouldNotCheck);
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
    for (number, ids, count) in [(1, &[][..], 0), (2, &["a.b"], 1), (3, &["a.b", "a.c"], 2)] {
        let phases = [Phase { number, name: "p".into(), adds: Vec::new() }];
        let rows = judge(&matrix, &phases, Ran::default(), &Known::default()).requirements;
        assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ids);
        let cases = cases_of(&matrix, &phases);
        let cells = |reach| {
            count_cells(&Asked { phases: &phases, subject: &Subject::Reference, reach, cases: &cases })
        };
        // None of the mutants is claimed, and the first plain case is one of two cases.
        let plain = usize::from(number == 3) * mutants::all().len();
        assert_eq!(cells(Some(Reach::Claimed)), count + plain);
        assert_eq!(cells(Some(Reach::All)), count * (1 + mutants::all().len()));
        assert_eq!(cells(None), count);
    }
}

/// The rows of `a.b` and the phase's result when its case does this, with more words in its requirement.
fn of_kind(more: &str, verdict: Verdict, known: &Known) -> (RequirementState, GateResult) {
    let gate = judged_with(more, cell("x/whole", true, verdict), known);
    (gate.requirements[0].worst(), gate.result())
}

fn judged_with(more: &str, whole: Cell, known: &Known) -> Gate {
    judge(&watched(more), &[two()], Ran { cells: vec![whole], ..Ran::default() }, known)
}

fn watched(more: &str) -> Matrix {
    let requirement = format!(
        "title = \"A\"\nowner = \"o\"\n[[requirement]]\nid = \"a.b\"\nabout = \"x\"\nclaims = [\"p §a bullet 1\"]\nphase = 2\n{more}\n"
    );
    let trigger = "[[trigger]]\nid = \"t\"\nabout = \"x\"\nclaims = [\"p §a bullet 2\"]\nphase = 2\nwatches = [\"a.b\"]\naction = \"stop\"\nsignal = { name = \"s\", of = \"sum\", more_than = 3, by = \"plan\" }\n";
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    Matrix::read(&[
        file("plans/p/index.toml", INDEX),
        file("requirements/a.toml", &requirement),
        file("triggers.toml", trigger),
        file("cases/x/whole.toml", CASE),
    ])
    .unwrap()
}

#[test]
fn what_is_missing_as_the_plan_allows_is_degraded_and_no_longer_than_that() {
    let until = |until: u32| {
        let more = format!(
            "evidence = \"checked\"\ncheck = \"convergence\"\ndegraded = {{ until = {until}, principle = 2, shows = \"nothing\" }}"
        );
        move |verdict| of_kind(&more, verdict, &Known::default())
    };
    assert_eq!(until(2)(Verdict::Unsupported), (RequirementState::Degraded, GateResult::Pass));
    assert_eq!(until(1)(Verdict::Unsupported), (RequirementState::Failing, GateResult::Fail));
    assert_eq!(until(2)(Verdict::Fail), (RequirementState::Failing, GateResult::Fail));
    assert_eq!(until(2)(Verdict::Pass), (RequirementState::Proven, GateResult::Pass));
}

#[test]
fn what_takes_something_of_a_later_phase_is_asked_for_by_then() {
    let mut matrix = matrix(&owes(&["a.c"]));
    let phase = |number, adds: &[&str]| Phase {
        number,
        name: "p".into(),
        adds: adds.iter().map(|word| (*word).to_owned()).collect(),
    };
    matrix.phases = vec![phase(2, &[]), phase(3, &["permissions"])];
    let state = |broken: &[&str], whole: Verdict, number: usize| {
        let lacks = broken.iter().map(|word| (*word).to_owned()).collect();
        let broken = Cell { lacks, ..cell("x/broken", false, Verdict::Unsupported) };
        let ran = Ran { cells: vec![broken, cell("x/whole", true, whole)], ..Ran::default() };
        let phases = [matrix.phases[number - 2].clone()];
        judge(&matrix, &phases, ran, &Known::default()).requirements[0].worst()
    };
    let (pass, fail) = (Verdict::Pass, Verdict::Fail);
    assert_eq!(state(&["permissions"], pass, 2), RequirementState::Proven);
    assert_eq!(state(&["permissions"], fail, 2), RequirementState::Failing);
    assert_eq!(state(&["permissions"], pass, 3), RequirementState::Failing, "now it is asked for");
    assert_eq!(state(&["permissions", "chat"], pass, 2), RequirementState::Failing, "chat was due");
    assert_eq!(
        state(&["permissions"], Verdict::Unsupported, 2),
        RequirementState::Failing,
        "what is due is asked for"
    );
}

#[test]
fn data_and_signals_prove_what_no_cell_can() {
    let data = "evidence = \"data-only\"\nrests_on = [\"7.1/frames\"]";
    let holds = Known { holds: Some(["a.b".to_owned()].into()), ..Known::default() };
    assert_eq!(of_kind(data, Verdict::Pass, &holds), (RequirementState::Proven, GateResult::Pass));
    let none = Known { holds: Some([].into()), ..Known::default() };
    assert_eq!(of_kind(data, Verdict::Pass, &none), (RequirementState::Failing, GateResult::Fail));
    let (state, _) = of_kind(data, Verdict::Pass, &Known::default());
    assert_eq!(state, RequirementState::NotEvaluated, "a part does not ask the recordings");
    let production = "evidence = \"production\"\nwhy = \"only use shows it\"";
    let signals = |value: u64| {
        let signal = signals::Signal { name: "s".into(), value, ..signals::Signal::default() };
        Known { signals: vec![signal], ..Known::default() }
    };
    let of = |known: &Known| of_kind(production, Verdict::Pass, known);
    assert_eq!(of(&Known::default()), (RequirementState::NotEvaluated, GateResult::Pass));
    assert_eq!(of(&signals(3)), (RequirementState::Proven, GateResult::Pass));
    assert_eq!(of(&signals(4)), (RequirementState::Failing, GateResult::Fail));
    let patient = Known { thresholds: [("t".to_owned(), 4)].into(), ..signals(4) };
    assert_eq!(of(&patient).1, GateResult::Pass, "a threshold of the user's own");
}

#[test]
fn a_trigger_fires_for_what_it_watches_and_says_what_to_do() {
    let more = "evidence = \"checked\"\ncheck = \"convergence\"";
    assert_eq!(of_kind(more, Verdict::Fail, &Known::default()).1, GateResult::Fail);
    let matrix = matrix(&owes(&["a.c"]));
    assert_eq!(matrix.triggers, []);
    let (_, result) = of_kind("evidence = \"not-observable\"\nwhy = \"w\"", Verdict::Pass, &{
        let signal = signals::Signal { name: "s".into(), value: 4, ..signals::Signal::default() };
        Known { signals: vec![signal], ..Known::default() }
    });
    assert_eq!(result, GateResult::Fail, "a signal fires it, whatever the cells say");
}

#[test]
fn parts_are_judged_as_a_whole_and_a_missing_one_is_told() {
    let matrix = matrix(&owes(&["a.c"]));
    let part = |partition: &str, cells: &[Cell]| {
        let mutant = MutantRow {
            name: "m".into(),
            about: String::new(),
            cells: cells
                .iter()
                .map(|c| cell(&c.case, c.plain, if c.plain { Verdict::Pass } else { Verdict::Fail }))
                .collect(),
        };
        let ran = Ran {
            subject: "reference".into(),
            partition: Some(partition.to_owned()),
            cells: cells.to_vec(),
            mutants: vec![mutant],
            with_mutants: true,
        };
        Report::of(vec![judge(&matrix, &[two()], ran, &Known::default())])
    };
    let all = cells(GOOD);
    let (first, second) = (part("1/2", &all[..1]), part("2/2", &all[1..]));
    assert_eq!(first.result(), GateResult::Pass, "a part is judged by its cells alone");
    let read = |report: &Report| Report::read(&report.json().unwrap()).unwrap();
    let merged = merge(&matrix, vec![read(&second), read(&first)], &Known::default()).unwrap();
    assert_eq!(
        merged.gates[0],
        Gate { subject: "reference".into(), ..report(&owes(&["a.c"]), GOOD, CAUGHT) }
    );
    let told = |reports| merge(&matrix, reports, &Known::default()).unwrap_err();
    assert_eq!(told(vec![first.clone()]), "of reference, the part 2/2 is missing");
    assert_eq!(
        told(vec![first.clone(), first.clone()]),
        "of reference, 1/2 is there twice: give each report once"
    );
    let (one, two) = (Path::new("one/report.json"), Path::new("two/report.json"));
    assert_eq!(belong_together(&[(one, &first), (two, &second)]), Ok(()));
    let overlaps = part("2/2", &all);
    let told = belong_together(&[(one, &first), (two, &overlaps)]).unwrap_err();
    let expected = "two/report.json: the cell x/broken (kilo) of reference is in one/report.json, too: parts have no cell in common";
    assert!(told.starts_with(expected), "{told}");
    let foreign = Report { by: "standin 9.9.9".into(), ..second };
    let told = belong_together(&[(one, &first), (two, &foreign)]).unwrap_err();
    assert!(
        told.starts_with("two/report.json: it was written by standin 9.9.9, and this is standin "),
        "{told}"
    );
}

#[test]
fn what_holds_by_a_decision_alone_is_told_until_its_time_is_over() {
    let more = |until: u32| {
        format!(
            "evidence = \"checked\"\ncheck = \"convergence\"\ndegraded = {{ until = {until}, decision = 4, shows = \"less\" }}"
        )
    };
    let accepted = |until: u32| {
        let mut whole = cell("x/whole", true, Verdict::Pass);
        whole.checks[0].degraded.push("7 paths".to_owned());
        let gate = judged_with(&more(until), whole, &Known::default());
        (gate.requirements[0].worst(), crate::report::terminal::render(&Report::of(vec![gate])))
    };
    let (state, told) = accepted(2);
    assert_eq!(state, RequirementState::Degraded);
    assert!(told.contains("    allowed until phase 2 by decision 4: less\n    7 paths"), "{told}");
    assert_eq!(accepted(1).0, RequirementState::Proven, "another requirement asks for the rest by then");
}

#[test]
fn a_trigger_fires_for_its_check_in_whatever_case() {
    let mut elsewhere = cell("x/elsewhere", false, Verdict::Pass);
    elsewhere.checks[0].verdict = Verdict::Fail;
    let mut matrix = watched("evidence = \"checked\"\ncheck = \"convergence\"");
    for asked_in in [2, 3] {
        matrix.requirements.get_mut("a.b").unwrap().phase = asked_in;
        let ran = Ran { cells: vec![elsewhere.clone()], ..Ran::default() };
        let gate = judge(&matrix, &[two()], ran, &Known::default());
        assert_eq!(gate.triggers[0].because, ["a.b does not hold in x/elsewhere (kilo)"]);
        assert_eq!(gate.phases[0].fired, ["t"], "also before a phase asks for it");
    }
}

#[test]
fn a_trigger_does_not_fire_for_another_check_nor_for_what_could_not_be_seen() {
    let more = "evidence = \"checked\"\ncheck = \"convergence\"";
    let trigger = |cell: Cell, known: &Known| {
        let mut gate = judged_with(more, cell, known);
        (gate.triggers.remove(0), gate.phases[0].result)
    };
    // Another check is red in the case that is to prove it.
    let other = Cell { verdict: Verdict::Fail, ..cell("x/whole", true, Verdict::Pass) };
    let (row, result) = trigger(other, &Known::default());
    assert_eq!((row.fired, row.untold, result), (false, vec![], GateResult::Fail));
    let (row, result) = trigger(cell("x/whole", true, Verdict::Unknown), &Known::default());
    assert_eq!(
        (row.fired, row.untold),
        (false, vec!["a.b could not be checked in x/whole (kilo)".to_owned()])
    );
    assert_eq!(result, GateResult::CouldNotCheck);
    let signal = signals::Signal { name: "s".into(), value: 4, ..signals::Signal::default() };
    let (row, result) = trigger(
        cell("x/whole", true, Verdict::Unknown),
        &Known { signals: vec![signal], ..Known::default() },
    );
    assert_eq!(
        (row.fired, result),
        (true, GateResult::Fail),
        "what has fired is sure, whatever could not be seen"
    );
}
