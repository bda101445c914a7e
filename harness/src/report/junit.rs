//! Reports as JUnit XML, which every CI can show.

use super::check::{CheckReport, Row, RowVerdict};
use super::kit::KitGate;
use super::{Gate, Report, RequirementRow, RequirementState, notes};
use crate::judge::Verdict;
use std::fmt::Write as _;

/// The report as one suite; a row is a test.
#[must_use]
pub fn render(report: &CheckReport) -> String {
    let failures = report.rows.iter().filter(|row| is_failure(row)).count() + report.baseline.len();
    let errors = report.rows.iter().filter(|row| row.verdict.is_red() && !is_failure(row)).count();
    let skipped = report.rows.iter().filter(|row| is_skipped(row)).count();
    let tests = report.rows.len() + report.baseline.len();
    let name = escaped(&report.subject);
    let counts =
        format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"");
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(xml, "<testsuites name=\"standin check\" {counts}>");
    let _ = writeln!(xml, "  <testsuite name=\"{name}\" {counts}>");
    for row in &report.rows {
        let (area, slug) = row.case.rsplit_once('/').unwrap_or(("", &row.case));
        let head = format!(
            "    <testcase classname=\"{}\" name=\"{} ({})\"",
            escaped(&area.replace('/', ".")),
            escaped(slug),
            row.server
        );
        let lines = row.evidence();
        let first = escaped(row.reason.as_deref().or(lines.first().map(String::as_str)).unwrap_or_default());
        let kind = match row.verdict {
            RowVerdict::Judged(Verdict::Pass) => {
                let _ = writeln!(xml, "{head}/>");
                continue;
            }
            _ if is_skipped(row) => {
                let _ = writeln!(
                    xml,
                    "{head}>\n      <skipped message=\"{}: {first}\"/>\n    </testcase>",
                    row.verdict
                );
                continue;
            }
            _ if is_failure(row) => "failure",
            _ => "error",
        };
        let told = escaped(&format!("{}\nagain: {}", lines.join("\n"), row.rerun));
        let _ = writeln!(
            xml,
            "{head}>\n      <{kind} type=\"{}\" message=\"{first}\">{told}</{kind}>\n    </testcase>",
            row.verdict
        );
    }
    for line in &report.baseline {
        let line = escaped(line);
        let _ = writeln!(
            xml,
            "    <testcase classname=\"baseline\" name=\"{line}\">\n      <failure type=\"baseline\" message=\"{line}\"/>\n    </testcase>"
        );
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

/// A gate's report: a suite an adapter, a test a requirement; triggers that fire and checks that do not bite are tests
/// that fail.
#[must_use]
pub fn render_gates(report: &Report) -> String {
    let mut xml =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"standin gate\">\n");
    for gate in &report.gates {
        let more: Vec<(&str, String)> = extra_failures(gate);
        let count = |wanted: fn(RequirementState) -> Option<bool>, of: Option<bool>| {
            gate.requirements.iter().filter(|row| wanted(row.worst()) == of).count()
        };
        let (tests, failures) = (gate.requirements.len() + more.len(), count(fate, Some(false)) + more.len());
        let (skipped, name) = (count(fate, None), escaped(&gate.subject));
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">"
        );
        gate.requirements.iter().for_each(|row| requirement(row, &mut xml));
        for (class, line) in more {
            let line = escaped(&line);
            let _ = writeln!(
                xml,
                "    <testcase classname=\"{class}\" name=\"{line}\">\n      <failure type=\"{class}\" message=\"{line}\"/>\n    </testcase>"
            );
        }
        xml.push_str("  </testsuite>\n");
    }
    report.kits.iter().for_each(|kit| kit_suite(kit, &mut xml));
    xml.push_str("</testsuites>\n");
    xml
}

