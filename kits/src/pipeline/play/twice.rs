//! The same issue, begun a second time while it runs: by a timer, or by somebody who takes it for dead. What an agent is at is not
//! to be taken from under it, and no work is done twice.

use super::super::stage::{Moment, Stage};
use super::{Place, Played};
use crate::scene::{Scene, Troubled, broken, our_fault};
use harness::clock::within;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Begun, and begun once more when the first agent is at work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Twice {
    /// The phases whose agents must be prompted, each once, in order, by whichever of the two.
    prompts: Vec<String>,
}

/// Who waits for the first one says nothing meanwhile: so long it is looked on what the second one does.
const LOOKED_ON: Duration = Duration::from_secs(3);

impl Played {
    pub(super) async fn twice(
        &self,
        scene: &mut Scene,
        place: &Place,
        twice: &Twice,
    ) -> Result<(), Troubled> {
        let phases = self.phases()?;
        let first = phases.first().ok_or_else(|| our_fault("the case has no phase"))?;
        let spots = [(first.name, Moment::Asked)];
        let stage = Stage::begin(&place.repository.root, &spots, None).await?;
        let told = self.told(place, Some(&stage))?;
        scene.person(format!("pipeline/run of the issue {}", self.issue));
        let one = scene.begin("pipeline/run", told.clone()).await?;
        let come = within(scene.limits().answer, stage.come_to(&spots)).await;
        come.ok_or_else(|| broken(format!("pipeline/run never came to the phase {}", first.name)))?;
        scene.person(format!("pipeline/resume of the issue {}, which runs", self.issue));
        let mut other = scene.begin("pipeline/resume", told).await?;
        // That it is refused is an answer, and so is that it ends well: what has been done is seen.
        let is_over = other.answered_within(LOOKED_ON).await.is_some();
        place.look(scene, "held")?;
        stage.open();
        scene.answer(one).await?.map_or_else(drop, drop);
        if !is_over {
            scene.answer(other).await?.map_or_else(drop, drop);
        }
        let prompted = stage.prompted();
        stage.end().await;
        let told =
            json!({"method": "pipeline/run", "wanted": twice.prompts, "prompted": prompted, "twice": true});
        scene.witness("prompted", &told);
        place.look(scene, "gone")?;
        scene.witness("work", &self.work(place, None, "app\n")?);
        let patches = place.repository.patches(&self.issue, &phases, None)?;
        scene.witness("patches", &json!(patches));
        Ok(())
    }
}
