//! Reports as Markdown, for a comment, a CI summary or a page.

use super::check::CheckReport;
use super::kit::{KitCell, KitGate};
use super::{Cell, Gate, Report, RequirementRow, RequirementState, because, is_unjudged, notes, terminal};
use crate::judge::Verdict;
use std::fmt::Write as _;

/// A table of the rows, and below it what does not hold.
#[must_use]
pub fn render(report: &CheckReport) -> String {
    let mut text = format!("**{}**\n\n", escaped(&report.summary()));
    text.push_str("| case | server | verdict | what does not hold |\n|---|---|---|---|\n");
    for row in &report.rows {
        let checks: Vec<&str> = row.red_checks().map(|judged| judged.check).collect();
        let what = match &row.reason {
            Some(reason) => format!("expected: {reason}"),
            None if row.verdict.counts_as() == Verdict::Pass => String::new(),
            None if checks.is_empty() => row.troubles.join("; "),
            None => checks.join(", "),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} {} | {} |",
            escaped(&row.case),
            row.server,
            row.verdict.mark(),
            row.verdict,
            escaped(&what)
        );
    }
    for line in &report.baseline {
        let _ = writeln!(text, "\n- ✗ {}", escaped(line));
    }
    if !report.unsupported_checks.is_empty() {
        let _ = writeln!(text, "\nUnsupported by this client: {}.", report.unsupported_checks.join(", "));
    }
    for row in report.rows.iter().filter(|row| row.verdict.is_red()) {
        let _ = writeln!(text, "\n<details><summary>{} ({})</summary>\n", escaped(&row.case), row.server);
        // A fence that no finding can close.
        let _ =
            writeln!(text, "~~~~~\n{}\nagain: {}\n~~~~~\n</details>", row.evidence().join("\n"), row.rerun);
    }
    text
}

/// A gate's report: the phases of each adapter, what fires, what does not hold, and what is owed.
#[must_use]
pub fn render_gates(report: &Report) -> String {
    let mut text = format!("## Standin gate: {}\n", report.result());
    for gate in &report.gates {
        let part = gate.partition.as_ref().map(|part| format!(" (part {part} only)")).unwrap_or_default();
        let _ = writeln!(
            text,
            "\n### {}{part}\n\n| phase | result | requirements |\n|---|---|---|",
            escaped(&gate.subject)
        );
        for phase in &gate.phases {
            let counts: Vec<String> =
                phase.counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
            let (number, name) = (phase.number, escaped(&phase.name));
            let _ = writeln!(text, "| {number} {name} | **{}** | {} |", phase.result, counts.join(", "));
        }
        for trigger in gate.triggers.iter().filter(|trigger| trigger.fired) {
            let because: Vec<String> = trigger.because.iter().map(|why| because::line(why, gate)).collect();
            let because = escaped(&because.join("; "));
            let _ = writeln!(
                text,
                "\n- ✗ **the trigger {} fires**: {because}. {}",
                trigger.id,
                escaped(&trigger.action)
            );
        }
        for line in &gate.toothless {
            let _ = writeln!(text, "\n- ✗ {}", escaped(line));
        }
        Section::ALL.iter().for_each(|section| rows(gate, *section, &mut text));
        for cell in gate.cells.iter().filter(|cell| cell.verdict != Verdict::Pass) {
            evidence(cell, &mut text);
        }
    }
    report.kits.iter().for_each(|kit| kit_section(kit, &mut text));
    text
}

fn kit_section(kit: &KitGate, text: &mut String) {
    let (name, subject) = (escaped(&kit.kit), escaped(&kit.subject));
    let _ = writeln!(text, "\n### Kit {name}, {subject}: **{}** ({})", kit.result, kit.counted());
    for line in &kit.toothless {
        let _ = writeln!(text, "\n- ✗ {}", escaped(line));
    }
    if let Some(line) = terminal::not_asked(kit) {
        let _ = writeln!(text, "\n{}", escaped(&line));
    }
    let quiet = |cell: &&KitCell| matches!(cell.verdict, Verdict::Pass | Verdict::Unsupported);
    for cell in kit.cells.iter().filter(|cell| !quiet(cell)) {
        let _ = writeln!(text, "\n<details><summary>{}</summary>\n", escaped(&cell.case));
        let _ = writeln!(text, "~~~~~\n{}~~~~~\n</details>", terminal::kit_failure(cell));
    }
}

/// The requirements that are named one by one. That nobody could judge a requirement is not that it does not hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Red,
    Unjudged,
    Soft,
    NotEvaluated,
}

impl Section {
    const ALL: [Self; 4] = [Self::Red, Self::Unjudged, Self::Soft, Self::NotEvaluated];

    fn title(self) -> &'static str {
        match self {
            Self::Red => "what does not hold",
            Self::Unjudged => "what could not be judged",
            Self::Soft => "what is owed or degraded",
            Self::NotEvaluated => "NOT EVALUATED: only signals of real use show it, and none were given",
        }
    }

    fn of(row: &RequirementRow) -> Option<Self> {
        match row.worst() {
            RequirementState::Failing if is_unjudged(row) => Some(Self::Unjudged),
            RequirementState::Failing | RequirementState::Missing | RequirementState::OwedButProven => {
                Some(Self::Red)
            }
            RequirementState::Owed | RequirementState::Degraded => Some(Self::Soft),
            RequirementState::NotEvaluated => Some(Self::NotEvaluated),
            RequirementState::Proven | RequirementState::NotObservable => None,
        }
    }
}

/// What calls for a look is open, the rest folded.
fn rows(gate: &Gate, section: Section, text: &mut String) {
    let rows: Vec<_> = gate.requirements.iter().filter(|row| Section::of(row) == Some(section)).collect();
    if rows.is_empty() || gate.partition.is_some() {
        return;
    }
    let open = if matches!(section, Section::Red | Section::Unjudged) { " open" } else { "" };
    let _ = writeln!(text, "\n<details{open}><summary>{} — {}</summary>\n", rows.len(), section.title());
    text.push_str("| requirement | state | why |\n|---|---|---|\n");
    for row in rows {
        let guilty = row.cases.iter().filter(|proof| proof.verdict != Verdict::Pass);
        let guilty = guilty.map(|proof| format!("{proof}: {}", proof.verdict));
        let why: Vec<String> = guilty.chain(notes(row, row.worst())).collect();
        let about = escaped(&row.about);
        let state = match section {
            Section::Unjudged => "not judged".to_owned(),
            _ => row.worst().to_string(),
        };
        let _ = writeln!(text, "| `{}` {about} | {state} | {} |", row.id, escaped(&why.join("; ")));
    }
    text.push_str("\n</details>\n");
}

/// A fence that no finding can close.
fn evidence(cell: &Cell, text: &mut String) {
    let (case, server) = (escaped(&cell.case), cell.server);
    let _ = writeln!(text, "\n<details><summary>{}: {case} ({server})</summary>\n", cell.verdict);
    let _ = writeln!(text, "~~~~~\n{}~~~~~\n</details>", terminal::failure(cell));
}

/// In a cell of a table, or a line.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
