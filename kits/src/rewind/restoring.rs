//! How an edit of the reference puts the files back: which checkpoint, what is noted on the disk before, and what is done
//! when it fails or was broken off. The ways of its mutants stand beside it.

use super::reference::{Client, Seams, Task};
use super::shadow::Shadow;
use crate::adapter::Screen;
use serde_json::{Value, json};

/// How long a restore takes for one who does not look.
const HASTE_MS: f64 = 100.0;

impl Client {
    /// Does it go on before the files are back?
    pub(super) fn is_hasty(&self, seams: &Seams) -> bool {
        self.is("pause-instead-of-restored") && f64::from(seams.restore_ms) > HASTE_MS
    }

    /// The restore that nobody has waited for comes to its end.
    pub(super) async fn restore_late(
        &self,
        task: &Task,
        edit: &Value,
        screen: &Screen,
    ) -> Result<(), String> {
        let ground = self.ground();
        screen.wait(f64::from(ground.seams.restore_ms) - HASTE_MS).await;
        let hash = self.checkpoint(&task.checkpoints, edit["ts"].as_u64().unwrap_or_default());
        if let (Some(shadow), Some(hash)) = (Shadow::of(&ground, self.mutant), hash) {
            shadow.restore(&hash)?;
            screen.show(json!({"kind": "seam", "name": "restore", "state": "end", "hash": hash}));
        }
        Ok(())
    }

    /// Puts the files back; gives the name of what was there before.
    pub(super) async fn restore(
        &self,
        task: &Task,
        edit: &Value,
        screen: &Screen,
    ) -> Result<Option<String>, String> {
        let ground = self.ground();
        let id = edit["taskId"].as_str().unwrap_or_default();
        let shadow = Shadow::of(&ground, self.mutant).ok_or("there are no checkpoints")?;
        let mut all = task.checkpoints.clone();
        if self.is("any-tasks-checkpoint") {
            all = self.memory().tasks.values().flat_map(|task| task.checkpoints.clone()).collect();
        }
        let Some(hash) = self.checkpoint(&all, edit["ts"].as_u64().unwrap_or_default()) else {
            let why = "there is no checkpoint before this message";
            return if self.goes_on(why, screen) { Ok(None) } else { Err(why.to_owned()) };
        };
        let told = |state: &str| {
            screen.show(json!({"kind": "seam", "name": "restore", "state": state, "hash": hash}))
        };
        told("begin");
        let saved = match self.is("overwrites") {
            true => {
                shadow.empty()?;
                None
            }
            false => Some(shadow.save()?),
        };
        if !self.is("no-journal") {
            self.note(id, &Task { restoring: saved.clone(), ..task.clone() })?;
        }
        if self.is("restores-in-the-users-repository") {
            shadow.save_in_his_own()?;
        }
        if self.is_hasty(&ground.seams) {
            screen.wait(HASTE_MS).await;
            return Ok(saved);
        }
        screen.wait(f64::from(ground.seams.restore_ms)).await;
        if ground.seams.restore_fails {
            shadow.write_half()?;
            told("failed");
            let why = "the files could not be put back";
            if self.goes_on(why, screen) {
                return Ok(saved);
            }
            if let Some(saved) = &saved {
                shadow.put_back(saved, self.is("leaves-half"))?;
            }
            self.note(id, task)?;
            return Err(why.to_owned());
        }
        if let Err(why) = shadow.restore(&hash) {
            told("failed");
            self.note(id, task)?;
            return if self.goes_on(&why, screen) { Ok(saved) } else { Err(why) };
        }
        if self.is("cleans-ignored") {
            shadow.clean()?;
        }
        let left = [("forgets-folders", "notes"), ("texts-alone", "picture.bin")];
        if let (Some((_, path)), Some(saved)) = (left.iter().find(|(mutant, _)| self.is(mutant)), &saved) {
            shadow.leave(saved, path)?;
        }
        told("end");
        Ok(saved)
    }

    /// Does an edit go on though the files are not back? The one who has a word for it tells the user.
    fn goes_on(&self, why: &str, screen: &Screen) -> bool {
        if self.is("continues-with-a-word") {
            screen.show(json!({"kind": "notice", "level": "error", "key": "restore-failed", "text": why}));
        }
        self.is("continues-silently") || self.is("continues-with-a-word")
    }

    /// The newest that is not newer than the message, if it names a state.
    fn checkpoint(&self, all: &[Value], ts: u64) -> Option<String> {
        let time = |one: &&Value| one["ts"].as_u64();
        let mut before = all.iter().filter(|one| time(one).is_some_and(|time| time <= ts));
        let chosen = match self.mutant {
            Some("first-checkpoint") => before.next(),
            Some("nearest-checkpoint") => all
                .iter()
                .filter(|one| time(one).is_some())
                .min_by_key(|one| time(one).unwrap_or_default().abs_diff(ts)),
            Some("untimed-is-newest") => {
                all.iter().find(|one| time(one).is_none()).or_else(|| before.max_by_key(time))
            }
            Some("untimed-is-oldest") => {
                all.iter().filter(|one| time(one).unwrap_or_default() <= ts).max_by_key(time)
            }
            Some("compares-seconds") => all
                .iter()
                .filter(|one| time(one).is_some_and(|time| time / 1000 <= ts / 1000))
                .max_by_key(time),
            _ => before.max_by_key(time),
        };
        chosen.and_then(|one| one["hash"].as_str()).filter(|hash| !hash.trim().is_empty()).map(str::to_owned)
    }

    /// A restore that was broken off by a kill is taken back: the lists on the disk are those from before it.
    pub(super) fn take_back(&self, id: &str, mut task: Task) -> Result<Task, String> {
        let ground = self.ground();
        if let (Some(saved), Some(shadow)) = (task.restoring.take(), Shadow::of(&ground, self.mutant)) {
            shadow.restore(&saved)?;
            self.note(id, &task)?;
        }
        Ok(task)
    }
}
