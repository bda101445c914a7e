//! Another issue is worked on, between the runs of the case's own: what belongs to one issue is not the other's.

use super::super::phases::Phase;
use super::super::stage::{Stage, Whose};
use super::{Place, Played};
use crate::scene::{Scene, Troubled};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::PoisonError;

/// Another issue, whose designer makes another plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Other {
    issue: String,
    /// All of them are done.
    phases: Vec<String>,
}

impl Played {
    pub(super) async fn other(
        &self,
        scene: &mut Scene,
        place: &Place,
        other: &Other,
    ) -> Result<(), Troubled> {
        let phases: Vec<&Phase> =
            other.phases.iter().map(|name| Phase::of(name)).collect::<Result<_, _>>()?;
        let stage = Stage::begin_for(Whose::Another, &place.repository.root, &[], None).await?;
        scene.person(format!("pipeline/run of the issue {}", other.issue));
        let told = place.told(&other.issue, &phases, Some(&stage));
        scene.ask("pipeline/run", told).await?.map_or_else(drop, drop);
        let mut prompted = stage.prompted();
        stage.end().await;
        prompted.iter_mut().for_each(|it: &mut Value| it["issue"] = json!(other.issue));
        let told = json!({"method": "pipeline/run", "wanted": other.phases, "prompted": prompted});
        scene.witness("prompted", &told);
        place.others.lock().unwrap_or_else(PoisonError::into_inner).extend(phases);
        place.look(scene, "gone")
    }
}
