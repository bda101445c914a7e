//! A report for the terminal: what stands out first, the result last, where the eye is.

use super::kit::{KitCell, KitGate};
use super::{Cell, Gate, Proof, Report, RequirementRow, RequirementState, because, notes};
use crate::judge::Verdict;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The report as text.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for gate in &report.gates {
        render_gate(gate, &mut text);
    }
    for kit in &report.kits {
        render_kit(kit, &mut text);
    }
    let _ = match &report.gates[..] {
        [gate] if gate.partition.is_some() && report.kits.is_empty() => {
            let part = gate.partition.as_deref().unwrap_or_default();
            writeln!(text, "\n{} cells of part {part}: {}", gate.cells.len(), report.result())
        }
        _ => writeln!(text, "\n{}", report.result()),
    };
    text
}

fn render_gate(gate: &Gate, text: &mut String) {
    let mut last = None;
    for row in &gate.requirements {
        let state = row.worst();
        if gate.partition.is_some() || is_quiet(state) {
            continue;
        }
        if last != Some(&row.feature) {
            let title = gate.features.iter().find(|feature| feature.name == row.feature);
            let _ = writeln!(text, "\n{}", title.map_or(row.feature.as_str(), |feature| &feature.title));
            last = Some(&row.feature);
        }
        requirement(row, state, text);
    }
    if gate.with_mutants {
        let caught = gate.mutants.iter().filter(|mutant| mutant.is_caught()).count();
        let all = gate.mutants.len();
        let _ = match all - caught {
            0 => writeln!(text, "\nThe checks catch all {all} mutants."),
            left => writeln!(text, "\nThe checks catch {caught} of {all} mutants; {left} survive."),
        };
    }
    for line in &gate.toothless {
        let _ = writeln!(text, "✗ {line}");
    }
    for cell in gate.cells.iter().filter(|cell| cell.verdict != Verdict::Pass) {
        let _ = write!(text, "\n{}", failure(cell));
    }
    for trigger in gate.triggers.iter().filter(|trigger| trigger.fired) {
        let because: Vec<String> = trigger.because.iter().map(|why| because::line(why, gate)).collect();
        let _ = writeln!(text, "\n✗ the trigger {} fires: {}", trigger.id, because.join("; "));
        let _ = writeln!(text, "    the plan prescribes: {}", trigger.action);
    }
    if gate.partition.is_none() {
        phases(gate, text);
    }
}

fn render_kit(kit: &KitGate, text: &mut String) {
    let loud = kit.requirements.iter().filter(|row| !is_quiet(row.state));
    let loud: Vec<_> = loud.filter(|row| !(kit.partial && row.state == RequirementState::Missing)).collect();
    if !loud.is_empty() {
        let _ = writeln!(text, "\nKit {}", kit.kit);
    }
    for row in loud {
        let mark = if matches!(row.state, RequirementState::Owed | RequirementState::Degraded) {
            "○"
        } else {
            "✗"
        };
        let _ = writeln!(text, "{mark} {} — {} ({})", row.id, row.about, row.state);
        if let Some(reason) = &row.reason {
            let _ = writeln!(text, "    {reason}");
        }
    }
    if kit.with_mutants {
        let caught = kit.mutants.iter().filter(|mutant| mutant.is_caught()).count();
        let _ =
            writeln!(text, "\nThe checks of {} catch {caught} of {} mutants.", kit.kit, kit.mutants.len());
    }
    for line in &kit.toothless {
        let _ = writeln!(text, "✗ {line}");
    }
    let loud = |cell: &&KitCell| cell.verdict != Verdict::Unsupported;
    let told = kit.cells.iter().filter(loud);
    for cell in told.filter(|cell| cell.verdict != Verdict::Pass || cell.pin.is_some()) {
        let _ = write!(text, "\n{}", kit_failure(cell));
    }
    if let Some(line) = not_asked(kit) {
        let _ = writeln!(text, "\n{line}");
    }
    let count = |verdict| kit.cells.iter().filter(|cell| cell.verdict == verdict).count();
    let (pass, all) = (count(Verdict::Pass), kit.cells.len());
    let _ = writeln!(
        text,
        "\n{}, kit {}: {} ({pass} of {all} cases pass; {})",
        kit.subject,
        kit.kit,
        kit.result,
        kit.counted()
    );
}

/// What an adapter can't do is told once, and not case by case.
#[must_use]
pub fn not_asked(kit: &KitGate) -> Option<String> {
    let left = kit.cells.iter().filter(|cell| cell.verdict == Verdict::Unsupported);
    let why: Vec<&str> = left.flat_map(|cell| &cell.troubles).map(String::as_str).collect();
    let different: BTreeSet<&str> = why.iter().copied().collect();
    let different: Vec<&str> = different.into_iter().collect();
    (!why.is_empty()).then(|| format!("{} cases are not asked of it: {}", why.len(), different.join("; ")))
}

/// A cell of a kit that does not pass, or fails as expected, with its evidence and the way to run it again.
#[must_use]
pub fn kit_failure(cell: &KitCell) -> String {
    let mut text = format!("{} {} ({})\n", cell.outcome(), cell.case, cell.adapter);
    if let Some(pin) = &cell.pin {
        let _ = writeln!(text, "    {}", pin.about);
    }
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

/// Proven, or of a kind that nothing here can show: the counts say it, and the page has them all.
fn is_quiet(state: RequirementState) -> bool {
    matches!(
        state,
        RequirementState::Proven | RequirementState::NotObservable | RequirementState::NotEvaluated
    )
}

fn phases(gate: &Gate, text: &mut String) {
    let _ = writeln!(text, "\n{}", gate.subject);
    for phase in &gate.phases {
        let counts: Vec<String> =
            phase.counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
        let fired = match phase.fired.as_slice() {
            [] => String::new(),
            fired => format!("; fires: {}", fired.join(", ")),
        };
        let (number, name, result) = (phase.number, &phase.name, phase.result);
        let _ = writeln!(text, "  phase {number}, {name}: {result} ({}{fired})", counts.join(", "));
    }
}

fn requirement(row: &RequirementRow, state: RequirementState, text: &mut String) {
    let mark = match state {
        RequirementState::Owed | RequirementState::Degraded => "○",
        _ => "✗",
    };
    let _ = writeln!(text, "{mark} {} — {}", row.id, row.about);
    let (proofs, guilty): (Vec<_>, Vec<_>) =
        row.cases.iter().cloned().partition(|proof| proof.verdict == Verdict::Pass);
    for proof in guilty {
        let _ = writeln!(text, "    not proven by {proof}: {}", proof.verdict);
    }
    if !proofs.is_empty() {
        let _ = writeln!(text, "    proven by {}", joined(&proofs));
    }
    for note in notes(row, state) {
        let _ = writeln!(text, "    {note}");
    }
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
