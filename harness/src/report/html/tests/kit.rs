//! The page of a kit, and what the other formats say of one.

use super::{SAID, gate, render, unescaped};
use crate::judge::Verdict;
use crate::report::kit::{KitCell, KitGate, KitJudged, KitMutant, KitProof, KitRow, Pin};
use crate::report::timeline::{Entry, Who};
use crate::report::{GateResult, Report, RequirementState};

const CANNOT: &str = "the adapter does not declare guard.path";

fn kit() -> KitGate {
    let cell = |case: &str, adapter: &str, verdict, pin: Option<Pin>| KitCell {
        case: case.to_owned(),
        about: "A chain of commands is asked about.".to_owned(),
        adapter: adapter.to_owned(),
        plain: false,
        verdict,
        pin,
        troubles: Vec::new(),
        checks: vec![KitJudged {
            check: "segments".to_owned(),
            verdict: Verdict::Fail,
            facts: 2,
            findings: vec![SAID.to_owned()],
            advice: Vec::new(),
        }],
        rerun: format!("standin kit guards --case {case}"),
        timeline: vec![Entry { at_ms: 1.0, who: Who::Person, what: "command/decide <x>".to_owned() }],
    };
    let pin =
        Pin { hazard: "001/prefix".to_owned(), about: "A prefix is no command.".to_owned(), holds: true };
    KitGate {
        kit: "guards".to_owned(),
        about: "Guards & more.".to_owned(),
        subject: "my guard".to_owned(),
        partial: false,
        result: GateResult::Fail,
        counts: [(RequirementState::Failing, 1)].into(),
        requirements: vec![KitRow {
            id: "guards.command.chain".to_owned(),
            about: "Every part of a chain is looked at.".to_owned(),
            feature: "Commands".to_owned(),
            source: "001 §2 bullet 1".to_owned(),
            state: RequirementState::Failing,
            cases: vec![KitProof { case: "command/chain".to_owned(), verdict: Verdict::Fail }],
            reason: None,
        }],
        cells: vec![
            cell("command/chain", "my guard", Verdict::Fail, None),
            cell("command/prefix", "my guard", Verdict::Pass, Some(pin.clone())),
            KitCell {
                troubles: vec![CANNOT.to_owned()],
                ..cell("path/link", "my guard", Verdict::Unsupported, None)
            },
        ],
        mutants: vec![KitMutant {
            name: "by-prefix".to_owned(),
            about: "A prefix is enough.".to_owned(),
            cells: vec![
                cell("command/chain", "by-prefix", Verdict::Pass, None),
                cell("command/prefix", "by-prefix", Verdict::Pass, Some(pin.clone())),
            ],
        }],
        with_mutants: true,
        toothless: Vec::new(),
    }
}

#[test]
fn a_kit_stands_beside_the_gates_and_alone() {
    let alone = Report::of(Vec::new()).with_kits(vec![kit()]);
    assert_eq!(alone.result(), GateResult::Fail);
    assert_eq!(Report::read(&alone.json().unwrap()).unwrap(), alone, "it is read as it is written");
    for report in [alone, Report::of(vec![gate()]).with_kits(vec![kit()])] {
        let has_gates = !report.gates.is_empty();
        let page = render(&report).unwrap();
        assert!(page.contains("<h2 id=\"kit-guards\">"), "{page}");
        assert!(
            page.contains("href=\"#kit-guards-command-chain\"")
                && page.contains("id=\"kit-guards-command-chain\"")
        );
        let words = unescaped(&page);
        assert!(words.contains("expected failure (001/prefix)") && words.contains("A prefix is no command."));
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert_eq!(page.contains("<h2 id=\"phases\">"), has_gates);
        let junit = crate::report::junit::render_gates(&report);
        assert!(junit.contains("<testsuite name=\"guards: my guard\" tests=\"3\" failures=\"1\""), "{junit}");
        let text = crate::report::terminal::render(&report);
        assert!(text.contains("my guard, kit guards: FAIL (1 of 3 cases pass; 1 failing)"), "{text}");
        assert!(text.contains(&format!("1 cases are not asked of it: {CANNOT}\n")), "{text}");
        assert!(!text.contains("unsupported path/link"), "{text}");
        assert!(
            text.contains("The checks of guards catch 1 of 1 mutants."),
            "who fails as it declares is caught"
        );
        let markdown = crate::report::markdown::render_gates(&report);
        assert!(markdown.contains("### Kit guards, my guard: **FAIL** (1 failing)"), "{markdown}");
    }
}