/// A kit is a suite, and a case of it a test; what does not bite is a test that fails.
fn kit_suite(kit: &KitGate, xml: &mut String) {
    let count =
        |wanted: Option<bool>| kit.cells.iter().filter(|cell| kit_fate(cell.verdict) == wanted).count();
    let tests = kit.cells.len() + kit.toothless.len();
    let (failures, skipped) = (count(Some(false)) + kit.toothless.len(), count(None));
    let name = escaped(&format!("{}: {}", kit.kit, kit.subject));
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">"
    );
    for cell in &kit.cells {
        let class = escaped(&format!("kit.{}", kit.kit));
        let head = format!("    <testcase classname=\"{class}\" name=\"{}\"", escaped(&cell.case));
        let told = escaped(&super::terminal::kit_failure(cell));
        let _ = match kit_fate(cell.verdict) {
            Some(true) => writeln!(xml, "{head}/>"),
            None => writeln!(xml, "{head}>\n      <skipped message=\"{told}\"/>\n    </testcase>"),
            Some(false) => writeln!(
                xml,
                "{head}>\n      <failure type=\"{}\" message=\"{}\">{told}</failure>\n    </testcase>",
                cell.verdict,
                escaped(&cell.about)
            ),
        };
    }
    for line in &kit.toothless {
        let line = escaped(line);
        let _ = writeln!(
            xml,
            "    <testcase classname=\"toothless\" name=\"{line}\">\n      <failure type=\"toothless\" message=\"{line}\"/>\n    </testcase>"
        );
    }
    xml.push_str("  </testsuite>\n");
}

/// It holds, it does not, or the adapter can't do it.
fn kit_fate(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Pass => Some(true),
        Verdict::Unsupported | Verdict::NotApplicable => None,
        Verdict::Fail | Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError => Some(false),
    }
}

/// It holds, it does not, or it is neither.
fn fate(state: RequirementState) -> Option<bool> {
    match state {
        RequirementState::Proven => Some(true),
        RequirementState::OwedButProven | RequirementState::Missing | RequirementState::Failing => {
            Some(false)
        }
        RequirementState::NotObservable
        | RequirementState::NotEvaluated
        | RequirementState::Degraded
        | RequirementState::Owed => None,
    }
}

fn extra_failures(gate: &Gate) -> Vec<(&'static str, String)> {
    let fired = gate.triggers.iter().filter(|trigger| trigger.fired);
    let fired =
        fired.map(|row| ("trigger", format!("{}: {}. {}", row.id, row.because.join("; "), row.action)));
    fired.chain(gate.toothless.iter().map(|line| ("toothless", line.clone()))).collect()
}

fn requirement(row: &RequirementRow, xml: &mut String) {
    let state = row.worst();
    let class = escaped(&row.feature.replace('/', "."));
    let head = format!("    <testcase classname=\"{class}\" name=\"{}\"", escaped(&row.id));
    let guilty = row.cases.iter().filter(|proof| proof.verdict != Verdict::Pass);
    let guilty = guilty.map(|proof| format!("{proof}: {}", proof.verdict));
    let why: Vec<String> = guilty.chain(notes(row, state)).collect();
    let (about, why) = (escaped(&row.about), escaped(&why.join("\n")));
    let _ = match fate(state) {
        Some(true) => writeln!(xml, "{head}/>"),
        None => writeln!(xml, "{head}>\n      <skipped message=\"{state}: {why}\"/>\n    </testcase>"),
        Some(false) => writeln!(
            xml,
            "{head}>\n      <failure type=\"{state}\" message=\"{about}\">{why}</failure>\n    </testcase>"
        ),
    };
}

fn is_failure(row: &Row) -> bool {
    matches!(row.verdict, RowVerdict::Judged(Verdict::Fail | Verdict::Unsupported))
}

fn is_skipped(row: &Row) -> bool {
    matches!(row.verdict, RowVerdict::ExpectedFailure | RowVerdict::Judged(Verdict::NotApplicable))
}

/// Text for XML; what XML can't hold at all becomes a sign for that.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            sign if sign.is_control() || matches!(sign, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            sign => out.push(sign),
        }
    }
    out
}
