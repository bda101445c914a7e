//! A case of the rewind kit: conversations, an edit in each, and what goes wrong around it.

use super::ground::{ASKED, Ground, Model, OWN_WORK, tree};
use super::server_play::OnServer;
use crate::kit::Play;
use crate::scene::{Scene, Troubled, broken, our_fault};
use crate::story::is_seen;
use fixtures::checkpoints;
use fixtures::histories::{Case as History, Says, skew};
use fixtures::recording::Line;
use futures_util::future::BoxFuture;
use harness::clock::within;
use harness::link::Asked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;

/// What a seam says of itself.
const STATES: [&str; 4] = ["begin", "end", "failed", "held"];
/// An adapter that is to stop at a write has done so by then, or has come to its end.
const HELD_BY: Duration = Duration::from_secs(5);
/// A commit that is in no repository.
const NOWHERE: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";
/// A picture of the first prompt, where the edited one has some.
const KEPT_PICTURE: &str = "data:image/png;base64,kept";
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
    history: String,
    /// In place of it the sweep of skew, by so many milliseconds.
    skew: Option<usize>,
    /// How often the user clicks, each time with other words.
    #[serde(default = "once")]
    clicks: usize,
    /// Another task is opened before the edit.
    #[serde(default)]
    switch: bool,
    /// The message has these pictures.
    #[serde(default)]
    images: Vec<String>,
    /// What the edit says of pictures; nothing without it.
    edit_images: Option<Vec<String>>,
    /// The files are to go back, and there are these checkpoints, by their name in the corpus.
    checkpoints: Option<String>,
    /// The shadow repository does not have the state any more that is to be restored.
    #[serde(default)]
    lost: bool,
    /// The user has changed a file himself.
    #[serde(default)]
    own_work: bool,
    /// The agent is at work, and writes a file and words after so many milliseconds.
    works_for_ms: Option<u32>,
    /// What is slow, and what fails.
    #[serde(default)]
    seams: Seams,
    /// What the model does when it is told the edited message.
    #[serde(default)]
    model: Model,
    /// The client is closed afterwards, and opened again.
    #[serde(default)]
    reopened: bool,
    /// In place of all that: a conversation on a server.
    server: Option<OnServer>,
    /// The adapter stops for ever after so many writes of its lists, and is killed.
    kill_after_writes: Option<u32>,
    /// The adapter is killed when this has begun.
    kill_in: Option<Part>,
}

/// What takes a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Part {
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
struct Seams {
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
    fn histories(&self) -> Result<Vec<History>, Troubled> {
        if let Some(step) = self.skew {
            return Ok(skew::sweep(step));
        }
        let all = fixtures::corpus::all::<fixtures::histories::Case>()
            .map_err(|error| our_fault(error.to_string()))?;
        let mut named: Vec<History> = all
            .into_iter()
            .filter(|one| one.full_name() == self.history || one.kind == self.history)
            .collect();
        if named.is_empty() {
            return Err(our_fault(format!("the corpus has no conversation '{}'", self.history)));
        }
        if let (Some(name), [history]) = (&self.checkpoints, &mut named[..]) {
            // The conversation's times are told from the message of the checkpoints.
            let message = checkpoint_case(name)?.message;
            let shift =
                |ts: &mut Option<u64>| *ts = ts.map(|ts| (ts + message).saturating_sub(history.edit.ts));
            history.user.iter_mut().for_each(|seen| shift(&mut seen.ts));
            history.model.iter_mut().for_each(|fed| shift(&mut fed.ts));
            history.edit.ts = message;
        }
        Ok(named)
    }

