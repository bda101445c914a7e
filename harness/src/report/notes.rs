//! What is said of a requirement beside its state, the same in every format.

use super::{RequirementRow, RequirementState};
use crate::judge::Verdict;
use parity_specs::Evidence;

/// The kind of evidence as the matrix has it.
pub(crate) fn evidence_word(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Checked => "checked",
        Evidence::DataOnly => "data-only",
        Evidence::NotObservable => "not-observable",
        Evidence::Production => "production",
    }
}

/// Nothing breaks it: what is to prove it could not be judged, which is never green, and is no failure either.
pub(crate) fn is_unjudged(row: &RequirementRow) -> bool {
    let mut open = row.cases.iter().map(|proof| proof.verdict).filter(|verdict| *verdict != Verdict::Pass);
    let is_open = |verdict| matches!(verdict, Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError);
    open.next().is_some_and(is_open) && open.all(is_open)
}

/// What is to be said of a requirement in this state, beside its cells.
pub(crate) fn notes(row: &RequirementRow, state: RequirementState) -> Vec<String> {
    let mut notes = Vec::new();
    match state {
        RequirementState::OwedButProven => {
            notes.push("proven, and yet in parity-specs/debt.toml: delete the entry".to_owned());
        }
        RequirementState::Missing => notes.push(
            "no case proves it, and parity-specs/debt.toml does not say so: add one of the two".to_owned(),
        ),
        RequirementState::Failing if is_unjudged(row) => {
            notes.push("no case breaks it: what is to prove it could not be judged".to_owned());
        }
        _ => {}
    }
    if let Some(degraded) = row.degraded.as_ref().filter(|_| state == RequirementState::Degraded) {
        notes.push(degraded.to_string());
        notes.extend(row.accepted.iter().cloned());
    }
    if !row.rests_on.is_empty() {
        notes.push(format!("the recordings say so: {}", row.rests_on.join(", ")));
    }
    let word = if state == RequirementState::Owed { "owed: " } else { "" };
    notes.extend(row.reason.as_ref().map(|reason| format!("{word}{reason}")));
    notes
}
