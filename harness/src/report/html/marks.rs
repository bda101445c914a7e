//! How states are shown on the page: always by a symbol and a word, so that nobody depends on colours.

use crate::judge::Verdict;
use crate::report::{Cell, GateResult, MutantRow, RequirementState, TriggerRow};
use serde::Serialize;

/// How a state is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Mark {
    /// The CSS class that colours it.
    pub(super) tone: &'static str,
    pub(super) symbol: &'static str,
    pub(super) word: &'static str,
}

fn mark(tone: &'static str, symbol: &'static str, word: &'static str) -> Mark {
    Mark { tone, symbol, word }
}

pub(super) fn of_result(result: GateResult) -> Mark {
    match result {
        GateResult::Pass => {
            mark("good", "✓", "Every requirement is proven, or of a kind that nothing here can show.")
        }
        GateResult::PassWithDebt(_) => {
            mark("debt", "○", "Everything else is proven; what is owed stands in the ledger, with a reason.")
        }
        GateResult::Fail => {
            mark("bad", "✗", "Something does not hold. What is red below says what, and where.")
        }
        GateResult::CouldNotCheck => {
            mark("unknown", "?", "It can't be said: some cells could not be judged.")
        }
    }
}

pub(super) fn of_state(state: RequirementState) -> Mark {
    match state {
        RequirementState::NotObservable => mark("plain", "–", "not observable"),
        RequirementState::NotEvaluated => mark("plain", "…", "not evaluated"),
        RequirementState::Degraded => mark("debt", "◐", "degraded"),
        RequirementState::Proven => mark("good", "✓", "proven"),
        RequirementState::Failing => mark("bad", "✗", "failing"),
        RequirementState::Owed => mark("debt", "○", "owed"),
        RequirementState::OwedButProven => mark("bad", "✗", "owed but proven"),
        RequirementState::Missing => mark("bad", "✗", "missing"),
    }
}

pub(super) fn of_verdict(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::NotApplicable => mark("plain", "–", "no occasion"),
        Verdict::Pass => mark("good", "✓", "pass"),
        Verdict::Unsupported => mark("unknown", "∅", "unsupported"),
        Verdict::Unknown => mark("unknown", "~", "unknown"),
        Verdict::Untestable => mark("unknown", "?", "untestable"),
        Verdict::HarnessError => mark("unknown", "!", "harness error"),
        Verdict::Fail => mark("bad", "✗", "fail"),
    }
}

pub(super) fn of_cell(cell: &Cell) -> Mark {
    of_verdict(cell.verdict)
}

/// A mutant's cell: that it fails where something breaks is what is wanted; elsewhere it is a wreck.
pub(super) fn of_mutant_cell(cell: &Cell) -> Mark {
    match cell.verdict {
        Verdict::Fail if !cell.plain => mark("good", "●", "caught"),
        Verdict::Fail => mark("bad", "✗", "a wreck"),
        Verdict::Pass => mark("plain", "·", "passes"),
        _ => of_verdict(cell.verdict),
    }
}

pub(super) fn of_mutant(row: &MutantRow) -> Mark {
    if row.is_caught() { caught() } else { survives() }
}

pub(super) fn caught() -> Mark {
    mark("good", "●", "caught")
}

pub(super) fn survives() -> Mark {
    mark("bad", "✗", "survives")
}

pub(super) fn of_trigger(row: &TriggerRow) -> Mark {
    match (row.fired, &row.seen, &row.signal) {
        (true, ..) => mark("bad", "✗", "fires"),
        _ if !row.untold.is_empty() => mark("plain", "…", "could not be told"),
        (false, None, Some(_)) => mark("plain", "…", "quiet here, not evaluated in use"),
        (false, ..) => mark("good", "✓", "quiet"),
    }
}
