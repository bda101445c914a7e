//! A history → a verdict. Pure: a saved history can be judged again.

use crate::checks::{self, Check, Examined};
use crate::history;
use fixtures::recording::{Line, TroubleKind};
use fixtures::redact::clean;
use serde::Serialize;
use std::fmt;

/// What comes of a check or a cell. The worst of several is what counts; the order here is from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It could not be seen; never green.
    Untestable,
    /// The harness failed at its own work; never green.
    HarnessError,
    /// It does not hold.
    Fail,
}

/// What a check says of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The check.
    pub check: &'static str,
    /// Its verdict.
    pub verdict: Verdict,
    /// How many facts it held against each other.
    pub facts: usize,
    /// What does not hold.
    pub findings: Vec<String>,
}

/// What all checks say, and whether the run itself was sound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The worst of all.
    pub verdict: Verdict,
    /// What went wrong with the run itself, in words.
    pub troubles: Vec<String>,
    /// Check by check.
    pub checks: Vec<Judged>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Untestable => "untestable",
            Self::HarnessError => "harness-error",
            Self::Fail => "fail",
        })
    }
}

/// Judges a history by all checks.
#[must_use]
pub fn judge(lines: &[Line]) -> Judgement {
    let checks: Vec<Judged> = checks::all().into_iter().map(|check| apply(check, lines)).collect();
    let mut verdict = checks.iter().map(|judged| judged.verdict).max().unwrap_or(Verdict::Untestable);
    let mut troubles = Vec::new();
    for (kind, what) in history::troubles(lines) {
        troubles.push(clean(what));
        verdict = verdict.max(match kind {
            TroubleKind::StepNotDone | TroubleKind::Adapter => Verdict::Fail,
            TroubleKind::FaultNeverFired => Verdict::Untestable,
            TroubleKind::Harness => Verdict::HarnessError,
        });
    }
    Judgement { verdict, troubles, checks }
}

fn apply(check: Check, lines: &[Line]) -> Judged {
    let Examined { facts, findings } = (check.examine)(lines);
    let verdict = match (facts, findings.is_empty()) {
        (0, true) => Verdict::Untestable,
        (_, true) => Verdict::Pass,
        (_, false) => Verdict::Fail,
    };
    // They quote server and adapter, and go to reports.
    let findings = findings.iter().map(|finding| clean(finding)).collect();
    Judged { check: check.name, verdict, facts, findings }
}
