//! A case: what stands there before, what the runner is told to do, where it is killed, and what comes after.

use super::repository::{Repository, done};
use super::shim::Shim;
use super::stage::{Moment, PHASES, Phase, Stage};
use crate::kit::Play;
use crate::scene::{Scene, Troubled, broken, our_fault};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Between two looks at a runner that is to come to a place.
const LOOK: Duration = Duration::from_millis(25);
/// So often it is looked: ten seconds.
const LOOKS: usize = 400;

/// More calls of git than a run makes that does anything else.
const MOST_CALLS: usize = 200;

/// What happens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Played {
    /// The issue's number.
    #[serde(default = "seven")]
    issue: String,
    /// The phases, in their order; without them designing, implementing and testing.
    #[serde(default = "usual")]
    phases: Vec<String>,
    /// In order.
    steps: Vec<Step>,
}

fn seven() -> String {
    "7".to_owned()
}

fn usual() -> Vec<String> {
    ["designing", "implementing", "testing"].map(str::to_owned).to_vec()
}

/// One thing that happens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Step {
    /// A checkpoint stands there, and the work that it speaks of.
    Checkpoint(Planted),
    /// Somebody else's worktree stands there, with work in it.
    Worktree(String),
    /// The pipeline begins.
    Run(Going),
    /// It goes on.
    Resume(Going),
    /// Killed between any two calls of git, each time anew, and resumed.
    Sweep(Empty),
    /// Left-overs are swept.
    Cleanup(Empty),
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Empty {}

/// A checkpoint that a case puts there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Planted {
    phase: String,
    /// Whose; the case's own without it.
    issue: Option<String>,
    #[serde(default = "success")]
    status: String,
    #[serde(default = "noon")]
    timestamp: String,
    /// The file ends in the middle.
    #[serde(default)]
    torn: bool,
    /// It says more than it needs to.
    #[serde(default)]
    more: bool,
}

fn success() -> String {
    "success".to_owned()
}

fn noon() -> String {
    "2026-01-01T12:00:00Z".to_owned()
}

/// A run of the pipeline, from the start or from where it was.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Going {
    /// The phases whose agents must be prompted, each once, in order.
    prompts: Vec<String>,
    /// It may also stop, and prompt nobody.
    #[serde(default)]
    or_stops: bool,
    /// The runner is killed here, and its server with it.
    kill: Option<Place>,
    /// The agent of this phase fails after its work.
    fails: Option<String>,
}

/// A place in a run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    phase: String,
    at: Moment,
}

impl Play for Played {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            let repository = Repository::make(scene.folder())?;
            scene.witness("pipeline", &json!({
                "issue": self.issue, "root": repository.root,
                "phases": self.phases()?.iter().map(|phase| json!({
                    "phase": phase.name, "agent": phase.agent, "destructive": phase.is_destructive, "files": phase.files,
                })).collect::<Vec<_>>(),
            }));
            for step in &self.steps {
                match step {
                    Step::Checkpoint(planted) => self.plant(scene, &repository, planted)?,
                    Step::Worktree(name) => plant_worktree(scene, &repository, name)?,
                    Step::Run(going) => self.goes(scene, &repository, "pipeline/run", going).await?,
                    Step::Resume(going) => self.goes(scene, &repository, "pipeline/resume", going).await?,
                    Step::Sweep(_) => self.sweep(scene).await?,
                    Step::Cleanup(_) => {
                        scene.person("sweeps what is left");
                        let swept = json!({"issue": self.issue, "folder": repository.root});
                        scene.must("pipeline/cleanup", swept).await?;
                        look(scene, &repository, "swept")?;
                    }
                }
            }
            Ok(())
        })
    }
}

