//! Two issues at once, in one repository: their agents work at the same time, and what they have made is merged into the same
//! checkout.

use super::super::phases::Phase;
use super::super::stage::{Moment, Stage};
use super::{Place, Played};
use crate::scene::{Scene, Troubled, broken};
use crate::story::Story;
use fixtures::recording::Line;
use harness::clock::within;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Two issues, each with one phase.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Together {
    /// The phase of the case's issue, and that of the issue 8.
    phases: [String; 2],
    /// Where both are held until the other one is there, too.
    at: Moment,
    /// Both write the same line: one of them is blocked.
    #[serde(default)]
    cross: bool,
    /// The second issue begins when the agent of the first one is at its work already.
    #[serde(default)]
    later: bool,
}

/// The other issue.
const OTHER: &str = "8";

impl Together {
    pub(super) fn phases(&self) -> impl Iterator<Item = &String> {
        self.phases.iter()
    }
}

impl Played {
    pub(super) async fn both(
        &self,
        scene: &mut Scene,
        place: &Place,
        together: &Together,
    ) -> Result<(), Troubled> {
        let issues = [self.issue.as_str(), OTHER];
        let spots = [0, 1].map(|which| (together.phases[which].as_str(), together.at));
        let stage = Stage::begin(&place.repository.root, &spots, None).await?;
        let (mut begun, from) = (Vec::new(), scene.journal().lines().len());
        for (which, (issue, phase)) in issues.into_iter().zip(&together.phases).enumerate() {
            scene.person(format!("pipeline/run of the issue {issue}"));
            let told = place.told(issue, &[Phase::of(phase)?], Some(&stage));
            begun.push(scene.begin("pipeline/run", told).await?);
            if together.later || which == 1 {
                come(scene, &stage, &spots[..=which], from).await?;
            }
        }
        place.look(scene, "held")?;
        stage.open();
        for asked in begun {
            scene.answer(asked).await?.map_or_else(drop, drop);
        }
        let prompted = stage.prompted();
        stage.end().await;
        for (issue, phase) in issues.into_iter().zip(&together.phases) {
            let own: Vec<Value> = prompted
                .iter()
                .filter(|it| it["phase"] == phase.as_str())
                .map(|it| {
                    let mut it = it.clone();
                    it["issue"] = json!(issue);
                    it
                })
                .collect();
            let told = json!({"method": "pipeline/run", "wanted": [phase], "prompted": own});
            scene.witness("prompted", &told);
        }
        place.look(scene, "gone")?;
        scene.witness("together", &json!({"cross": together.cross, "of": issues.into_iter().zip(&together.phases).collect::<Vec<_>>()}));
        Ok(())
    }
}

/// Waits until all of these are at their moment. A runner that takes one issue after the other never comes there; one that
/// has failed has answered, and is seen as it is.
async fn come(scene: &Scene, stage: &Stage, spots: &[(&str, Moment)], from: usize) -> Result<(), Troubled> {
    let has_answered = |lines: &[Line]| {
        let story = Story::of(lines);
        story.calls_of("pipeline/run").any(|call| call.at.line >= from && call.answer.is_some())
    };
    let waits = async {
        tokio::select! {
            biased;
            () = stage.come_to(spots) => {}
            _ = scene.journal().wait_until(has_answered) => {}
        }
    };
    let come = within(scene.limits().answer, waits).await;
    come.ok_or_else(|| broken("two issues that were begun at once were never worked on at once"))
}
