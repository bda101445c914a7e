//! A run or a resume, with what happens in its midst: it is killed, its agent fails, or the person works, too.

use super::super::repository::OWN_LINE;
use super::super::stage::{Moment, Stage};
use super::wishes::said_of;
use super::{Place, Played, UNATTENDED};
use crate::scene::{Scene, Troubled, broken};
use harness::clock::within;
use harness::link::AskError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::PoisonError;

/// A run of the pipeline, from the start or from where it was.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Going {
    /// The phases whose agents must be prompted, each once, in order.
    prompts: Vec<String>,
    /// It may also stop, and prompt nobody.
    #[serde(default)]
    or_stops: bool,
    /// Who stops says what is wrong, with this name in it: else it stops each time, and nobody knows why.
    names: Option<String>,
    /// It may also stop before this phase, if its checkpoint says that it is blocked.
    or_stops_at: Option<String>,
    /// The runner is killed here, and its server with it; who may stop may have done so before.
    kill: Option<Spot>,
    /// The agent of this phase fails after its work.
    fails: Option<String>,
    /// The person works here, too.
    meanwhile: Option<Meanwhile>,
    /// Something stands in the way of this phase, which is blocked.
    blocked: Option<String>,
    /// The agent of this phase asks for leave, and nobody is there to give it.
    asks: Option<String>,
}

/// A place in a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spot {
    phase: String,
    at: Moment,
}

/// What the person does to the file of the lead developer, who has done his work and not said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Meanwhile {
    /// Commits another line.
    Commits,
    /// Writes another line.
    Writes,
}

/// Whose work the person crosses.
const CROSSED: &str = "implementing";

impl Going {
    /// Where it is held, and waits for the harness.
    fn hold(&self) -> Option<(&str, Moment)> {
        let crossed = self.meanwhile.map(|_| (CROSSED, Moment::Worked));
        self.kill.as_ref().map(|spot| (spot.phase.as_str(), spot.at)).or(crossed)
    }

    /// Does a phase of it end as it should not?
    pub(super) fn is_blocked(&self) -> bool {
        self.meanwhile.is_some() || self.blocked.is_some() || self.asks.is_some()
    }

    /// The phase at which it ends early.
    fn last(&self) -> Option<&str> {
        let crossed = self.meanwhile.map(|_| CROSSED);
        self.fails.as_deref().or(crossed).or(self.blocked.as_deref()).or(self.asks.as_deref())
    }
}

impl Played {
    pub(super) async fn goes(
        &self,
        scene: &mut Scene,
        place: &Place,
        method: &str,
        going: &Going,
    ) -> Result<(), Troubled> {
        let hold = going.hold();
        let stage = Stage::begin(&place.repository.root, hold.as_slice(), going.fails.as_deref()).await?;
        let told = self.told(place, Some(&stage))?;
        scene.person(format!("{method} of the issue {}", self.issue));
        let mut hangs = false;
        let killed = match (hold, &going.asks) {
            (None, Some(phase)) => {
                hangs = unattended(scene, (method, told), &stage, phase).await?;
                false
            }
            // That it refuses is an answer: what it has done is seen.
            (None, None) => scene.ask(method, told).await?.map_or_else(|_| false, |_| false),
            (Some(spot), _) => self.held(scene, place, (method, told), going, &stage, spot).await?,
        };
        let killed = going.kill.as_ref().filter(|_| killed);
        let prompted = stage.prompted();
        stage.end().await;
        let stops_at = going.or_stops_at.as_deref();
        scene.witness(
            "prompted",
            &json!({
                "method": method, "wanted": going.prompts, "orStops": going.or_stops, "names": going.names, "orStopsAt": stops_at,
                "prompted": prompted, "killed": killed.map(|spot| &spot.phase),
                "failed": going.fails, "blocked": going.meanwhile.map(|_| CROSSED).or(going.blocked.as_deref()),
                "asks": going.asks, "hangs": hangs,
            }),
        );
        let is_ended = killed.is_some() || hangs;
        place.look(scene, if is_ended { "killed" } else { "gone" })?;
        if is_ended {
            return scene.restart().await;
        }
        let app = if going.meanwhile.is_some() { format!("app\n{OWN_LINE}") } else { "app\n".to_owned() };
        let stopped = stops_at.filter(|phase| !prompted.iter().any(|it| it["phase"] == **phase));
        // Who stops there may have been stopped at the end of the phase before.
        let undone = stopped.map(|_| self.undone(place)).transpose()?.flatten();
        let until = going.last().or(undone.as_deref()).or(stopped);
        scene.witness("work", &self.work(place, until, &app)?);
        let patches = place.repository.patches(&self.issue, &self.phases()?, until)?;
        // What the person or another issue has changed meanwhile is in no agent's patch.
        let is_alone = place.others.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        let is_alone = is_alone && going.meanwhile.is_none();
        scene.witness("patches", &if is_alone { json!(patches) } else { json!([]) });
        Ok(())
    }

