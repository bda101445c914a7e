//! A case: what stands there before, what the runner is told to do, where it is killed, and what comes after.
//!
//! * `before` — what is there already. * `going` — a run or a resume, and what happens in its midst. * `held` —
//!   the checkpoints of the last look. * `sweep` — killed between
//!   any two calls of git. * `together` — two issues at once. * `wishes` — a status, a plan, a file taken back, a sweep.

mod before;
mod going;
mod held;
mod sweep;
mod together;
mod wishes;

use super::docker::{Docker, Engine};
use super::phases::{PHASES, Phase, base};
use super::repository::{Repository, runs};
use super::stage::{PASSWORD, Stage};
use crate::kit::Play;
use crate::scene::{Scene, Troubled};
use before::{LeftOver, Planted};
use futures_util::future::BoxFuture;
use going::Going;
use held::Held;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};
use together::Together;
use wishes::TakenBack;

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
    /// The repository has a submodule, `lib`.
    #[serde(default)]
    submodule: bool,
    /// The person is about to commit something: it is in the index. Git merges nothing into such a checkout but what lies
    /// ahead of it.
    #[serde(default)]
    staged: bool,
    /// The person has nothing begun and nothing changed; a stash of before is there.
    #[serde(default)]
    clean: bool,
    /// The person is on this branch, which is ahead of `main`.
    branch: Option<String>,
    /// How it is with containers; without it there is no docker of the case's own.
    docker: Option<Engine>,
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
    /// Somebody else's worktree stands there, and whose agent works there has not begun.
    IdleWorktree(String),
    /// Something is left where the lead developer is to work.
    LeftOver(LeftOver),
    /// The pipeline begins.
    Run(Going),
    /// It goes on.
    Resume(Going),
    /// Two issues are worked on at once.
    Together(Together),
    /// Killed between any two calls of git, each time anew, and resumed.
    Sweep(Empty),
    /// Left-overs are swept.
    Cleanup(Empty),
    /// Somebody asks how far it is.
    Status(Empty),
    /// What an agent did to a file is taken back.
    TakeBack(TakenBack),
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Empty {}

/// The place of a case.
struct Place {
    repository: Repository,
    /// The checkpoints that stood there at the last look.
    held: Mutex<Held>,
    docker: Option<Docker>,
    phases: Vec<&'static Phase>,
    asks: Asks,
    /// Spellings of what a runner must keep to itself.
    secrets: Mutex<Vec<String>>,
}

impl Play for Played {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            scene.keep_secret("password of the server", PASSWORD);
            let mut repository = Repository::make(scene.folder())?;
            if let Some(branch) = &self.branch {
                repository.branch_off(branch)?;
            }
            if !self.clean {
                repository.begin_own_work()?;
            }
            if self.submodule {
                repository.add_library()?;
            }
            if self.staged {
                repository.stage()?;
            }
            let docker = self.docker.map(Docker::make).transpose()?;
            let phases = PHASES.iter().filter(|phase| self.knows(phase)).collect();
            let place = Place { docker, asks: self.asks(), ..Place::of(repository, phases) };
            scene.witness("pipeline", &json!({
                "issue": self.issue, "root": place.repository.root, "docker": self.docker.is_some(), "staged": self.staged,
                "clean": self.clean, "branch": self.branch.as_deref().unwrap_or("main"), "main": place.repository.main()?,
                "phases": place.phases.iter().map(|phase| json!({
                    "phase": phase.name, "agent": phase.agent, "destructive": phase.is_destructive, "files": phase.files,
                    "removes": phase.removes, "image": phase.image,
                })).collect::<Vec<_>>(),
            }));
            for step in &self.steps {
                match step {
                    Step::Checkpoint(planted) => self.plant(scene, &place, planted)?,
                    Step::Worktree(name) => before::plant_worktree(scene, &place, name, true)?,
                    Step::IdleWorktree(name) => before::plant_worktree(scene, &place, name, false)?,
                    Step::LeftOver(left_over) => self.leave(scene, &place, *left_over)?,
                    Step::Run(going) => self.goes(scene, &place, "pipeline/run", going).await?,
                    Step::Resume(going) => self.goes(scene, &place, "pipeline/resume", going).await?,
                    Step::Together(together) => self.both(scene, &place, together).await?,
                    Step::Sweep(_) => self.sweep(scene).await?,
                    Step::Cleanup(_) => self.clean(scene, &place).await?,
                    Step::Status(_) => self.status(scene, &place).await?,
                    Step::TakeBack(taken) => self.take_back(scene, &place, taken).await?,
                }
            }
            Ok(())
        })
    }
}

