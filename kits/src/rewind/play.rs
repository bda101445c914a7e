//! A case of the rewind kit: conversations, an edit in each, and what goes wrong around it.

use super::again::Again;
use super::ground::{ANSWER, Ground, Model, OWN_WORK, tree};
use super::server_play::OnServer;
use crate::kit::Play;
use crate::scene::{Scene, Troubled, broken, our_fault};
use fixtures::histories::Case as History;
use fixtures::recording::{Line, TroubleKind};
use futures_util::future::BoxFuture;
use harness::link::Asked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// What a seam says of itself.
const STATES: [&str; 4] = ["begin", "end", "failed", "held"];
/// The file of an agent that goes on though it should not.
pub(super) const LATE_FILE: &str = "late.txt";
/// The words of an agent that goes on though it should not.
pub(super) const LATE_WORDS: &str = "late words of the run before";

/// What happens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Editing {
    /// A conversation of the corpus by its name, or all of a kind, one after the other.
    #[serde(default = "plain_history")]
    pub(super) history: String,
    /// More of them, by their names.
    #[serde(default)]
    pub(super) more: Vec<String>,
    /// In place of it the sweep of skew, by so many milliseconds.
    pub(super) skew: Option<usize>,
    /// How often the user clicks, each time with other words.
    #[serde(default = "once")]
    pub(super) clicks: usize,
    /// The second click is on the message before.
    #[serde(default)]
    pub(super) elsewhere: bool,
    /// There are spaces around the new words, and odd signs among them.
    #[serde(default)]
    pub(super) spaces: bool,
    /// There is another task, with the same times and other words; where there are checkpoints it has a later one.
    #[serde(default)]
    beside: bool,
    /// Another task is opened before the edit.
    #[serde(default)]
    switch: bool,
    /// Another task is opened while the model answers.
    #[serde(default)]
    pub(super) opens_meanwhile: bool,
    /// The message has these pictures.
    #[serde(default)]
    pub(super) images: Vec<String>,
    /// What the edit says of pictures; nothing without it.
    pub(super) edit_images: Option<Vec<String>>,
    /// The files are to go back, and there are these checkpoints, by their name in the corpus.
    pub(super) checkpoints: Option<String>,
    /// The checkpoints are there, and the files are not to go back.
    #[serde(default)]
    pub(super) unasked: bool,
    /// The shadow repository does not have the state any more that is to be restored.
    #[serde(default)]
    pub(super) lost: bool,
    /// The user has changed a file himself.
    #[serde(default)]
    own_work: bool,
    /// The agent is at work, and writes a file and words after so many milliseconds.
    works_for_ms: Option<u32>,
    /// What is slow, and what fails.
    #[serde(default)]
    pub(super) seams: Seams,
    /// What the model does when it is told the edited message.
    #[serde(default)]
    model: Model,
    /// The client is closed afterwards, and opened again.
    #[serde(default)]
    reopened: bool,
    /// And then the user edits once more.
    again: Option<Again>,
    /// In place of all that: a conversation on a server.
    server: Option<OnServer>,
    /// The adapter stops for ever after so many writes of its lists, and is killed.
    pub(super) kill_after_writes: Option<u32>,
    /// The adapter is killed when this has begun.
    pub(super) kill_in: Option<Part>,
}

/// What takes a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    /// The work is being stopped.
    Cancel,
    /// The files are being put back.
    Restore,
    /// The task is being made anew.
    Reinit,
    /// The model has been asked, and has not answered.
    Model,
    /// The edit is done.
    Done,
}

/// What is slow within the client, and what fails.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all(serialize = "camelCase"))]
pub(super) struct Seams {
    /// So long it takes until the work has stopped; the work never stops if that is below zero.
    #[serde(default)]
    cancel_ms: i32,
    /// To cancel fails.
    #[serde(default)]
    cancel_fails: bool,
    /// So long it takes until the task is there again.
    #[serde(default)]
    reinit_ms: u32,
    /// It never is.
    #[serde(default)]
    reinit_fails: bool,
    /// The task is not in the list of tasks any more.
    #[serde(default)]
    task_is_missing: bool,
    /// So long a restore takes.
    #[serde(default)]
    restore_ms: u32,
    /// It fails half-way.
    #[serde(default)]
    restore_fails: bool,
}

/// What the user writes in place of what he has said.
pub(super) fn first_words(history: &History) -> String {
    history.edit.text.clone() + ", or else"
}

/// A list of the same times, with other words.
fn of_another(list: &Value) -> Value {
    let mut list = list.clone();
    for entry in list.as_array_mut().into_iter().flatten() {
        entry["text"] = json!(format!("elsewhere {}", entry["text"].as_str().unwrap_or_default()));
    }
    list
}

fn plain_history() -> String {
    "timing/the-third-of-four".to_owned()
}

fn once() -> usize {
    1
}

impl Play for Editing {
    fn play<'a>(&'a self, scene: &'a mut Scene) -> BoxFuture<'a, Result<(), Troubled>> {
        Box::pin(async move {
            if let Some(server) = &self.server {
                return server.play(scene).await;
            }
            for history in self.histories()? {
                self.episode(scene, &history).await?;
            }
            Ok(())
        })
    }
}

