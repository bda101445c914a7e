//! What `standin check` says, as data and as text: one row a case and server. The other formats render the same.

use super::Cell;
use crate::baseline::Baseline;
use crate::judge::{Judged, Verdict};
use fixtures::ServerKind;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// What came of some cases with one client. `--format json` is this.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckReport {
    /// The format of this report.
    pub format: u32,
    /// The program that wrote it.
    pub by: String,
    /// Who was judged.
    pub subject: String,
    /// The worst row, and what is wrong with the baseline.
    #[serde(serialize_with = "in_words")]
    pub verdict: Verdict,
    /// How many rows have which verdict.
    pub counts: BTreeMap<String, usize>,
    /// In the order of the cases.
    pub rows: Vec<Row>,
    /// Entries of the baseline that hold by now, or are about nothing.
    pub baseline: Vec<String>,
    /// Checks that were asked in no case, because the client does not claim what they are about.
    pub unsupported_checks: Vec<&'static str>,
}

/// One case with one server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// The server.
    pub server: ServerKind,
    /// What the case shows.
    pub about: String,
    /// What came of it.
    #[serde(serialize_with = "in_words")]
    pub verdict: RowVerdict,
    /// Why it was expected to fail.
    pub reason: Option<String>,
    /// What went wrong with the run itself.
    pub troubles: Vec<String>,
    /// Check by check.
    pub checks: Vec<Judged>,
    /// The command that runs exactly this again.
    pub rerun: String,
}

/// What came of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowVerdict {
    /// As it was judged.
    Judged(Verdict),
    /// It does not hold, and the baseline says so.
    ExpectedFailure,
}

impl fmt::Display for RowVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judged(verdict) => verdict.fmt(f),
            Self::ExpectedFailure => f.write_str("expected-failure"),
        }
    }
}

fn in_words<S: Serializer>(verdict: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(verdict)
}

impl RowVerdict {
    /// As far as the whole is concerned.
    #[must_use]
    pub fn counts_as(self) -> Verdict {
        match self {
            Self::Judged(verdict) => verdict,
            Self::ExpectedFailure => Verdict::Pass,
        }
    }

    /// Neither green nor without a bearing.
    #[must_use]
    pub fn is_red(self) -> bool {
        self.counts_as() > Verdict::Pass
    }

    /// For the eye.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Judged(Verdict::Pass) => "✓",
            Self::ExpectedFailure | Self::Judged(Verdict::NotApplicable) => "○",
            Self::Judged(_) => "✗",
        }
    }
}

impl Row {
    /// A cell as a row.
    #[must_use]
    pub fn of(cell: &Cell, baseline: &Baseline) -> Self {
        let reason = baseline.expects(cell);
        Self {
            case: cell.case.clone(),
            server: cell.server,
            about: cell.about.clone(),
            verdict: if reason.is_some() {
                RowVerdict::ExpectedFailure
            } else {
                RowVerdict::Judged(cell.verdict)
            },
            reason,
            troubles: cell.troubles.clone(),
            checks: cell.checks.clone(),
            rerun: cell.rerun.clone(),
        }
    }

    /// The row in a line.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {} {} ({})", self.verdict.mark(), self.verdict, self.case, self.server)
    }

    /// The checks that are red, each with what it found.
    pub fn red_checks(&self) -> impl Iterator<Item = &Judged> {
        self.checks.iter().filter(|judged| judged.is_red())
    }

    /// All that does not hold, a line each.
    #[must_use]
    pub fn evidence(&self) -> Vec<String> {
        let mut lines = self.troubles.clone();
        for judged in self.red_checks() {
            lines.push(format!("{}: {} ({} facts)", judged.check, judged.verdict, judged.facts));
            lines.extend(judged.findings.iter().map(|finding| format!("  {finding}")));
        }
        lines
    }
}

impl CheckReport {
    /// The report of these cells.
    #[must_use]
    pub fn of(subject: String, cells: &[Cell], baseline: &Baseline) -> Self {
        let rows: Vec<Row> = cells.iter().map(|cell| Row::of(cell, baseline)).collect();
        let findings = baseline.findings(cells);
        let mut counts = BTreeMap::new();
        for row in &rows {
            *counts.entry(row.verdict.to_string()).or_default() += 1;
        }
        let worst = rows.iter().map(|row| row.verdict.counts_as()).max().unwrap_or(Verdict::Untestable);
        Self {
            format: 1,
            by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
            subject,
            verdict: if findings.is_empty() { worst } else { Verdict::Fail },
            counts,
            rows,
            baseline: findings,
            unsupported_checks: unsupported(cells),
        }
    }

    /// As JSON.
    ///
    /// # Errors
    /// None that is known: all of it is text and numbers.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// How many pass, in a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let count = |word: &str| self.counts.get(word).copied().unwrap_or_default();
        let mut text = format!("{} of {} pass", count("pass"), self.rows.len());
        for (word, told) in
            [("expected-failure", "fail as expected"), ("not-applicable", "are not applicable")]
        {
            if count(word) > 0 {
                let _ = write!(text, ", {} {told}", count(word));
            }
        }
        format!("{text} with {}", self.subject)
    }

    /// What follows the lines of the rows: all that does not hold, and the sum.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for row in self.rows.iter().filter(|row| row.verdict != RowVerdict::Judged(Verdict::Pass)) {
            let _ = writeln!(text, "\n{} {} ({})", row.verdict, row.case, row.server);
            if let Some(reason) = &row.reason {
                let _ = writeln!(text, "    expected: {reason}");
                continue;
            }
            for line in row.evidence() {
                let _ = writeln!(text, "    {line}");
            }
            if row.verdict.is_red() {
                let _ = writeln!(text, "    again: {}", row.rerun);
            }
        }
        for line in &self.baseline {
            let _ = writeln!(text, "\n✗ {line}");
        }
        if !self.unsupported_checks.is_empty() {
            let _ = writeln!(text, "\nunsupported by this client: {}", self.unsupported_checks.join(", "));
        }
        let _ = writeln!(text, "\n{}", self.summary());
        text
    }
}

/// The checks that are unsupported wherever there are any.
fn unsupported(cells: &[Cell]) -> Vec<&'static str> {
    let judged = || cells.iter().flat_map(|cell| &cell.checks);
    let is_nowhere_asked = |check: &&str| {
        judged().filter(|judged| judged.check == *check).all(|judged| judged.verdict == Verdict::Unsupported)
    };
    let first = cells.iter().find(|cell| !cell.checks.is_empty());
    let names = first.into_iter().flat_map(|cell| &cell.checks).map(|judged| judged.check);
    names.filter(is_nowhere_asked).collect()
}
