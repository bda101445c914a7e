//! What the reference keeps on the disk: both lists in one file that is put in place whole, and the new words of an edit.

use super::reference::{Client, Task};
use crate::adapter::Screen;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

impl Task {
    /// What stays of it: so many entries of each list.
    pub(super) fn until(&self, (user, model): (usize, usize)) -> Self {
        Self {
            user: self.user[..user].to_vec(),
            model: self.model[..model].to_vec(),
            checkpoints: self.checkpoints.clone(),
            restoring: None,
        }
    }
}

impl Client {
    /// The new words are on the disk before anything else happens.
    pub(super) fn keep_words(&self, edit: &Value) {
        let words = edit["text"].as_str().unwrap_or_default();
        let words = if self.is("trims-the-draft") { words.trim() } else { words };
        if !self.is("forgets-words") {
            let _kept = fs::write(words_of(&self.ground().store), words);
        }
    }

    /// What the user has written; a mutant takes what is kept of an edit that has failed.
    pub(super) fn words_to_send(&self, edit: &Value) -> Value {
        let mut edit = edit.clone();
        if let (true, Ok(words)) =
            (self.is("sends-the-draft"), fs::read_to_string(words_of(&self.ground().store)))
        {
            edit["text"] = json!(words);
        }
        edit
    }

    /// Puts the lists on the disk, and on the screen.
    pub(super) async fn keep(&self, id: &str, task: &Task, screen: &Screen) -> Result<(), String> {
        let is_new = !self.memory().tasks.contains_key(id);
        if self.is("keeps-the-model-in-mind") && !is_new {
            let half = Task { model: self.load(id).model, ..task.clone() };
            self.put(id, &half, screen).await?;
        } else if !self.is("writes-late") || is_new {
            self.put(id, task, screen).await?;
        }
        self.show(id, task, screen);
        Ok(())
    }

    /// Puts the lists on the disk.
    pub(super) async fn put(&self, id: &str, task: &Task, screen: &Screen) -> Result<(), String> {
        let mut kept = task.clone();
        if self.is("keeps-checkpoints-on-disk") && self.memory().tasks.contains_key(id) {
            kept.checkpoints = self.load(id).checkpoints;
        }
        for (name, content) in self.files_of(&kept) {
            self.hold(screen).await;
            self.write(id, name, &content)?;
            self.memory().writes += 1;
        }
        self.memory().tasks.insert(id.to_owned(), task.clone());
        Ok(())
    }

    /// Notes with the lists on the disk that files are being put back, or are not any more. The lists are what they were.
    pub(super) fn note(&self, id: &str, task: &Task) -> Result<(), String> {
        self.files_of(task).iter().try_for_each(|(name, content)| self.write(id, name, content))
    }

    fn write(&self, id: &str, name: &str, content: &Value) -> Result<(), String> {
        let store = self.ground().store;
        let old = store.join(format!("{id}.{name}.json"));
        let is_shorter = fs::metadata(&old).is_ok_and(|old| old.len() > content.to_string().len() as u64);
        if self.is("writes-in-place") && is_shorter {
            return fs::write(old, content.to_string()).map_err(|error| error.to_string());
        }
        // Two that write at once have a file each: neither takes away what the other is about to put in place.
        let count = self.begun.fetch_add(1, Ordering::Relaxed);
        let (new, place) =
            (store.join(format!("{id}.{name}.new-{count}")), store.join(format!("{id}.{name}.json")));
        let written = fs::write(&new, content.to_string());
        if self.is("unlinks-first") && is_shorter {
            fs::remove_file(&place).map_err(|error| error.to_string())?;
        }
        let written = written.and_then(|()| fs::rename(&new, &place));
        written.map_err(|error| error.to_string())
    }

    /// What stands in which file.
    fn files_of(&self, task: &Task) -> Vec<(&'static str, Value)> {
        let mut lists = [task.user.clone(), task.model.clone()];
        if self.is("keeps-images-in-mind") {
            let entries = lists.iter_mut().flatten().filter_map(Value::as_object_mut);
            entries.for_each(|entry| drop(entry.remove("images")));
        }
        let [user, model] = lists;
        let mut first = json!({"user": user, "checkpoints": task.checkpoints, "restoring": task.restoring});
        if self.is("two-files") {
            return vec![("user", first), ("model", json!({"model": model}))];
        }
        first["model"] = json!(model);
        vec![("lists", first)]
    }

    /// Takes the lists for the task's, and shows them.
    pub(super) fn show(&self, id: &str, task: &Task, screen: &Screen) {
        self.memory().tasks.insert(id.to_owned(), task.clone());
        // The screen is the open task's.
        if self.memory().current != id && !self.is("shows-whichever") {
            return;
        }
        screen.show(json!({"kind": "stateUpdate", "user": task.user}));
    }

    /// Stops for ever after so many writes, where the harness wants that.
    async fn hold(&self, screen: &Screen) {
        let is_held = {
            let memory = self.memory();
            memory.ground.hold_after_writes.is_some_and(|most| memory.writes >= most)
        };
        if is_held {
            screen.show(json!({"kind": "seam", "name": "write", "state": "held"}));
            std::future::pending().await
        }
    }

    pub(super) fn load(&self, id: &str) -> Task {
        let store = self.ground().store;
        let mut task = Task::default();
        for name in ["lists", "user", "model"] {
            let text = fs::read_to_string(store.join(format!("{id}.{name}.json"))).unwrap_or_default();
            let read: Value = serde_json::from_str(&text).unwrap_or_default();
            for (name, list) in
                [("user", &mut task.user), ("model", &mut task.model), ("checkpoints", &mut task.checkpoints)]
            {
                if let Some(read) = read[name].as_array() {
                    list.clone_from(read);
                }
            }
            if self.is("loads-by-time") {
                task.user.sort_by_key(|entry| entry["ts"].as_u64());
                task.model.sort_by_key(|entry| entry["ts"].as_u64());
            }
            if self.is("loads-what-has-a-time") {
                task.model.retain(|entry| entry["ts"].is_u64());
            }
            if let Some(saved) = read["restoring"].as_str() {
                task.restoring = Some(saved.to_owned());
            }
        }
        task
    }
}

pub(super) fn words_of(store: &Path) -> PathBuf {
    store.join("edited.txt")
}