impl Played {
    fn phases(&self) -> Result<Vec<&'static Phase>, Troubled> {
        self.phases.iter().map(|name| Phase::of(name)).collect()
    }

    fn plant(&self, scene: &mut Scene, repository: &Repository, planted: &Planted) -> Result<(), Troubled> {
        let phase = Phase::of(&planted.phase)?;
        let issue = planted.issue.as_ref().unwrap_or(&self.issue);
        scene.person(format!("has a checkpoint of {issue}: {} {}", phase.name, planted.status));
        let mut says = json!({
            "issue_number": issue, "phase": phase.name, "agent_name": phase.agent, "files_modified": phase.files,
            "status": planted.status, "timestamp": planted.timestamp, "next_agent": Value::Null,
        });
        if planted.more {
            says["runner_version"] = json!("9.9");
        }
        let mut text = says.to_string();
        if planted.torn {
            text.truncate(text.len() / 2);
        } else if planted.status == "success" && *issue == self.issue {
            repository.do_work(phase)?;
        }
        repository.write(&format!(".kilo/logs/checkpoints/{issue}-{}.json", phase.name), &text)
    }

    async fn goes(
        &self,
        scene: &mut Scene,
        repository: &Repository,
        method: &str,
        going: &Going,
    ) -> Result<(), Troubled> {
        let hold = going.kill.as_ref().map(|place| (place.phase.as_str(), place.at));
        let stage = Stage::begin(&repository.root, hold, going.fails.as_deref()).await?;
        let told = self.told(repository, &stage, None)?;
        scene.person(format!("{method} of the issue {}", self.issue));
        match &going.kill {
            None => {
                // That it refuses is an answer: what it has done is seen.
                let _answer = scene.ask(method, told).await?;
            }
            Some(place) => {
                let phase = Phase::of(&place.phase)?;
                let mut asked = scene.begin(method, told).await?;
                let mut looks = 0;
                while !stage.has_come_to(phase, place.at) {
                    looks += 1;
                    if looks > LOOKS || asked.answered_within(LOOK).await.is_some() {
                        return Err(broken(format!("{method} never came to the phase {}", phase.name)));
                    }
                }
                look(scene, repository, "held")?;
                scene.person(format!("kills the runner and its server in the phase {}", phase.name));
                scene.kill().await;
            }
        }
        let prompted = stage.prompted();
        stage.end().await;
        scene.witness(
            "prompted",
            &json!({
                "method": method, "wanted": going.prompts, "orStops": going.or_stops, "prompted": prompted,
                "killed": going.kill.as_ref().map(|place| &place.phase), "failed": going.fails,
            }),
        );
        let when = if going.kill.is_some() { "killed" } else { "gone" };
        look(scene, repository, when)?;
        if going.kill.is_none() {
            scene.witness("work", &self.work(repository, going.fails.as_deref())?);
            scene.witness("patches", &json!(repository.patches(going.fails.as_deref())?));
            return Ok(());
        }
        scene.restart().await
    }

    fn told(&self, repository: &Repository, stage: &Stage, shim: Option<&Shim>) -> Result<Value, Troubled> {
        let phases: Vec<Value> = self
            .phases()?
            .iter()
            .map(|phase| json!({"phase": phase.name, "agent": phase.agent, "destructive": phase.is_destructive}))
            .collect();
        Ok(json!({
            "issue": self.issue, "folder": repository.root, "server": stage.address(), "phases": phases,
            "path": shim.map(Shim::path),
        }))
    }

    /// Killed at the first call of git, at the second, and so on, until a run comes to its end.
    async fn sweep(&self, scene: &mut Scene) -> Result<(), Troubled> {
        for call in 1..=MOST_CALLS {
            let root = scene.folder().join("work");
            std::fs::remove_dir_all(&root).map_err(|error| our_fault(error.to_string()))?;
            let repository = Repository::make(scene.folder())?;
            let shim = Shim::holding_at(call)?;
            let stage = Stage::begin(&repository.root, None, None).await?;
            scene.person(format!("pipeline/run of the issue {}, killed at call {call} of git", self.issue));
            let mut asked = scene.begin("pipeline/run", self.told(&repository, &stage, Some(&shim))?).await?;
            let mut looks = 0;
            while !shim.holds() {
                looks += 1;
                if asked.answered_within(LOOK).await.is_some() {
                    stage.end().await;
                    scene.witness("swept-calls", &json!(call - 1));
                    return Ok(());
                }
                if looks > LOOKS {
                    return Err(broken(format!("a run neither ended nor came to call {call} of git")));
                }
            }
            scene.witness("interrupted", &json!({"call": call, "git": shim.last_words()}));
            scene.kill().await;
            stage.end().await;
            scene.restart().await?;
            let undone = undone(&self.issue, &self.phases()?, &repository.seen()?);
            self.ends(scene, &repository, &undone).await?;
        }
        Err(broken(format!("a run calls git more than {MOST_CALLS} times")))
    }

    /// A resume that nobody disturbs; what is done already without a checkpoint need not be done again.
    async fn ends(
        &self,
        scene: &mut Scene,
        repository: &Repository,
        undone: &[&str],
    ) -> Result<(), Troubled> {
        let stage = Stage::begin(&repository.root, None, None).await?;
        scene.person(format!("pipeline/resume of the issue {}", self.issue));
        let _answer = scene.ask("pipeline/resume", self.told(repository, &stage, None)?).await?;
        let prompted = stage.prompted();
        stage.end().await;
        scene.witness(
            "prompted",
            &json!({
                "method": "pipeline/resume", "wanted": undone, "orFewer": true, "prompted": prompted,
            }),
        );
        look(scene, repository, "gone")?;
        scene.witness("work", &self.work(repository, None)?);
        scene.witness("patches", &json!(repository.patches(None)?));
        Ok(())
    }

    /// What each file should hold once all phases before the failing one are done, and what it holds.
    fn work(&self, repository: &Repository, fails: Option<&str>) -> Result<Value, Troubled> {
        let phases = self.phases()?;
        let until = phases.iter().position(|phase| Some(phase.name) == fails).unwrap_or(phases.len());
        let mut told = Map::new();
        for file in PHASES.iter().flat_map(|phase| phase.files) {
            let mut wanted = if *file == "src/app.txt" { "app\n".to_owned() } else { String::new() };
            for phase in phases[..until].iter().filter(|phase| phase.files.contains(file)) {
                wanted.push_str(done(phase, file));
            }
            let found = std::fs::read_to_string(repository.root.join(file)).unwrap_or_default();
            told.insert((*file).to_owned(), json!({"wanted": wanted, "found": found}));
        }
        Ok(Value::Object(told))
    }
}