impl Editing {
    /// One conversation with its edit. What the checks need of it is written down before and after.
    async fn episode(&self, scene: &mut Scene, history: &History) -> Result<(), Troubled> {
        let holds = self.kill_in == Some(Part::Model) || self.opens_meanwhile;
        let model = if holds { Model::Holds } else { self.model };
        let mut ground = Ground::lay(scene, model).await?;
        let mut begun = self.begin(&mut ground, history)?;
        if self.own_work {
            ground.write("own.txt", OWN_WORK)?;
            begun.had.push(OWN_WORK.to_owned());
        }
        let seams = serde_json::to_value(&self.seams).map_err(|error| our_fault(error.to_string()))?;
        let beside =
            self.beside.then(|| json!({"user": of_another(&begun.user), "model": of_another(&begun.model)}));
        scene.witness("episode", &json!({
            "name": history.full_name(), "clicks": self.clicked(history), "stays": history.expected().map(|cut| json!({"user": cut.user, "model": cut.model})),
            "user": begun.user, "model": begun.model, "checkpoints": self.restoring(), "restores": begun.restores, "had": begun.had,
            "unasked": self.unasked, "opened": self.opens_meanwhile, "seams": seams, "lost": self.lost, "works_for_ms": self.works_for_ms, "late": LATE_WORDS, "killed": self.is_killed(), "reopened": self.reopened,
            "model_fails": !matches!(model, Model::Answers | Model::Holds), "switched": self.switch, "tree": tree(&ground.workspace),
            "own": ground.own_repository(), "images": self.images, "edit_images": self.edit_images, "beside": beside, "answer": ANSWER,
        }));
        self.configure(scene, &ground, self.kill_after_writes).await?;
        if let Some(beside) = &beside {
            let asked = json!({"taskId": "task-2", "user": beside["user"], "model": beside["model"], "checkpoints": begun.others});
            scene.must("rewind/seed", asked).await?;
        }
        let asked =
            json!({"taskId": "task-1", "user": begun.user, "model": begun.model, "checkpoints": begun.saved});
        scene.must("rewind/seed", asked).await?;
        ground.stored(&[]);
        let working = self.works_for_ms;
        let _work: Option<Asked> = match working {
            Some(ms) => Some(self.work(scene, ms).await?),
            None => None,
        };
        if self.switch {
            scene.must("task/open", json!({"taskId": "task-2"})).await?;
        }
        self.edit(scene, &ground, history).await?;
        if self.is_killed() {
            scene.kill().await;
        }
        if self.is_killed() || self.reopened {
            scene.restart().await?;
            self.configure(scene, &ground, None).await?;
            scene.must("rewind/load", json!({"taskId": "task-1"})).await?;
        }
        if let Some(ms) = working {
            // What was not stopped shows by then.
            scene.pass(f64::from(ms) + 100.0).await?;
        }
        let snapshot = self.look(scene, &ground, &begun.had).await?;
        match self.again {
            Some(again) => self.edit_again(scene, &ground, history, &begun, &snapshot, again).await,
            None => Ok(()),
        }
    }

    /// The agent begins to work.
    async fn work(&self, scene: &mut Scene, ms: u32) -> Result<Asked, Troubled> {
        let asked = json!({"ms": ms, "file": LATE_FILE, "words": LATE_WORDS});
        let mut asked = scene.begin("task/work", asked).await?;
        scene.settle().await;
        // Nobody can stop what is over: an edit would show nothing.
        if asked.answered_within(Duration::ZERO).await.is_some() {
            let over =
                format!("the agent was to work for {ms} ms, and that was over before the edit could begin");
            return Err((TroubleKind::FaultNeverFired, over));
        }
        Ok(asked)
    }

    /// How all is when an edit is over.
    pub(super) async fn look(
        &self,
        scene: &mut Scene,
        ground: &Ground,
        had: &[String],
    ) -> Result<Value, Troubled> {
        let snapshot = scene.must("task/snapshot", json!({"taskId": "task-1"})).await?;
        let beside = match self.beside {
            true => scene.must("task/snapshot", json!({"taskId": "task-2"})).await?,
            false => Value::Null,
        };
        Self::know_all_states(scene)?;
        let found: Vec<&String> = had.iter().filter(|text| ground.has(text)).collect();
        let stored = ground.stored(&super::checks::texts(&snapshot["user"]));
        scene.witness("after", &json!({
            "snapshot": snapshot, "beside": beside, "tree": tree(&ground.workspace), "own": ground.own_repository(), "has": found,
            "stored": stored,
        }));
        Ok(snapshot)
    }

    /// A seam that says its state in a word of its own would be overlooked, and the wrong thing said to be missing.
    fn know_all_states(scene: &Scene) -> Result<(), Troubled> {
        for line in scene.journal().lines() {
            let Line::Adapter(said) = line else { continue };
            let update = &said.message["params"]["update"];
            if update["kind"] == "seam" && !STATES.iter().any(|known| update["state"] == *known) {
                let (name, state) = (&update["name"], &update["state"]);
                return Err(broken(format!(
                    "the seam {name} is in the state {state}: states are {}",
                    STATES.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// The checkpoints to one of which the files are to go back.
    pub(super) fn restoring(&self) -> Option<&String> {
        self.checkpoints.as_ref().filter(|_| !self.unasked)
    }

    pub(super) fn is_killed(&self) -> bool {
        self.kill_after_writes.is_some() || self.kill_in.is_some()
    }

    async fn configure(&self, scene: &mut Scene, ground: &Ground, hold: Option<u32>) -> Result<(), Troubled> {
        let seams = serde_json::to_value(&self.seams).map_err(|error| our_fault(error.to_string()))?;
        let mut told = json!({
            "model": ground.model.url(), "workspace": ground.workspace, "store": ground.store, "seams": seams,
        });
        // What is not said is not there: a null would be a number to some.
        if self.checkpoints.is_some() {
            told["shadow"] = json!(ground.shadow);
        }
        if let Some(hold) = hold {
            told["holdAfterWrites"] = json!(hold);
        }
        scene.must("configure", told).await.map(drop)
    }
}