    /// One conversation with its edit. What the checks need of it is written down before and after.
    async fn episode(&self, scene: &mut Scene, history: &History) -> Result<(), Troubled> {
        let model = if self.kill_in == Some(Part::Model) { Model::Holds } else { self.model };
        let mut ground = Ground::lay(scene, model).await?;
        let (user, told) = self.lists(history);
        let mut had = vec![];
        let (mut saved, mut restores) = (json!([]), json!([]));
        if let Some(name) = &self.checkpoints {
            let case = checkpoint_case(name)?;
            ground.commit(&case.checkpoints)?;
            had.push("the latest state\n".to_owned());
            let real = |hash: &String| match self.lost && case.restores.contains(hash) {
                true => NOWHERE.to_owned(),
                false => ground.hashes.get(hash).unwrap_or(hash).clone(),
            };
            saved =
                case.checkpoints.iter().map(|one| json!({"ts": one.ts, "hash": real(&one.hash)})).collect();
            restores = case
                .restores
                .iter()
                .map(|hash| json!({"hash": real(hash), "tree": ground.states.get(&real(hash))}))
                .collect();
        }
        if self.own_work {
            ground.write("own.txt", OWN_WORK)?;
            had.push(OWN_WORK.to_owned());
        }
        let seams = serde_json::to_value(&self.seams).map_err(|error| our_fault(error.to_string()))?;
        let before = tree(&ground.workspace);
        scene.witness("episode", &json!({
            "name": history.full_name(), "stays": history.expected().map(|cut| json!({"user": cut.user, "model": cut.model})),
            "user": user, "model": told, "checkpoints": self.checkpoints, "restores": restores, "had": had,
            "seams": seams, "lost": self.lost, "works_for_ms": self.works_for_ms, "late": LATE_WORDS, "killed": self.is_killed(),
            "model_fails": !matches!(model, Model::Answers | Model::Holds), "switched": self.switch, "tree": before, "own": ground.own_repository(), "images": self.images, "edit_images": self.edit_images,
        }));
        self.configure(scene, &ground, self.kill_after_writes).await?;
        scene
            .must(
                "rewind/seed",
                json!({"taskId": "task-1", "user": user, "model": told, "checkpoints": saved}),
            )
            .await?;
        let working = self.works_for_ms;
        let _work: Option<Asked> = match working {
            Some(ms) => {
                let asked = json!({"ms": ms, "file": LATE_FILE, "words": LATE_WORDS});
                let asked = scene.begin("task/work", asked).await?;
                scene.settle().await;
                Some(asked)
            }
            None => None,
        };
        if self.switch {
            scene.must("task/open", json!({"taskId": "task-2"})).await?;
        }
        self.edit(scene, history).await?;
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
        let snapshot = scene.must("task/snapshot", json!({"taskId": "task-1"})).await?;
        Self::know_all_states(scene)?;
        let found: Vec<&String> = had.iter().filter(|text| ground.has(text)).collect();
        scene.witness("after", &json!({"snapshot": snapshot, "tree": tree(&ground.workspace), "own": ground.own_repository(), "has": found}));
        Ok(())
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

    fn is_killed(&self) -> bool {
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

    async fn edit(&self, scene: &mut Scene, history: &History) -> Result<(), Troubled> {
        let mut asked = Vec::new();
        for click in 0..self.clicks {
            let text = match click {
                0 => history.edit.text.clone() + ", or else",
                more => format!("{}, or else, click {}", history.edit.text, more + 1),
            };
            scene.person(format!("edits a message: {text}"));
            let mut params = json!({"taskId": "task-1", "ts": history.edit.ts, "text": text});
            for (name, value) in [
                ("place", json!(history.edit.place)),
                ("images", json!(self.edit_images)),
                ("revert", json!(self.checkpoints.as_ref().map(|_| true))),
            ] {
                if !value.is_null() {
                    params[name] = value;
                }
            }
            asked.push(scene.begin("message/edit", params).await?);
        }
        if self.is_killed() && self.kill_in != Some(Part::Done) {
            let journal = scene.journal().clone();
            let mut asked = asked;
            let first = asked.remove(0);
            tokio::select! {
                biased;
                _ = within(HELD_BY, journal.wait_until(|lines| lines.iter().any(|line| self.has_come(line)))) => {}
                answer = scene.answer(first) => { answer?.map_or_else(drop, drop); }
            }
            return Ok(());
        }
        for one in asked {
            scene.answer(one).await?.map_or_else(drop, drop);
        }
        scene.settle().await;
        Ok(())
    }

    /// Has the moment come at which the adapter is killed?
    fn has_come(&self, line: &Line) -> bool {
        match (self.kill_in, line) {
            (Some(Part::Model), Line::Note(note)) => is_seen(note, ASKED),
            (part, Line::Adapter(said)) => {
                let update = &said.message["params"]["update"];
                match part {
                    Some(part) => update["name"] == json!(part) && update["state"] == "begin",
                    None => update["state"] == "held",
                }
            }
            _ => false,
        }
    }

    /// Both lists as a client sees them: without turns, and with pictures.
    fn lists(&self, history: &History) -> (Value, Value) {
        let mut user = json!(history.user);
        let mut model = json!(history.model);
        for (list, prompts) in [
            (&mut user, history.user.iter().map(|seen| (seen.says, seen.turn)).collect::<Vec<_>>()),
            (&mut model, history.model.iter().map(|fed| (fed.says, fed.turn)).collect()),
        ] {
            let first = prompts.iter().find(|(says, _)| *says == Says::Prompt).map(|(_, turn)| *turn);
            for (entry, (says, turn)) in list.as_array_mut().into_iter().flatten().zip(prompts) {
                if let Some(entry) = entry.as_object_mut() {
                    entry.remove("turn");
                    if self.images.is_empty() || says != Says::Prompt {
                        continue;
                    }
                    if Some(turn) == history.turn {
                        entry.insert("images".to_owned(), json!(self.images));
                    } else if Some(turn) == first {
                        entry.insert("images".to_owned(), json!([KEPT_PICTURE]));
                    }
                }
            }
        }
        (user, model)
    }
}

fn checkpoint_case(name: &str) -> Result<checkpoints::Case, Troubled> {
    let all = fixtures::corpus::all::<fixtures::checkpoints::Case>()
        .map_err(|error| our_fault(error.to_string()))?;
    let found = all.into_iter().find(|case| case.full_name() == name);
    found.ok_or_else(|| our_fault(format!("the corpus has no checkpoints '{name}'")))
}
