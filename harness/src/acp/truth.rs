//! The stand-in's agent against the recordings of the real ones.

use super::performance::as_performed;
use crate::performance::{PerformanceError, Piece};
use fixtures::acp::transcript::differences;
use fixtures::compare::Difference;
use fixtures::{FileError, ServerKind, catalog};
use recorder::Limits;

/// A scenario whose performance by the stand-in's agent was held against the real one's.
#[derive(Debug)]
pub struct Comparison {
    /// Which agent.
    pub server: ServerKind,
    /// The scenario.
    pub scenario: String,
    /// Where they differ, or why that is not known.
    pub found: Result<Vec<Difference>, Unknown>,
}

impl Comparison {
    /// Nothing differs.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.found.as_ref().is_ok_and(Vec::is_empty)
    }
}

/// Why nothing could be compared.
#[derive(Debug, thiserror::Error)]
pub enum Unknown {
    /// A scenario or a recording can't be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The stand-in could not perform it.
    #[error(transparent)]
    Performance(#[from] PerformanceError),
}

/// All recordings of both agents whose scenario's name contains `only`, in order; each is told when it is known.
pub async fn compare_all(only: &str, limits: &Limits, mut told: impl FnMut(&Comparison)) -> Vec<Comparison> {
    let mut all = Vec::new();
    for server in ServerKind::ALL {
        let names = catalog::acp_recording_names(&server.release()).into_iter();
        for scenario in names.filter(|name| name.contains(only)) {
            let found = compared(server, &scenario, limits).await;
            let comparison = Comparison { server, scenario, found };
            told(&comparison);
            all.push(comparison);
        }
    }
    all
}

async fn compared(server: ServerKind, name: &str, limits: &Limits) -> Result<Vec<Difference>, Unknown> {
    let recording = catalog::recording(&server.release(), &catalog::acp_place(name))?;
    let scenario = as_performed(&catalog::scenario(name)?);
    let piece = Piece { name: name.to_owned(), scenario, server };
    let performed = piece.by_acp_stand_in(limits).await?;
    Ok(differences(&recording, &performed.recording))
}
