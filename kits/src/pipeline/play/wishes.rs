//! What a person asks of a runner between runs: how far it is, to take a file back, to sweep.

use super::{Place, Played};
use crate::scene::{Scene, Troubled};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A change that is taken back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TakenBack {
    /// Whose.
    agent: String,
    /// To which file.
    path: String,
    /// What it holds then; without it there is no such file.
    left: Option<String>,
    /// It leads to another place, and has to be refused.
    #[serde(default)]
    refused: bool,
}

impl Played {
    pub(super) async fn clean(&self, scene: &mut Scene, place: &Place) -> Result<(), Troubled> {
        scene.person("sweeps what is left");
        let told = self.told(place, None)?;
        match place.keeps() {
            // Who can't remove what is left says so: that is an answer.
            true => scene.ask("pipeline/cleanup", told).await?.map_or_else(drop, drop),
            false => drop(scene.must("pipeline/cleanup", told).await?),
        }
        place.look(scene, "swept")
    }

    /// Where it would go on, by the checkpoints that are there.
    pub(super) async fn status(&self, scene: &mut Scene, place: &Place) -> Result<(), Troubled> {
        let seen = place.repository.seen()?;
        let said = |phase: &str| said_of(&self.issue, phase, &seen);
        let undone = self.phases()?.into_iter().find(|phase| said(phase.name) != Some("success"));
        let wanted = match undone {
            None => json!({"phase": null, "agent": null, "status": "success"}),
            Some(phase) => json!({
                "phase": phase.name, "agent": phase.agent, "status": said(phase.name).unwrap_or("pending"),
            }),
        };
        scene.person("asks how far it is");
        let told = scene.ask("pipeline/status", self.told(place, None)?).await?;
        scene.witness(
            "status",
            &json!({"wanted": wanted, "told": told.unwrap_or_else(|error| json!(error.message))}),
        );
        Ok(())
    }

    pub(super) async fn take_back(
        &self,
        scene: &mut Scene,
        place: &Place,
        taken: &TakenBack,
    ) -> Result<(), Troubled> {
        let TakenBack { agent, path, left, refused } = taken;
        scene.person(format!("takes back what {agent} did to {path}"));
        let (before, mut runs) = place.repository.tree()?;
        let index = || place.repository.git(&["diff", "--cached", "--name-only"]);
        let staged = index()?;
        let mut told = self.told(place, None)?;
        (told["agent"], told["file"]) = (json!(agent), json!(path));
        let answer = scene.ask("diff/revertFile", told).await?;
        let (after, runs_now) = place.repository.tree()?;
        let mut wanted = before;
        match left {
            _ if *refused => {}
            Some(text) => wanted[path] = json!(text),
            None => {
                runs.remove(path);
                drop(wanted.as_object_mut().and_then(|wanted| wanted.remove(path)));
            }
        }
        scene.witness(
            "taken-back",
            &json!({
                "path": path, "wanted": wanted, "found": after, "refused": refused, "done": answer.is_ok(), "staged": [staged, index()?],
                "runs": [runs, runs_now],
            }),
        );
        place.look(scene, "swept-back")
    }
}

/// What the whole checkpoint of a phase says that came of it.
pub(super) fn said_of<'a>(issue: &str, phase: &str, seen: &'a Value) -> Option<&'a str> {
    let name = format!("{issue}-{phase}.json");
    let mut all = seen["checkpoints"].as_array().into_iter().flatten();
    all.find(|it| it["file"] == name.as_str())?["says"]["status"].as_str()
}
