//! A runner that is killed at its first call of git, at its second, and so on, or whose call fails, each time in a fresh
//! repository, and resumed.

use super::super::failing::Failing;
use super::super::phases::Phase;
use super::super::repository::Repository;
use super::super::shim::Shim;
use super::super::stage::Stage;
use super::{Place, Played};
use crate::scene::{Scene, Troubled, broken, our_fault};
use harness::clock::within;
use serde_json::{Value, json};

/// More calls of git than a run makes that does anything else.
const MOST_CALLS: usize = 200;

impl Played {
    /// Until a run comes to its end before the call.
    pub(super) async fn sweep(&self, scene: &mut Scene) -> Result<(), Troubled> {
        let limit = scene.limits().answer;
        for call in 1..=MOST_CALLS {
            let place = self.fresh(scene)?;
            let mut shim = Shim::holding_at(call)?;
            let stage = Stage::begin(&place.repository.root, &[], None).await?;
            scene.person(format!("pipeline/run of the issue {}, killed at call {call} of git", self.issue));
            let mut told = self.told(&place, Some(&stage))?;
            told["path"] = json!(shim.path());
            let mut asked = scene.begin("pipeline/run", told).await?;
            let held = tokio::select! {
                biased;
                held = within(limit, shim.holds()) => held,
                Some(_) = asked.answered_within(limit) => {
                    stage.end().await;
                    scene.witness("swept-calls", &json!(call - 1));
                    return Ok(());
                }
            };
            let never = || broken(format!("a run neither ended nor came to call {call} of git"));
            scene.witness("interrupted", &json!({"call": call, "git": held.ok_or_else(never)??}));
            scene.kill().await;
            stage.end().await;
            scene.restart().await?;
            let undone = undone(&self.issue, &self.phases()?, &place.repository.seen()?);
            self.ends(scene, &place, &undone).await?;
        }
        Err(broken(format!("a run calls git more than {MOST_CALLS} times")))
    }

    /// As the other sweep; the call fails, and the runner lives on.
    pub(super) async fn sweep_of_failures(&self, scene: &mut Scene) -> Result<(), Troubled> {
        for call in 1..=MOST_CALLS {
            let place = self.fresh(scene)?;
            let failing = Failing::at(call)?;
            let stage = Stage::begin(&place.repository.root, &[], None).await?;
            scene.person(format!("pipeline/run of the issue {}; call {call} of git fails", self.issue));
            let mut told = self.told(&place, Some(&stage))?;
            told["path"] = json!(failing.path());
            // That it can't go on is an answer: what it has done is seen.
            scene.ask("pipeline/run", told).await?.map_or_else(drop, drop);
            stage.end().await;
            let Some(words) = failing.has_failed() else {
                scene.witness("swept-calls", &json!(call - 1));
                return Ok(());
            };
            scene.witness("interrupted", &json!({"call": call, "git": words, "fails": true}));
            let undone = undone(&self.issue, &self.phases()?, &place.repository.seen()?);
            self.ends(scene, &place, &undone).await?;
        }
        Err(broken(format!("a run calls git more than {MOST_CALLS} times")))
    }

    /// The same place, as if nothing had been.
    fn fresh(&self, scene: &Scene) -> Result<Place, Troubled> {
        let root = scene.folder().join("work");
        std::fs::remove_dir_all(&root).map_err(|error| our_fault(error.to_string()))?;
        let place = Place::of(Repository::make(scene.folder())?, self.phases()?);
        place.repository.begin_own_work()?;
        Ok(place)
    }

    /// A resume that nobody disturbs; what is done already without a checkpoint need not be done again.
    async fn ends(&self, scene: &mut Scene, place: &Place, undone: &[&str]) -> Result<(), Troubled> {
        let stage = Stage::begin(&place.repository.root, &[], None).await?;
        scene.person(format!("pipeline/resume of the issue {}", self.issue));
        let _answer = scene.ask("pipeline/resume", self.told(place, Some(&stage))?).await?;
        let prompted = stage.prompted();
        stage.end().await;
        scene.witness(
            "prompted",
            &json!({"method": "pipeline/resume", "wanted": undone, "orFewer": true, "prompted": prompted}),
        );
        place.look(scene, "gone")?;
        scene.witness("work", &self.work(place, None, "app\n")?);
        scene.witness("patches", &json!(place.repository.patches(&self.issue, &self.phases()?, None)?));
        Ok(())
    }
}

/// The phases that no whole checkpoint calls a success, from the first of them on.
fn undone<'a>(issue: &str, phases: &[&'a Phase], seen: &Value) -> Vec<&'a str> {
    let is_done = |phase: &&&Phase| super::wishes::said_of(issue, phase.name, seen) == Some("success");
    phases.iter().skip_while(is_done).map(|phase| phase.name).collect()
}
