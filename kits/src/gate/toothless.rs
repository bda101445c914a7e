//! What does not bite: a mutant that nothing catches or that everything hits, a case or a check that catches nobody.

use super::Loaded;
use harness::judge::Verdict;
use harness::report::kit::{KitCell, KitMutant};

/// Everything that proves nothing, in words.
pub(super) fn find(loaded: &Loaded, reference: &[KitCell], mutants: &[KitMutant]) -> Vec<String> {
    let mut found = Vec::new();
    for cell in reference.iter().filter(|cell| cell.verdict == Verdict::Unsupported) {
        found.push(format!(
            "the reference can't do the case {}, so nothing shows that it can be done",
            cell.case
        ));
    }
    for mutant in mutants {
        let wrecked =
            |cell: &&KitCell| cell.plain && !matches!(cell.verdict, Verdict::Pass | Verdict::Unsupported);
        for cell in mutant.cells.iter().filter(wrecked) {
            let (name, case, verdict) = (&mutant.name, &cell.case, cell.verdict);
            found.push(format!(
                "the mutant {name} is {verdict} in the plain case {case}: it is no mutant but a wreck"
            ));
        }
        if !loaded.cases.iter().any(|case| case.head.catches.contains(&mutant.name)) {
            found.push(format!("no case says that it catches the mutant {}: add one", mutant.name));
        }
    }
    for case in &loaded.cases {
        for name in &case.head.catches {
            let cells = mutants.iter().filter(|mutant| mutant.name == *name).flat_map(|mutant| &mutant.cells);
            for cell in cells.filter(|cell| cell.case == case.name) {
                if !loaded.proved_by(case).iter().any(|check| is_red(cell, check)) {
                    let (case, verdict) = (&case.name, cell.verdict);
                    let why = cell.troubles.first().map(|why| format!(": {why}")).unwrap_or_default();
                    found.push(format!(
                        "the case {case} does not catch {name} by a check of what it proves; it is {verdict}{why}"
                    ));
                }
            }
        }
    }
    for check in loaded.kit.checks() {
        let bites = mutants.iter().flat_map(|mutant| &mutant.cells).any(|cell| is_red(cell, check.name));
        if !bites {
            found
                .push(format!("the check {} catches no mutant: add one that it alone can catch", check.name));
        }
    }
    found
}

fn is_red(cell: &KitCell, check: &str) -> bool {
    cell.checks.iter().any(|judged| judged.check == check && judged.verdict == Verdict::Fail)
}
