//! A case: what stands there before, what the runner is told to do, where it is killed, and what comes after.
//!
//! * `before` — what is there already. * `going` — a run or a resume, and what happens in its midst. * `sweep` — killed
//!   between any two calls of git, or each of them fails. * `together` — two issues at once.
//!   * `twice` — one issue, begun again while it runs. * `other` — another issue between the runs of the case's own. * `wishes` — a status, a plan, a file taken back, a sweep.

mod before;
mod going;
mod other;
mod sweep;
mod together;
mod twice;
mod wishes;

use super::docker::{Docker, Engine};
use super::failing::Failing;
use super::phases::{PHASES, Phase, base};
use super::repository::{Repository, names, runs, text_in};
use super::stage::{PASSWORD, Stage};
use crate::held::{Changed, Held};
use crate::kit::Play;
use crate::scene::{Scene, Troubled};
use before::{LeftOver, Planted};
use futures_util::future::BoxFuture;
use going::Going;
use other::Other;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use together::Together;
use twice::Twice;
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
    /// The person's `.gitignore` does not name `.kilo`.
    #[serde(default)]
    unignored: bool,
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

/// So many seconds a question of an agent may stand there, when nobody is there who could answer it.
const ASK_LIMIT_S: u32 = 3;

/// So long after an agent has asked a run may still go on.
const UNATTENDED: Duration = Duration::from_secs(10);

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
    /// The issue is begun a second time while it runs.
    Twice(Twice),
    /// Another issue is worked on, from its beginning to its end.
    Other(Other),
    /// Killed between any two calls of git, each time anew, and resumed.
    Sweep(Empty),
    /// One call of git fails, each time another one, and the runner is resumed.
    Fails(Empty),
    /// From now on it is so with containers.
    Docker(Engine),
    /// From now on it is so with git.
    Git(GitIs),
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

/// How it is with git.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum GitIs {
    /// As it is installed.
    Works,
    /// It can remove no worktree: somebody has a file of it open.
    KeepsWorktrees,
    /// It works, and what it is told is written down.
    Journals,
}

/// The place of a case.
struct Place {
    repository: Repository,
    /// The checkpoints that stood there at the last look.
    held: Mutex<Held>,
    docker: Option<Docker>,
    /// The git in front of git, where there is one.
    git: Mutex<Option<(GitIs, Failing)>>,
    phases: Vec<&'static Phase>,
    /// What was done for other issues.
    others: Mutex<Vec<&'static Phase>>,
    asks: Asks,
    /// Spellings of what a runner must keep to itself.
    secrets: Mutex<Vec<String>>,
}

impl Play for Played {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            scene.keep_secret("password of the server", PASSWORD);
            let mut repository = Repository::make(scene.folder())?;
            if self.unignored {
                repository.forget_kilo()?;
            }
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
                    Step::Twice(twice) => self.twice(scene, &place, twice).await?,
                    Step::Other(other) => self.other(scene, &place, other).await?,
                    Step::Sweep(_) => self.sweep(scene).await?,
                    Step::Fails(_) => self.sweep_of_failures(scene).await?,
                    Step::Docker(engine) => place.docker_is(scene, *engine)?,
                    Step::Git(how) => place.git_is(scene, *how)?,
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
            let others = place.others.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let done = others.iter().chain(&phases[..until]);
            for phase in done.filter(|phase| phase.files.contains(file)) {
                wanted = phase.after(file, &wanted);
            }
            let path = place.repository.root.join(file);
            let found = text_in(&path).unwrap_or_default();
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
            git: Mutex::default(),
            phases,
            others: Mutex::default(),
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
        let mut told = json!({
            "issue": issue, "folder": self.repository.root, "phases": phases, "askLimitS": ASK_LIMIT_S,
        });
        if let Some(stage) = stage {
            *self.secrets.lock().unwrap_or_else(PoisonError::into_inner) = stage.secrets().to_vec();
            told["server"] = stage.address();
        }
        if let Some(docker) = &self.docker {
            told["path"] = json!(docker.path());
        }
        if let Some((_, git)) = &*self.git.lock().unwrap_or_else(PoisonError::into_inner) {
            told["path"] = json!(git.path());
        }
        told
    }

    /// It is another way with containers.
    fn docker_is(&self, scene: &mut Scene, engine: Engine) -> Result<(), Troubled> {
        scene.person(format!("has a docker that is so: {engine:?}"));
        self.docker.as_ref().map_or(Ok(()), |docker| docker.is(engine))
    }

    /// It is another way with git.
    fn git_is(&self, scene: &mut Scene, how: GitIs) -> Result<(), Troubled> {
        scene.person(format!("has a git that is so: {how:?}"));
        let failing = match how {
            GitIs::Works => None,
            GitIs::KeepsWorktrees => Some((how, Failing::told("worktree remove")?)),
            GitIs::Journals => Some((how, Failing::never()?)),
        };
        *self.git.lock().unwrap_or_else(PoisonError::into_inner) = failing;
        Ok(())
    }

    /// Can something not be removed just now, whoever tries?
    fn keeps(&self) -> bool {
        let git = self.git.lock().unwrap_or_else(PoisonError::into_inner);
        let keeps = git.as_ref().is_some_and(|(how, _)| *how == GitIs::KeepsWorktrees);
        keeps || self.docker.as_ref().is_some_and(Docker::keeps)
    }

    /// Writes down what is there.
    fn look(&self, scene: &Scene, when: &str) -> Result<(), Troubled> {
        let mut seen = self.repository.seen()?;
        seen["when"] = json!(when);
        seen["now"] = json!(jiff::Timestamp::now().to_string());
        let folder = self.repository.root.join(".kilo/logs/checkpoints");
        let checkpoints = names(&folder).into_iter().filter(|name| name.ends_with(".json"));
        let changed = self.held.lock().unwrap_or_else(PoisonError::into_inner).look(&folder, checkpoints);
        let name = |one: &Changed| one.name.clone();
        seen["replaced"] = changed.iter().map(name).collect();
        seen["writtenOver"] = changed.iter().filter(|one| one.is_over).map(name).collect();
        seen["keeps"] = json!(self.keeps());
        if self.asks.kept {
            let [kept, merged] = self.repository.kept(&self.phases)?;
            (seen["kept"], seen["merged"]) = (json!(kept), json!(merged));
        }
        if self.asks.left_over {
            seen["leftOver"] = json!(self.repository.has_unfinished()?);
        }
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, git)) = &*self.git.lock().unwrap_or_else(PoisonError::into_inner) {
            seen["gitSaying"] = json!(git.saying(&secrets));
        }
        seen["sayingSecrets"] = json!(self.repository.saying(&secrets));
        let others = std::fs::read_to_string(self.repository.root.join(".kilo/worktrees/other/mine.txt"));
        seen["others"] = json!(others.is_ok());
        if let Some(docker) = &self.docker {
            seen["containers"] = docker.seen(&secrets);
        }
        scene.witness("disk", &seen);
        Ok(())
    }
}
