//! A history → a verdict. Pure: a saved history can be judged again.

use crate::blackbox;
use crate::checks::{self, Check, Examined};
use crate::course::{Course, Sent};
use crate::history;
use fixtures::recording::{FileKind, Line, Recording, Speaker, TroubleKind};
use fixtures::redact::clean;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// What comes of a check or a cell. The worst of several is what counts; the order here is from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Of a check: the server did nothing that it is about. It proves nothing, and it spoils nothing.
    NotApplicable,
    /// It holds.
    Pass,
    /// The adapter says that it can't do what this is about.
    Unsupported,
    /// It took too long for the bound and not long enough to be sure; never green.
    Unknown,
    /// It could not be seen; never green.
    Untestable,
    /// The harness failed at its own work; never green.
    HarnessError,
    /// It does not hold.
    Fail,
}

/// What a check says of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The check.
    #[serde(deserialize_with = "known_check")]
    pub check: CheckName,
    /// Its verdict.
    pub verdict: Verdict,
    /// How many facts it held against each other.
    pub facts: usize,
    /// What does not hold.
    pub findings: Vec<String>,
    /// What holds by a decision alone that a later phase takes back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
}

/// The name of a check that this program has.
pub type CheckName = &'static str;

/// The same; a report of another program may name others.
fn known_check<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CheckName, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = checks::all().into_iter().map(|check| check.name).chain(blackbox::NAMES);
    known.into_iter().find(|known| *known == name).ok_or_else(|| {
        de::Error::custom(format!("there is no check '{name}': another version wrote this report"))
    })
}

impl Judged {
    /// A check that has seen nothing.
    #[must_use]
    pub fn unseen(check: &'static str, verdict: Verdict) -> Self {
        Self { check, verdict, facts: 0, findings: Vec::new(), degraded: Vec::new() }
    }

    /// Was it asked for, and is it not green?
    #[must_use]
    pub fn is_red(&self) -> bool {
        self.verdict > Verdict::Pass && self.verdict != Verdict::Unsupported
    }
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
            Self::NotApplicable => "not-applicable",
            Self::Pass => "pass",
            Self::Unsupported => "unsupported",
            Self::Unknown => "unknown",
            Self::Untestable => "untestable",
            Self::HarnessError => "harness-error",
            Self::Fail => "fail",
        })
    }
}

/// Why a file can't be judged: it tells nothing of an adapter.
#[must_use]
pub fn no_history(file: &Recording) -> Option<String> {
    let has_adapter =
        file.lines.iter().any(|line| matches!(line, Line::Adapter(line) if line.from == Speaker::Adapter));
    let told = match file.header.kind {
        FileKind::Recording => "it is a recording, what a server sent to nobody in particular",
        FileKind::Journal => "it is a journal, what a stand-in saw",
        FileKind::History if file.lines.is_empty() => "it has no line after its header",
        FileKind::History => return None,
    };
    (!has_adapter).then(|| {
        format!(
            "this is no history: {told}; `standin check --histories DIR` and `standin gate` keep histories"
        )
    })
}

/// Judges a history by all checks.
#[must_use]
pub fn judge(lines: &[Line]) -> Judgement {
    judge_course(&Course::of(lines))
}

/// The same for who knows already what the server has sent.
pub(crate) fn judge_with(lines: &[Line], events: Vec<Sent>) -> Judgement {
    judge_course(&Course::with_events(lines, events))
}

fn judge_course(course: &Course<'_>) -> Judgement {
    let lines = course.lines;
    let checks: Vec<Judged> = checks::all().into_iter().map(|check| apply(check, course)).collect();
    let judged = checks.iter().map(|judged| judged.verdict);
    // What the adapter does not claim is told, and asked for by the cases that need it.
    let worst = judged.filter(|verdict| *verdict != Verdict::Unsupported).max();
    // Nothing that was not examined is green.
    let mut verdict = worst.filter(|worst| *worst != Verdict::NotApplicable).unwrap_or(Verdict::Untestable);
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

fn apply(check: Check, course: &Course<'_>) -> Judged {
    if !check.needs.iter().all(|needed| course.can.contains(needed)) {
        return Judged::unseen(check.name, Verdict::Unsupported);
    }
    let Examined { facts, findings, doubts, degraded } = (check.examine)(course);
    let verdict = match (facts, findings.is_empty()) {
        (0, true) if !(check.has_occasion)(course) => Verdict::NotApplicable,
        (0, true) => Verdict::Untestable,
        (_, true) if !doubts.is_empty() => Verdict::Unknown,
        (_, true) => Verdict::Pass,
        (_, false) => Verdict::Fail,
    };
    // They quote server and adapter, and go to reports.
    let findings = findings.iter().chain(&doubts).map(|finding| clean(finding)).collect();
    Judged { check: check.name, verdict, facts, findings, degraded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(verdict_of: (usize, bool), has_occasion: fn(&Course<'_>) -> bool) -> Verdict {
        let examine: fn(&Course<'_>) -> Examined = match verdict_of {
            (0, _) => |_| Examined::default(),
            (_, true) => |_| Examined { facts: 1, ..Examined::default() },
            (_, false) => |_| Examined { facts: 1, findings: vec!["no".to_owned()], ..Examined::default() },
        };
        apply(Check { name: "c", about: "x", needs: &[], has_occasion, examine }, &Course::of(&[])).verdict
    }

    #[test]
    fn without_a_fact_nothing_passes_and_without_an_occasion_nothing_is_asked() {
        assert_eq!(checked((0, true), |_| true), Verdict::Untestable);
        assert_eq!(checked((0, true), |_| false), Verdict::NotApplicable);
        assert_eq!(checked((1, true), |_| true), Verdict::Pass);
        assert_eq!(checked((1, false), |_| false), Verdict::Fail, "what was seen counts");
        assert!(Verdict::NotApplicable < Verdict::Pass, "it is never the worst beside a pass");
        assert_eq!(judge(&[]).verdict, Verdict::Untestable);
    }
}
