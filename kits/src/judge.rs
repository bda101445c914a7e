//! A history → a verdict. Pure.

use crate::case::{Hazard, Head};
use crate::kit::{Check, Kit};
use crate::story::Story;
use fixtures::recording::{Line, TroubleKind};
use fixtures::redact::clean;
use harness::checks::Examined;
use harness::history::troubles;
use harness::judge::Verdict;
use harness::report::kit::{KitJudged, Pin};
use parity_specs::kit::KitRequirement;
use std::collections::BTreeSet;

/// What a history makes of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What counts, the pin included.
    pub verdict: Verdict,
    /// What is expected to fail, and whether it does.
    pub pin: Option<Pin>,
    /// What went wrong with the run itself.
    pub troubles: Vec<String>,
    /// Check by check.
    pub checks: Vec<KitJudged>,
}

/// Judges a history by all checks of its kit. Those of what the case proves must find facts.
#[must_use]
pub fn judge(kit: &dyn Kit, head: &Head, requirements: &[KitRequirement], lines: &[Line]) -> Judgement {
    let story = Story::of(lines);
    let proved = proved_by(head, requirements);
    let checks: Vec<KitJudged> =
        kit.checks().iter().map(|check| apply(check, &story, proved.contains(check.name))).collect();
    let mut verdict = checks.iter().map(|judged| judged.verdict).max();
    // Nothing that was not examined is green.
    if verdict == Some(Verdict::NotApplicable) {
        verdict = None;
    }
    let checked = verdict.unwrap_or(Verdict::Untestable);
    let mut run = Verdict::NotApplicable;
    let mut told = Vec::new();
    for (kind, what) in troubles(lines) {
        told.push(clean(what));
        run = run.max(match kind {
            TroubleKind::StepNotDone | TroubleKind::Adapter => Verdict::Fail,
            TroubleKind::FaultNeverFired => Verdict::Untestable,
            TroubleKind::Harness => Verdict::HarnessError,
        });
    }
    let expected = head.hazard.as_ref().filter(|hazard| is_declared(hazard, &story));
    let red = || checks.iter().filter(|judged| judged.verdict == Verdict::Fail);
    let also = head.hazard.iter().flat_map(|hazard| &hazard.also);
    let expected_red: BTreeSet<&str> = proved.iter().copied().chain(also.map(String::as_str)).collect();
    let fails = red().any(|judged| proved.contains(judged.check.as_str()));
    let fails_otherwise = red().any(|judged| !expected_red.contains(judged.check.as_str()));
    // A pin is for what the checks of the case find. A run that breaks is no expected failure, and neither is another check.
    let pin = expected.filter(|_| run < Verdict::Unknown).map(|hazard| Pin {
        hazard: hazard.id.clone(),
        about: hazard.about.clone(),
        holds: fails,
    });
    let checked = match &pin {
        Some(pin) if pin.holds && !fails_otherwise => Verdict::Pass,
        Some(_) if checked == Verdict::Pass => Verdict::Fail,
        _ => checked,
    };
    Judgement { verdict: checked.max(run), pin, troubles: told, checks }
}

/// The checks of what a case proves.
#[must_use]
pub fn proved_by<'a>(head: &Head, requirements: &'a [KitRequirement]) -> BTreeSet<&'a str> {
    let proved = requirements.iter().filter(|requirement| head.proves.contains(&requirement.id));
    proved.filter_map(|requirement| requirement.check.as_deref()).collect()
}

fn is_declared(hazard: &Hazard, story: &Story<'_>) -> bool {
    hazard.when.iter().all(|(name, value)| story.declares.get(name) == Some(value))
}

fn apply(check: &Check, story: &Story<'_>, is_proved: bool) -> KitJudged {
    let Examined { facts, findings, doubts, degraded } = (check.examine)(story);
    let verdict = match (facts, findings.is_empty()) {
        (_, false) => Verdict::Fail,
        (0, true) if is_proved => Verdict::Untestable,
        (0, true) => Verdict::NotApplicable,
        (_, true) if !doubts.is_empty() => Verdict::Unknown,
        (_, true) => Verdict::Pass,
    };
    let findings = findings.iter().chain(&doubts).map(|finding| clean(finding)).collect();
    let advice = degraded.iter().map(|advice| clean(advice)).collect();
    KitJudged { check: check.name.to_owned(), verdict, facts, findings, advice }
}
