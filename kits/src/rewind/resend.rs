//! The last part of an edit of the reference: the task is made anew, the edited message is sent, and when one of the two
//! fails all is as it was.

use super::keeping::words_of;
use super::reference::{Client, Ground, Task};
use super::shadow::Shadow;
use crate::adapter::Screen;
use serde_json::{Value, json};
use std::fs;

/// An edit for which everything is ready.
pub(super) struct Edited<'a> {
    /// The task.
    pub(super) id: &'a str,
    /// Its lists as they were.
    pub(super) before: &'a Task,
    /// Its lists with the edited message at their end.
    pub(super) after: &'a Task,
    /// The name of the files as they were, where others were put in their place.
    pub(super) saved: Option<String>,
    /// What was asked for.
    pub(super) edit: &'a Value,
}

impl Client {
    /// The lists with the edited message at their end.
    pub(super) fn after(&self, before: &Task, (user, model): (usize, usize), edit: &Value) -> Task {
        let mut entry = before.user[user].clone();
        let words = edit["text"].as_str().unwrap_or_default();
        entry["text"] = match () {
            () if self.is("trims") => json!(words.trim()),
            () if self.is("escapes-words") => json!(words.replace('&', "&amp;").replace('<', "&lt;")),
            () => json!(words),
        };
        // It is said now.
        let known = before.user.iter().chain(&before.model).chain(&before.checkpoints);
        entry["ts"] = json!(known.filter_map(|one| one["ts"].as_u64()).max().unwrap_or_default() + 1);
        match (edit.get("images"), self.mutant) {
            (None, Some("drops-images")) => entry["images"] = json!([]),
            (Some(_), Some("keeps-images")) | (None, _) => {}
            (Some(images), _) => entry["images"] = images.clone(),
        }
        let mut after = before.until((user, model));
        let is_cut = before.user.len() > user + 1;
        for (mutant, field) in [("drops-earlier-times", "ts"), ("drops-earlier-images", "images")] {
            let entries =
                after.user.iter_mut().filter_map(Value::as_object_mut).filter(|_| is_cut && self.is(mutant));
            entries.for_each(|entry| drop(entry.remove(field)));
        }
        for entry in after.model.iter_mut().filter_map(Value::as_object_mut).filter(|_| is_cut) {
            match self.mutant {
                Some("forgets-the-models-times") => drop(entry.remove("ts")),
                Some("takes-results-for-prompts") if entry["says"] == "tool-result" => {
                    entry.insert("says".to_owned(), json!("prompt"));
                }
                _ => {}
            }
        }
        after.user.push(entry.clone());
        if self.is("pictures-on-the-screen-alone") {
            entry["images"] = json!([]);
        }
        after.model.push(entry);
        if !self.is("keeps-checkpoints") {
            // What was saved behind the message belongs to what is gone.
            let is_gone = |one: &Value| one["ts"].as_u64() > edit["ts"].as_u64();
            after.checkpoints.retain(|one| !is_gone(one));
        }
        after
    }

    /// Makes the task anew and sends; what fails is taken back.
    pub(super) async fn resend(
        &self,
        ground: &Ground,
        edited: &Edited<'_>,
        screen: &Screen,
    ) -> Result<(), String> {
        let is_hasty = self.is("pause-instead-of-ready") && ground.seams.reinit_ms > 100;
        let mut outcome = self.reinit(ground, is_hasty, screen).await;
        if outcome.is_ok() {
            outcome = self.tell(ground, edited, is_hasty, screen).await;
            if outcome.is_err() {
                self.put_back(edited, screen).await?;
            }
        }
        if let (Err(_), Some(saved), Some(shadow)) =
            (&outcome, &edited.saved, Shadow::of(ground, self.mutant))
            && !self.is("leaves-restored")
        {
            shadow.restore(saved)?;
            let settled = Task { restoring: None, ..self.task(edited.id) };
            self.note(edited.id, &settled)?;
            self.memory().tasks.insert(edited.id.to_owned(), settled);
        }
        outcome
    }

