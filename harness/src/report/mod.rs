//! What a gate and what a check says, as data; each format renders the same data. One file a format.

pub(crate) mod because;
pub mod check;
pub mod html;
pub mod junit;
pub mod kit;
pub mod markdown;
mod notes;
mod result;
pub mod terminal;
pub mod timeline;

use crate::judge::{Judged, Verdict};
use fixtures::ServerKind;
use kit::KitGate;
pub(crate) use notes::{evidence_word, is_unjudged, notes};
use parity_specs::Evidence;
use parity_specs::requirement::Degradation;
use parity_specs::trigger::Threshold;
pub use result::GateResult;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use timeline::Entry;

/// What gates say, one an adapter. `report.json` is this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The format of this report.
    pub format: u32,
    /// The program that wrote it.
    pub by: String,
    /// One an adapter.
    pub gates: Vec<Gate>,
    /// One a kit and adapter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kits: Vec<KitGate>,
}

/// The gates of all phases that were asked for, for one adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// Who was judged.
    pub subject: String,
    /// Which part of the cells was run, if not all.
    pub partition: Option<String>,
    /// What comes of each phase.
    pub phases: Vec<PhaseRow>,
    /// The features that the requirements belong to.
    pub features: Vec<FeatureRow>,
    /// The requirements of the phases and of those before them.
    pub requirements: Vec<RequirementRow>,
    /// What sends users back.
    pub triggers: Vec<TriggerRow>,
    /// The adapter's cells.
    pub cells: Vec<Cell>,
    /// The mutants' cells.
    pub mutants: Vec<MutantRow>,
    /// Was it asked which mutants are caught?
    pub with_mutants: bool,
    /// Cases, checks and mutants that prove nothing, in words.
    pub toothless: Vec<String>,
}

/// What comes of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// Its number in the plan.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What comes of it.
    pub result: GateResult,
    /// How many requirements are in which state.
    pub counts: BTreeMap<RequirementState, usize>,
    /// The triggers that fire in it.
    pub fired: Vec<String>,
}

/// A feature page or decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureRow {
    /// Its path in the matrix.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// Who owns it after the migration.
    pub owner: String,
}

/// What sends users back to the old backend, and whether it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerRow {
    /// Its id.
    pub id: String,
    /// What fires it.
    pub about: String,
    /// Where it stands.
    pub source: String,
    /// The phase from which on it is watched.
    pub phase: u32,
    /// What is to be done when it fires.
    pub action: String,
    /// Does it?
    pub fired: bool,
    /// Why it fires.
    pub because: Vec<String>,
    /// Why it can't be told whether it fires, where that is so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
    /// The threshold for real use.
    pub signal: Option<Threshold>,
    /// What the signals of real use say, if any were given.
    pub seen: Option<String>,
}

/// A requirement and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequirementRow {
    /// Its id.
    pub id: String,
    /// What it asks.
    pub about: String,
    /// The feature.
    pub feature: String,
    /// Where it stands.
    pub source: String,
    /// The phase from which on it must hold.
    pub phase: u32,
    /// It belongs to the first product.
    pub mvp: bool,
    /// How it is shown.
    pub evidence: Evidence,
    /// What became of it in each phase that was asked for.
    pub states: BTreeMap<u32, RequirementState>,
    /// The cells that prove it, or fail to.
    pub cases: Vec<Proof>,
    /// What the recordings say that it rests on.
    pub rests_on: Vec<String>,
    /// How far it may be missing.
    pub degraded: Option<Degradation>,
    /// What of it holds by a decision alone.
    pub accepted: Vec<String>,
    /// Why it is owed, or why nothing here can show it.
    pub reason: Option<String>,
}

impl RequirementRow {
    /// The worst of its states.
    #[must_use]
    pub fn worst(&self) -> RequirementState {
        self.states.values().copied().max().unwrap_or(RequirementState::NotEvaluated)
    }
}

/// A cell that is to prove a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The case.
    pub case: String,
    /// The server.
    pub server: ServerKind,
    /// `pass` if it proves it: the cell passes, and the requirement's check has seen facts in it.
    pub verdict: Verdict,
    /// Of one that is `unsupported`: what the adapter would have to declare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

/// What became of a requirement, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementState {
    /// Nothing here can show it, and the matrix says why.
    NotObservable,
    /// Only real use shows it, and no signals of it were given.
    NotEvaluated,
    /// Every case that proves it passes, or the recordings bear it out, or the signals do.
    Proven,
    /// It is missing, as the plan allows in this phase.
    Degraded,
    /// Nothing proves it, and the ledger says so.
    Owed,
    /// The ledger says it is owed, and it is proven: the entry must go.
    OwedButProven,
    /// Nothing proves it, and the ledger does not know.
    Missing,
    /// What is to prove it does not hold.
    Failing,
}

