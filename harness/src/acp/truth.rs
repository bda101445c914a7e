//! The stand-in's agent against the recordings of the real ones.

use super::performance::as_performed;
use crate::performance::{PerformanceError, Piece};
use fixtures::acp::transcript::differences;
use fixtures::compare::Difference;
use fixtures::{FileError, ServerKind, catalog};
use futures_util::stream::{self, StreamExt as _};
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

/// How many conversations are held at once: most of their time is waiting for silence.
const AT_ONCE: usize = 6;

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
    let of = |server: ServerKind| {
        let names = catalog::acp_recording_names(&server.release()).into_iter();
        names.filter(|name| name.contains(only)).map(move |scenario| (server, scenario))
    };
    let all = ServerKind::ALL.into_iter().flat_map(of).map(|(server, scenario)| async move {
        let found = compared(server, &scenario, limits).await;
        Comparison { server, scenario, found }
    });
    let mut compared = stream::iter(all.collect::<Vec<_>>()).buffered(AT_ONCE);
    let mut comparisons = Vec::new();
    while let Some(comparison) = compared.next().await {
        told(&comparison);
        comparisons.push(comparison);
    }
    comparisons
}

async fn compared(server: ServerKind, name: &str, limits: &Limits) -> Result<Vec<Difference>, Unknown> {
    let recording = catalog::recording(&server.release(), &catalog::acp_place(name))?;
    let scenario = as_performed(&catalog::scenario(name)?);
    let piece = Piece { name: name.to_owned(), scenario, server };
    let performed = piece.by_acp_stand_in(limits).await?;
    Ok(differences(&recording, &performed.recording))
}
