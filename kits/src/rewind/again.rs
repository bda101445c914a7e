//! A second edit of the same conversation: of the message that was edited just now, or of one that went with the first edit.
//! Who keeps in mind what is not on the disk, or on the disk what is gone, is found out by it.

use super::checks::texts;
use super::conversation::Begun;
use super::ground::{ANSWER, Ground, tree};
use super::play::{Editing, first_words};
use crate::scene::{Scene, Troubled, broken, our_fault};
use fixtures::histories::Case as History;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What the user writes the second time.
const WORDS: &str = "somewhere else";
/// What an agent has made of a file since the first edit.
const SINCE: &str = "the state since the first edit\n";

/// What is edited the second time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Again {
    /// The message that was edited just now.
    TheEdited,
    /// One that came behind it, and is gone.
    TheGone,
    /// The one before it, which has stayed.
    AnEarlier,
    /// The same, whose edit was refused: nothing has changed since.
    TheRefused,
}

/// Where the second edit points.
struct Target {
    ts: u64,
    /// Where the time alone does not tell.
    place: Option<usize>,
}

impl Editing {
    /// The second edit, which is judged as the first one is.
    pub(super) async fn edit_again(
        &self,
        scene: &mut Scene,
        ground: &Ground,
        history: &History,
        begun: &Begun,
        snapshot: &Value,
        again: Again,
    ) -> Result<(), Troubled> {
        let cut =
            history.expected().ok_or_else(|| our_fault("a case edits again where nothing was edited"))?;
        let words = first_words(history);
        let lists = [(&begun.user, cut.user, "user"), (&begun.model, cut.model, "model")];
        let lists = lists.map(|(before, stays, name)| match again {
            Again::TheRefused => unchanged(before, stays, &snapshot[name]),
            _ => since(before, stays, &snapshot[name], &words),
        });
        // That the first edit is not there, or has left something, is told by the checks of the first edit.
        let [Some((user, kept_user)), Some((model, kept_model))] = lists else { return Ok(()) };
        let mut stays = (again != Again::TheGone).then_some((kept_user, kept_model));
        let target = match again {
            Again::TheEdited => the_edited(&snapshot["user"], &words)?,
            Again::TheGone => the_gone(&begun.user, cut.user)?,
            Again::TheRefused => Target { ts: history.edit.ts, place: history.edit.place },
            Again::AnEarlier => {
                let (earlier, cut) = an_earlier(history, &user)?;
                stays = Some(cut);
                earlier
            }
        };
        // What was there before the first edit can be had behind the second one, too.
        let mut had = begun.had.clone();
        if self.restoring().is_some() {
            ground.write("state.txt", SINCE)?;
            had.push(SINCE.to_owned());
        }
        let seams = serde_json::to_value(&self.seams).map_err(|error| our_fault(error.to_string()))?;
        scene.witness("episode", &json!({
            "name": format!("{}, edited again", history.full_name()), "again": true,
            "stays": stays.map(|(user, model)| json!({"user": user, "model": model})),
            "user": user, "model": model, "checkpoints": self.restoring(), "restores": begun.restores, "had": had,
            "seams": seams, "tree": tree(&ground.workspace), "own": ground.own_repository(),
            "images": self.images_now(scene), "edit_images": null, "answer": ANSWER,
        }));
        let mut asked = json!({"taskId": "task-1", "ts": target.ts, "text": WORDS});
        if let Some(place) = target.place {
            asked["place"] = json!(place);
        }
        if self.restoring().is_some() {
            asked["revert"] = json!(true);
        }
        scene.person(format!("edits once more: {WORDS}"));
        scene.ask("message/edit", asked).await?.map_or_else(drop, drop);
        scene.settle().await;
        self.look(scene, ground, &had).await.map(drop)
    }

    /// The pictures that the message has after the first edit.
    fn images_now(&self, scene: &Scene) -> Vec<String> {
        match &self.edit_images {
            Some(said) => said.clone(),
            None if scene.declares("editImages") == Some("replace") => vec![],
            None => self.images.clone(),
        }
    }
}

/// What was kept, as it was at first, then what the client has from the edited message on; and how many were kept.
fn since(before: &Value, stays: usize, now: &Value, words: &str) -> Option<(Vec<Value>, usize)> {
    let seen = |entry: &&Value| entry["says"] != "checkpoint";
    let mut list: Vec<Value> =
        before.as_array().into_iter().flatten().take(stays).filter(seen).cloned().collect();
    let kept = list.len();
    let now = now.as_array().into_iter().flatten().filter(seen);
    list.extend(now.skip_while(|entry| !says(entry, words)).cloned());
    (list.len() > kept).then_some((list, kept))
}

/// A list as it was at first, and how many entries of it stay; nothing if it is another one by now.
fn unchanged(before: &Value, stays: usize, now: &Value) -> Option<(Vec<Value>, usize)> {
    (texts(before) == texts(now)).then(|| (before.as_array().cloned().unwrap_or_default(), stays))
}

fn says(entry: &Value, words: &str) -> bool {
    entry["text"].as_str().is_some_and(|text| text.contains(words))
}

/// The message that was edited just now, by the time that the client has given it.
fn the_edited(user: &Value, words: &str) -> Result<Target, Troubled> {
    let list = user.as_array().map_or(&[][..], Vec::as_slice);
    let place = list.iter().position(|entry| says(entry, words));
    let ts = place.and_then(|place| list[place]["ts"].as_u64());
    let ts =
        ts.ok_or_else(|| broken("the edited message has no `ts` in the snapshot: nobody can edit it again"))?;
    let is_one_of_several =
        list.iter().filter(|entry| entry["says"] == "prompt" && entry["ts"] == ts).count() > 1;
    Ok(Target { ts, place: place.filter(|_| is_one_of_several) })
}

/// The prompt before the edited one, by its time on the screen or, where a client has forgotten that, by the one that it had at first;
/// and how many entries of both lists stand before it.
fn an_earlier(history: &History, user: &[Value]) -> Result<(Target, (usize, usize)), Troubled> {
    let (prompt, cut) =
        history.prompt_before().ok_or_else(|| our_fault("no prompt stands before the edited one"))?;
    let now = user.iter().find(|entry| entry["text"] == prompt.text.as_str());
    let ts = now.and_then(|entry| entry["ts"].as_u64()).or(prompt.ts);
    let ts = ts.ok_or_else(|| our_fault("the prompt before the edited one has no time"))?;
    Ok((Target { ts, place: None }, (cut.user, cut.model)))
}

/// The next prompt behind the edited one, as it was at first.
fn the_gone(user: &Value, stays: usize) -> Result<Target, Troubled> {
    let mut behind = user.as_array().into_iter().flatten().skip(stays + 1);
    let gone = behind.find(|entry| entry["says"] == "prompt").and_then(|entry| entry["ts"].as_u64());
    let ts = gone.ok_or_else(|| our_fault("no prompt stands behind the edited one"))?;
    Ok(Target { ts, place: None })
}
