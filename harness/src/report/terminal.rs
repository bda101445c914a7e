//! A gate's report for the terminal.

use super::{Cell, GateReport, Proof, RequirementState};
use crate::judge::Verdict;
use std::fmt::Write as _;

/// The report as text, the worst last, where the eye is.
#[must_use]
pub fn render(report: &GateReport) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "Phase {}: {}\n", report.phase, report.phase_name);
    for row in &report.requirements {
        let mark = match row.state {
            RequirementState::Proven => "✓",
            RequirementState::Degraded => "◐",
            RequirementState::Owed => "○",
            _ => "✗",
        };
        let _ = writeln!(text, "{mark} {} — {}", row.id, row.about);
        match row.state {
            RequirementState::Proven => {
                let _ = writeln!(text, "    proven by {}", joined(&row.cases));
            }
            RequirementState::Degraded => {
                let reason = row.reason.as_deref().unwrap_or_default();
                let _ = writeln!(text, "    proven by {}\n    {reason}", joined(&row.cases));
            }
            RequirementState::Failing => {
                let (proofs, guilty): (Vec<_>, Vec<_>) =
                    row.cases.iter().cloned().partition(|proof| proof.verdict == Verdict::Pass);
                for proof in guilty {
                    let _ = writeln!(text, "    not proven by {proof}: {}", proof.verdict);
                }
                if !proofs.is_empty() {
                    let _ = writeln!(text, "    proven by {}", joined(&proofs));
                }
            }
            RequirementState::Owed => {
                let _ = writeln!(text, "    owed: {}", row.reason.as_deref().unwrap_or_default());
            }
            RequirementState::OwedButProven => {
                let _ = writeln!(text, "    proven, and yet in parity-specs/debt.toml: delete the entry");
            }
            RequirementState::Missing => {
                let _ = writeln!(
                    text,
                    "    no case proves it, and parity-specs/debt.toml does not say so: add one of the two"
                );
            }
        }
    }
    let caught = report.mutants.iter().filter(|mutant| mutant.is_caught()).count();
    let all = report.mutants.len();
    let _ = match all - caught {
        0 => writeln!(text, "\nThe checks catch all {all} mutants."),
        left => writeln!(text, "\nThe checks catch {caught} of {all} mutants; {left} survive."),
    };
    for fired in &report.triggers {
        let _ = writeln!(text, "✗ {fired}");
    }
    for line in &report.toothless {
        let _ = writeln!(text, "✗ {line}");
    }
    for cell in report.cells.iter().filter(|cell| cell.verdict != Verdict::Pass) {
        let _ = write!(text, "\n{}", failure(cell));
    }
    let _ = writeln!(text, "\n{}", report.result);
    text
}

fn joined(proofs: &[Proof]) -> String {
    proofs.iter().map(Proof::to_string).collect::<Vec<_>>().join(", ")
}

/// A cell that does not pass, with its evidence and the way to run it again.
#[must_use]
pub fn failure(cell: &Cell) -> String {
    let mut text = format!("{} {} ({}, {})\n", cell.verdict, cell.case, cell.server, cell.adapter);
    for trouble in &cell.troubles {
        let _ = writeln!(text, "    {trouble}");
    }
    for judged in cell.checks.iter().filter(|judged| judged.verdict > Verdict::Pass) {
        let _ = writeln!(text, "    {}: {} ({} facts)", judged.check, judged.verdict, judged.facts);
        for finding in &judged.findings {
            let _ = writeln!(text, "      {finding}");
        }
    }
    let _ = writeln!(text, "    again: {}", cell.rerun);
    text
}