    /// Makes the task anew.
    async fn reinit(&self, ground: &Ground, is_hasty: bool, screen: &Screen) -> Result<(), String> {
        screen.show(seam("begin"));
        screen.wait(if is_hasty { 100.0 } else { f64::from(ground.seams.reinit_ms) }).await;
        if ground.seams.reinit_fails {
            screen.show(seam("failed"));
            return Err("the task could not be made anew".to_owned());
        }
        if !is_hasty {
            screen.show(seam("end"));
        }
        Ok(())
    }

    /// Keeps the new lists, tells them to the model, and keeps its answer.
    async fn tell(
        &self,
        ground: &Ground,
        edited: &Edited<'_>,
        is_hasty: bool,
        screen: &Screen,
    ) -> Result<(), String> {
        let Edited { id, after, edit, .. } = *edited;
        if self.is("writes-with-the-answer") {
            self.show(id, after, screen);
            self.let_go_of_words();
        } else {
            self.keep(id, after, screen).await?;
        }
        let mut asked = self.send(&ground.model, &self.told(edited)).await;
        if asked.is_err() && self.is("asks-a-refuser-again") {
            asked = self.send(&ground.model, &self.told(edited)).await;
        }
        if self.is("writes-with-the-answer") {
            self.keep_words(edit);
        }
        let answer = asked?;
        if is_hasty {
            screen.wait(f64::from(ground.seams.reinit_ms) - 100.0).await;
            screen.show(seam("end"));
        }
        if self.is("sends-again") && ground.seams.reinit_ms > 100 {
            self.send(&ground.model, &after.model).await?;
        }
        let entry = json!({"says": "answer", "text": answer});
        // What has been added meanwhile stays.
        let open = self.memory().current.clone();
        let id = if self.is("answers-what-is-open") { open.as_str() } else { id };
        let mut now = self.task(id);
        // A task that is made anew is another one, and a mutant has the old one in its hand still.
        let is_old = |mutant: &str| self.is(mutant) && ground.seams.reinit_ms > 0;
        if !is_old("shows-the-old-task") {
            now.user.push(entry.clone());
        }
        if !is_old("answers-the-old-task") {
            now.model.push(entry);
        }
        self.keep(id, &now, screen).await?;
        // The words are in the lists now.
        if !self.is("keeps-sent-words") || self.memory().edits == 0 {
            self.let_go_of_words();
        }
        Ok(())
    }

    /// The model has not answered: the lists are what they were, on the screen and on the disk.
    async fn put_back(&self, edited: &Edited<'_>, screen: &Screen) -> Result<(), String> {
        if self.is("leaves-cut") {
            return Ok(());
        }
        if self.is("puts-back-on-screen") {
            self.show(edited.id, edited.before, screen);
            return Ok(());
        }
        if self.is("leaves-screen") {
            return self.put(edited.id, edited.before, screen).await;
        }
        // The files are not back yet.
        let before = Task { restoring: edited.saved.clone(), ..edited.before.clone() };
        self.keep(edited.id, &before, screen).await
    }

    /// What the model is told: the list.
    fn told(&self, edited: &Edited<'_>) -> Vec<Value> {
        let mut told = edited.after.model.clone();
        let kept = told.len().saturating_sub(1);
        if self.is("tells-the-gone") && kept > 0 {
            let said = [&told[kept - 1..kept], &edited.before.model[kept..]].concat();
            let texts: Vec<&str> = said.iter().filter_map(|entry| entry["text"].as_str()).collect();
            told[kept - 1]["text"] = json!(texts.join("\n"));
        }
        told
    }

    /// The way of a mutant: what has this time in another task is cut there, too.
    pub(super) fn cut_others(&self, id: &str, edit: &Value) {
        let mut memory = self.memory();
        for (_, task) in memory.tasks.iter_mut().filter(|(other, _)| *other != id) {
            for list in [&mut task.user, &mut task.model] {
                let at = list.iter().position(|entry| entry["ts"] == edit["ts"]);
                list.truncate(at.unwrap_or(list.len()));
            }
        }
    }

    fn let_go_of_words(&self) {
        let _gone = fs::remove_file(words_of(&self.ground().store));
    }
}

fn seam(state: &str) -> Value {
    json!({"kind": "seam", "name": "reinit", "state": state})
}
