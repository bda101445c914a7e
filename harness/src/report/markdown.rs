//! A check's report as Markdown, for a comment or a page.

use super::check::CheckReport;
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

/// In a cell of a table, or a line.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