/// The phases that no whole checkpoint calls a success, from the first of them on.
fn undone<'a>(issue: &str, phases: &[&'a Phase], seen: &Value) -> Vec<&'a str> {
    let is_done = |phase: &&&Phase| {
        let name = format!("{issue}-{}.json", phase.name);
        let all = seen["checkpoints"].as_array().into_iter().flatten();
        all.clone().any(|it| it["file"] == name.as_str() && it["says"]["status"] == "success")
    };
    phases.iter().skip_while(is_done).map(|phase| phase.name).collect()
}

/// Somebody else works there, and has not committed it.
fn plant_worktree(scene: &mut Scene, repository: &Repository, name: &str) -> Result<(), Troubled> {
    scene.person(format!("works in a worktree of their own: {name}"));
    let branch = format!("mine/{}", name.rsplit('/').next().unwrap_or(name));
    repository.git(&["worktree", "add", "--quiet", "-b", &branch, name])?;
    repository.write(&format!("{name}/mine.txt"), "mine\n")
}

fn look(scene: &Scene, repository: &Repository, when: &str) -> Result<(), Troubled> {
    let mut seen = repository.seen()?;
    seen["when"] = json!(when);
    let own = std::fs::read_to_string(repository.root.join(".kilo/worktrees/other/mine.txt"));
    seen["others"] = json!(own.is_ok());
    scene.witness("disk", &seen);
    Ok(())
}