impl fmt::Display for RequirementState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotObservable => "not-observable",
            Self::NotEvaluated => "not-evaluated",
            Self::Proven => "proven",
            Self::Degraded => "degraded",
            Self::Owed => "owed",
            Self::OwedButProven => "owed-but-proven",
            Self::Missing => "missing",
            Self::Failing => "failing",
        })
    }
}

/// One case with one server and one adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The case.
    pub case: String,
    /// What it shows.
    pub about: String,
    /// The server.
    pub server: ServerKind,
    /// The adapter.
    pub adapter: String,
    /// Nothing breaks in this case, and nobody does anything unusual.
    pub plain: bool,
    /// The worst of what follows.
    pub verdict: Verdict,
    /// What went wrong with the run itself.
    pub troubles: Vec<String>,
    /// Of one that is `unsupported`: what the adapter would have to declare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Check by check.
    pub checks: Vec<Judged>,
    /// The command that runs exactly this again.
    pub rerun: String,
    /// What happened.
    pub timeline: Vec<Entry>,
}

/// A mutant's cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MutantRow {
    /// The mutant.
    pub name: String,
    /// The public bug that it stands for.
    pub about: String,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.case, self.server)
    }
}

impl MutantRow {
    /// Does a case fail with it that is not plain?
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.cells.iter().any(|cell| !cell.plain && cell.verdict == Verdict::Fail)
    }
}

/// The format that is written. Format 3 has a lane of the adapter's own, which who reads format 2 does not know.
pub const FORMAT: u32 = 3;

impl Report {
    /// The report of these gates.
    #[must_use]
    pub fn of(gates: Vec<Gate>) -> Self {
        Self {
            format: FORMAT,
            by: concat!("standin ", env!("CARGO_PKG_VERSION")).to_owned(),
            gates,
            kits: Vec::new(),
        }
    }

    /// The same with kits beside the gates.
    #[must_use]
    pub fn with_kits(self, kits: Vec<KitGate>) -> Self {
        Self { kits, ..self }
    }

    /// The report as JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Reads a report.
    ///
    /// # Errors
    /// It is no report of this format; the error says what is odd.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            format: Option<u32>,
        }
        match serde_json::from_str::<Head>(text) {
            Ok(Head { format: Some(2..=FORMAT) }) => {
                serde_json::from_str(text).map_err(|error| error.to_string())
            }
            Ok(Head { format: Some(format) }) => Err(format!(
                "it is a report of format {format}, and this program reads formats 2 to {FORMAT}: run the gate again"
            )),
            Ok(Head { format: None }) => {
                Err("it says no format: it is no report of `standin gate`".to_owned())
            }
            Err(error) => Err(format!("it is no report: {error}")),
        }
    }

    /// The worst of all gates; of a part of a gate nothing can be said but that its cells pass.
    #[must_use]
    pub fn result(&self) -> GateResult {
        let kits = self.kits.iter().map(|kit| kit.result);
        self.gates.iter().map(Gate::result).chain(kits).max().unwrap_or(GateResult::CouldNotCheck)
    }
}

impl Gate {
    /// The worst of all phases. Where only a part was run, what the part misses does not count.
    #[must_use]
    pub fn result(&self) -> GateResult {
        if self.partition.is_some() {
            let worst = self.cells.iter().map(|cell| cell.verdict).max().unwrap_or(Verdict::Pass);
            return match worst {
                Verdict::Pass | Verdict::NotApplicable => GateResult::Pass,
                Verdict::Fail | Verdict::Unsupported => GateResult::Fail,
                Verdict::Unknown | Verdict::Untestable | Verdict::HarnessError => GateResult::CouldNotCheck,
            };
        }
        self.phases.iter().map(|phase| phase.result).max().unwrap_or(GateResult::CouldNotCheck)
    }
}

#[cfg(test)]
mod tests {
    use super::GateResult;

    #[test]
    fn a_result_is_told_apart_by_its_code_and_its_words() {
        let results =
            [GateResult::Pass, GateResult::PassWithDebt(2), GateResult::Fail, GateResult::CouldNotCheck];
        assert_eq!(results.map(GateResult::exit_code), [0, 0, 1, 3]);
        assert_eq!(
            results.map(|result| result.to_string()),
            ["PASS", "PASS WITH DEBT (2)", "FAIL", "COULD NOT CHECK"]
        );
    }
}
