//! What a kit's gate says, as data. A kit judges one kind of system by cases of its own; it has no phases and no server.

use super::timeline::Entry;
use super::{GateResult, RequirementState};
use crate::judge::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A kit's cases with one adapter, and what they prove.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KitGate {
    /// The kit.
    pub kit: String,
    /// What it judges.
    pub about: String,
    /// Who was judged.
    pub subject: String,
    /// Only some of the cases were run.
    #[serde(default)]
    pub partial: bool,
    /// What comes of it.
    pub result: GateResult,
    /// How many requirements are in which state.
    pub counts: BTreeMap<RequirementState, usize>,
    /// What must hold.
    pub requirements: Vec<KitRow>,
    /// The adapter's cells.
    pub cells: Vec<KitCell>,
    /// The mutants' cells.
    pub mutants: Vec<KitMutant>,
    /// Was it asked which mutants are caught?
    pub with_mutants: bool,
    /// Cases, checks and mutants that prove nothing, in words.
    pub toothless: Vec<String>,
}

/// A requirement of a kit and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KitRow {
    /// Its id.
    pub id: String,
    /// What it asks.
    pub about: String,
    /// What its file is called.
    pub feature: String,
    /// Where it stands.
    pub source: String,
    /// What became of it.
    pub state: RequirementState,
    /// The cases that prove it, or fail to.
    pub cases: Vec<KitProof>,
    /// Why it is owed, or why nothing here can show it.
    pub reason: Option<String>,
}

/// A cell that is to prove a requirement of a kit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KitProof {
    /// The case.
    pub case: String,
    /// `pass` if it proves it: the cell passes, and the requirement's check has seen facts in it.
    pub verdict: Verdict,
}

/// One case of a kit with one adapter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KitCell {
    /// The case.
    pub case: String,
    /// What it shows.
    pub about: String,
    /// The adapter.
    pub adapter: String,
    /// Nothing breaks in this case, and nobody does anything unusual.
    pub plain: bool,
    /// What counts, the pin included.
    pub verdict: Verdict,
    /// What the adapter is known to get wrong here, as it follows a rule to the letter.
    pub pin: Option<Pin>,
    /// What went wrong with the run itself.
    pub troubles: Vec<String>,
    /// Check by check.
    pub checks: Vec<KitJudged>,
    /// The command that runs exactly this again.
    pub rerun: String,
    /// What happened.
    pub timeline: Vec<Entry>,
}

/// An expected failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The hazard.
    pub hazard: String,
    /// What is wrong with the rule.
    pub about: String,
    /// It fails, as expected; else it passes, and the adapter does not do what it declares.
    pub holds: bool,
}

/// What a check of a kit says of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KitJudged {
    /// The check.
    pub check: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// How many facts it held against each other.
    pub facts: usize,
    /// What does not hold.
    pub findings: Vec<String>,
    /// What is worth a look and spoils nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<String>,
}

/// A mutant's cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KitMutant {
    /// The mutant.
    pub name: String,
    /// The bug that it stands for.
    pub about: String,
    /// Its cells.
    pub cells: Vec<KitCell>,
}

impl KitMutant {
    /// Does a case fail with it that is not plain?
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.caught_in().next().is_some()
    }

    /// The cells that fail with it, and are not plain. One that declares what it does wrong fails as expected.
    pub fn caught_in(&self) -> impl Iterator<Item = &KitCell> {
        let fails =
            |cell: &&KitCell| cell.verdict == Verdict::Fail || cell.pin.as_ref().is_some_and(|pin| pin.holds);
        self.cells.iter().filter(|cell| !cell.plain).filter(fails)
    }
}

impl KitCell {
    /// The verdict in words, with the pin.
    #[must_use]
    pub fn outcome(&self) -> String {
        match &self.pin {
            Some(Pin { hazard, holds: true, .. }) if self.verdict == Verdict::Pass => {
                format!("expected failure ({hazard})")
            }
            Some(Pin { hazard, holds: true, .. }) => {
                format!("{}: more than the expected failure {hazard}", self.verdict)
            }
            Some(Pin { hazard, holds: false, .. }) => {
                format!("{}: the pinned failure {hazard} does not happen", self.verdict)
            }
            None => self.verdict.to_string(),
        }
    }
}

impl KitGate {
    /// "12 proven, 3 owed".
    #[must_use]
    pub fn counted(&self) -> String {
        let counts: Vec<String> =
            self.counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
        counts.join(", ")
    }
}
