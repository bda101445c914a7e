//! What a gate and what a check says, as data; each format renders the same data. One file a format.

pub mod check;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod terminal;
pub mod timeline;

use crate::judge::{Judged, Verdict};
use fixtures::ServerKind;
use serde::{Serialize, Serializer};
use std::fmt;
use timeline::Entry;

/// What a gate says. `report.json` is this.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateReport {
    /// The format of this report.
    pub format: u32,
    /// The program that wrote it.
    pub by: String,
    /// The phase.
    pub phase: u32,
    /// Its name.
    pub phase_name: String,
    /// What comes of it.
    pub result: GateResult,
    /// The requirements of the phase and of those before it.
    pub requirements: Vec<RequirementRow>,
    /// The reference adapter's cells.
    pub cells: Vec<Cell>,
    /// The mutants' cells.
    pub mutants: Vec<MutantRow>,
    /// What ends a rollout, and has happened.
    pub triggers: Vec<Fired>,
    /// Cases, checks and mutants that prove nothing, in words.
    pub toothless: Vec<String>,
}

/// What comes of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateResult {
    /// All is proven.
    Pass,
    /// All is proven but so many requirements, and the ledger knows them.
    PassWithDebt(usize),
    /// Something does not hold.
    Fail,
    /// It can't be said.
    CouldNotCheck,
}

/// A trigger that the reference adapter has fired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fired {
    /// Its id.
    pub id: String,
    /// What has happened.
    pub about: String,
    /// What the plan does about it.
    pub then: String,
    /// In which cells.
    pub cells: Vec<String>,
}

/// A requirement and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RequirementRow {
    /// Its id.
    pub id: String,
    /// What it asks.
    pub about: String,
    /// Where it stands.
    pub source: String,
    /// What became of it.
    pub state: RequirementState,
    /// The cells that prove it, or fail to.
    pub cases: Vec<Proof>,
    /// Why it is owed, or by which decision it holds.
    pub reason: Option<String>,
}

/// A cell that is to prove a requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// The case.
    pub case: String,
    /// The server.
    pub server: ServerKind,
    /// `pass` if it proves it: the cell passes, and the requirement's check has seen facts in it.
    pub verdict: Verdict,
}

/// What became of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementState {
    /// Every case that proves it passes.
    Proven,
    /// Every case that proves it passes, and some of it holds by a decision alone.
    Degraded,
    /// A case that proves it does not pass.
    Failing,
    /// Nothing proves it, and the ledger says so.
    Owed,
    /// The ledger says it is owed, and it is proven: the entry must go.
    OwedButProven,
    /// Nothing proves it, and the ledger does not know.
    Missing,
}

/// One case with one server and one adapter.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// Check by check.
    pub checks: Vec<Judged>,
    /// The command that runs exactly this again.
    pub rerun: String,
    /// What happened.
    pub timeline: Vec<Entry>,
}

/// A mutant's cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

impl fmt::Display for Fired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, about, then, cells } = self;
        write!(f, "the trigger {id} has fired in {}: {about} {then}", cells.join(", "))
    }
}

impl MutantRow {
    /// Does a case fail with it that is not plain?
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.cells.iter().any(|cell| !cell.plain && cell.verdict == Verdict::Fail)
    }
}

impl GateResult {
    /// The exit code of a command that ends with this.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Pass | Self::PassWithDebt(_) => 0,
            Self::Fail => 1,
            Self::CouldNotCheck => 3,
        }
    }
}

impl fmt::Display for GateResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pass => f.write_str("PASS"),
            Self::PassWithDebt(owed) => write!(f, "PASS WITH DEBT ({owed})"),
            Self::Fail => f.write_str("FAIL"),
            Self::CouldNotCheck => f.write_str("COULD NOT CHECK"),
        }
    }
}

impl Serialize for GateResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl GateReport {
    /// The report as JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
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