    /// The first phase that no whole checkpoint calls a success.
    fn undone(&self, place: &Place) -> Result<Option<String>, Troubled> {
        let seen = place.repository.seen()?;
        let mut names = self.phases.iter();
        Ok(names.find(|name| said_of(&self.issue, name, &seen) != Some("success")).cloned())
    }

    /// Waits until it has come to its place; then it is killed, or the person does something and it goes on. Was it killed?
    async fn held(
        &self,
        scene: &mut Scene,
        place: &Place,
        (method, told): (&str, Value),
        going: &Going,
        stage: &Stage,
        spot: (&str, Moment),
    ) -> Result<bool, Troubled> {
        let (phase, limit) = (spot.0, scene.limits().answer);
        let mut hanging = None;
        if let (Moment::Contained, Some(docker)) = (spot.1, &place.docker) {
            hanging = Some(docker.hangs()?);
        }
        let mut asked = scene.begin(method, told).await?;
        let spots = [spot];
        let comes = async {
            match &mut hanging {
                Some(docker) => docker.holds().await.map(drop),
                None => {
                    stage.come_to(&spots).await;
                    Ok(())
                }
            }
        };
        let never = |why: &str| broken(format!("{method} never came to the phase {phase}{why}"));
        tokio::select! {
            biased;
            come = within(limit, comes) => come.ok_or_else(|| never(""))??,
            answer = asked.answered_within(limit) => {
                return match answer {
                    _ if going.or_stops => Ok(false),
                    Some(Err(AskError::Refused { error, .. })) => Err(never(&format!(": {}", error.message))),
                    _ => Err(never("")),
                };
            }
        }
        place.look(scene, "held")?;
        let Some(meanwhile) = going.meanwhile else {
            scene.person(format!("kills the runner and its server in the phase {phase}"));
            scene.kill().await;
            return Ok(true);
        };
        scene.person(format!("writes in the file of the agent meanwhile: {meanwhile:?}"));
        place.repository.own_line(meanwhile == Meanwhile::Commits)?;
        stage.open();
        scene.answer(asked).await?.map_or_else(drop, drop);
        Ok(false)
    }
}

/// Nobody answers an agent's question. Whoever waits for that for ever is ended; does it?
async fn unattended(
    scene: &mut Scene,
    (method, told): (&str, Value),
    stage: &Stage,
    phase: &str,
) -> Result<bool, Troubled> {
    let limit = scene.limits().answer;
    let mut asked = scene.begin(method, told).await?;
    let asks = [(phase, Moment::Asked)];
    // That it refuses is an answer: what it has done is seen.
    let is_over = tokio::select! {
        biased;
        answer = asked.answered_within(limit) => answer.is_some(),
        () = stage.come_to(&asks) => asked.answered_within(UNATTENDED).await.is_some(),
    };
    if !is_over {
        scene.person("is not there; the runner still waits, and is killed");
        scene.kill().await;
    }
    Ok(!is_over)
}