/// What a case asks of a look, beside the rest: each is a search through all that git keeps.
#[derive(Debug, Clone, Copy, Default)]
struct Asks {
    /// Where the work of each phase is.
    kept: bool,
    /// Whether what was left is still somewhere.
    left_over: bool,
}

impl Played {
    fn asks(&self) -> Asks {
        let any = |is: &dyn Fn(&Step) -> bool| self.steps.iter().any(is);
        Asks {
            kept: any(&|step| match step {
                Step::Cleanup(_) => true,
                Step::Run(going) | Step::Resume(going) => going.is_blocked(),
                _ => false,
            }),
            left_over: any(&|step| matches!(step, Step::LeftOver(_))),
        }
    }

    /// Is this phase one of the case's? Those of two issues at once are all.
    fn knows(&self, phase: &Phase) -> bool {
        let together = self.steps.iter().filter_map(|step| match step {
            Step::Together(together) => Some(together),
            _ => None,
        });
        self.phases.iter().chain(together.flat_map(Together::phases)).any(|name| name == phase.name)
    }

    fn phases(&self) -> Result<Vec<&'static Phase>, Troubled> {
        self.phases.iter().map(|name| Phase::of(name)).collect()
    }

    fn told(&self, place: &Place, stage: Option<&Stage>) -> Result<Value, Troubled> {
        Ok(place.told(&self.issue, &self.phases()?, stage))
    }

    /// What each file should hold once all phases before this one are done, and what it holds.
    fn work(&self, place: &Place, until: Option<&str>, app: &str) -> Result<Value, Troubled> {
        let phases = self.phases()?;
        let until = phases.iter().position(|phase| Some(phase.name) == until).unwrap_or(phases.len());
        let mut told = Map::new();
        for file in PHASES.iter().flat_map(|phase| phase.files) {
            let begun = if *file == "src/app.txt" { app } else { base(file) };
            let mut wanted = begun.to_owned();
            for phase in phases[..until].iter().filter(|phase| phase.files.contains(file)) {
                wanted = phase.after(file, &wanted);
            }
            let path = place.repository.root.join(file);
            let found = std::fs::read_to_string(&path).unwrap_or_default();
            let can_run = phases[..until].iter().any(|phase| phase.runs.contains(file));
            told.insert(
                (*file).to_owned(),
                json!({"wanted": wanted, "found": found, "canRun": can_run, "runs": runs(&path)}),
            );
        }
        Ok(Value::Object(told))
    }
}

impl Place {
    fn of(repository: Repository, phases: Vec<&'static Phase>) -> Self {
        Self {
            repository,
            held: Mutex::default(),
            docker: None,
            phases,
            asks: Asks::default(),
            secrets: Mutex::default(),
        }
    }

    /// What a runner is told of an issue.
    fn told(&self, issue: &str, phases: &[&Phase], stage: Option<&Stage>) -> Value {
        let phases: Vec<Value> = phases
            .iter()
            .map(|phase| {
                let mut told =
                    json!({"phase": phase.name, "agent": phase.agent, "destructive": phase.is_destructive});
                if let Some(image) = phase.image {
                    told["image"] = json!(image);
                }
                told
            })
            .collect();
        let mut told = json!({"issue": issue, "folder": self.repository.root, "phases": phases});
        if let Some(stage) = stage {
            *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = stage.secrets().to_vec();
            told["server"] = stage.address();
        }
        if let Some(docker) = &self.docker {
            told["path"] = json!(docker.path());
        }
        told
    }

    /// Writes down what is there.
    fn look(&self, scene: &Scene, when: &str) -> Result<(), Troubled> {
        let mut seen = self.repository.seen()?;
        seen["when"] = json!(when);
        let folder = self.repository.root.join(".kilo/logs/checkpoints");
        let (replaced, over) = self.held.lock().unwrap_or_else(PoisonError::into_inner).look(&folder);
        seen["replaced"] = json!(replaced);
        seen["writtenOver"] = json!(over);
        if self.asks.kept {
            let [kept, merged] = self.repository.kept(&self.phases)?;
            (seen["kept"], seen["merged"]) = (json!(kept), json!(merged));
        }
        if self.asks.left_over {
            seen["leftOver"] = json!(self.repository.has_unfinished()?);
        }
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        seen["sayingSecrets"] = json!(self.repository.saying(&secrets));
        let others = std::fs::read_to_string(self.repository.root.join(".kilo/worktrees/other/mine.txt"));
        seen["others"] = json!(others.is_ok());
        if let Some(docker) = &self.docker {
            seen["containers"] = docker.seen();
        }
        scene.witness("disk", &seen);
        Ok(())
    }
}
