//! Is the stand-in true? Each scenario × server: the world and the replay against the recording of the real server.

use crate::performance::{PerformanceError, Piece};
use fixtures::compare::{Difference, Sides, compare};
use fixtures::error::FileError;
use fixtures::floats::Floats;
use fixtures::recording::Recording;
use fixtures::transcript::Transcript;
use fixtures::{ServerKind, catalog};
use parity_specs::Matrix;
use recorder::Limits;
use std::fmt;

/// What ends the name of a recording whose person reads in mid-turn, too.
const MID_TURN: &str = ".mid-turn";

/// Who is held against a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidate {
    /// The stand-in's world.
    World,
    /// The recording itself, played again.
    Replay,
}

/// One comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The scenario.
    pub scenario: String,
    /// The server.
    pub server: ServerKind,
    /// Who was held against its recording.
    pub candidate: Candidate,
    /// How it went.
    pub outcome: Result<Vec<Difference>, String>,
    /// Why it can't be equal yet, where the ledger says so.
    pub owed: Option<String>,
}

impl Comparison {
    /// What the two sides of its differences are called.
    #[must_use]
    pub fn sides(&self) -> Sides {
        Sides::new("the recording", format!("the {}", self.candidate))
    }

    /// As it is meant to be: equal, or not and in the ledger.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.is_equal() == self.owed.is_none()
    }

    /// No difference.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.outcome.as_ref().is_ok_and(Vec::is_empty)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::World => "world",
            Self::Replay => "replay",
        })
    }
}

/// Which comparisons are made.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// Only scenarios whose names contain this.
    pub names: &'a str,
    /// With these servers.
    pub servers: &'a [ServerKind],
    /// By these.
    pub candidates: &'a [Candidate],
}

impl Default for Selection<'_> {
    /// All.
    fn default() -> Self {
        Self { names: "", servers: &ServerKind::ALL, candidates: &[Candidate::World, Candidate::Replay] }
    }
}

/// All scenarios × servers × candidates of a selection, one after the other; `matrix` knows what can't be equal yet.
/// `seen` is told each as it is done, with what was performed for it.
pub async fn compare_all(
    matrix: &Matrix,
    selection: &Selection<'_>,
    limits: &Limits,
    mut seen: impl FnMut(&Comparison, &[Recording]),
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for scenario in catalog::scenario_names().into_iter().filter(|name| name.contains(selection.names)) {
        for &server in selection.servers {
            for &candidate in selection.candidates {
                let owed = match candidate {
                    Candidate::World => matrix.unperformed(&scenario, server).map(str::to_owned),
                    Candidate::Replay => None,
                };
                // What can't be done need not be waited for at length.
                let limits = if owed.is_some() { &impatient(limits) } else { limits };
                let mut performed = Vec::new();
                let outcome = compare_one(&scenario, server, candidate, limits, &mut performed).await;
                let comparison = Comparison { scenario: scenario.clone(), server, candidate, outcome, owed };
                seen(&comparison, &performed);
                comparisons.push(comparison);
            }
        }
    }
    comparisons
}

async fn compare_one(
    name: &str,
    server: ServerKind,
    candidate: Candidate,
    limits: &Limits,
    all: &mut Vec<Recording>,
) -> Result<Vec<Difference>, String> {
    let words = |error: FileError| error.to_string();
    let scenario = catalog::scenario(name).map_err(words)?;
    let recorded = catalog::recording(&server.release(), name).map_err(words)?;
    let floats = catalog::floats(server).map_err(words)?;
    let piece = Piece { name: name.to_owned(), scenario, server };
    let performed = candidate.perform(&piece, &recorded, limits).await?;
    let mut found = differences(&recorded, &performed, &floats);
    all.push(performed);
    // Only where the real server was asked in mid-turn, too.
    if let Ok(truth) = catalog::recording(&server.release(), &format!("{name}{MID_TURN}")) {
        let limits = &Limits { reads_at_questions: true, ..limits.clone() };
        let performed = candidate.perform(&piece, &recorded, limits).await?;
        let in_mid_turn = differences(&truth, &performed, &floats);
        all.push(performed);
        found.extend(in_mid_turn.into_iter().map(|difference| Difference {
            place: format!("read in mid-turn, {}", difference.place),
            ..difference
        }));
    }
    Ok(found)
}

impl Candidate {
    async fn perform(
        self,
        piece: &Piece,
        recorded: &Recording,
        limits: &Limits,
    ) -> Result<Recording, String> {
        let performed = match self {
            Self::World => piece.by_stand_in(limits).await,
            Self::Replay => piece.by_replay(recorded, limits).await,
        };
        performed.map(|performed| performed.recording).map_err(|error: PerformanceError| error.to_string())
    }
}

/// Where two recordings of one scenario differ.
#[must_use]
pub fn differences(first: &Recording, second: &Recording, floats: &Floats) -> Vec<Difference> {
    compare(&Transcript::of(first), &Transcript::of(second), floats)
}

fn impatient(limits: &Limits) -> Limits {
    let short = std::time::Duration::from_secs(2);
    Limits { permission: short, idle: short, ..limits.clone() }
}

/// Limits for servers that have no background work and answer at once.
#[must_use]
pub fn stand_in_limits() -> Limits {
    use std::time::Duration;
    let short = Duration::from_millis(60);
    Limits { boot_quiet: short, quiet: short, ..Limits::default() }
}
