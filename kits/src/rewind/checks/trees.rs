//! How old a tree is: as it was before the edit, or as a checkpoint has it.

use super::super::play::LATE_FILE;
use super::Episode;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

impl Episode<'_> {
    /// Is the tree as it was before the edit, when all is over?
    pub(super) fn has_old_tree(&self) -> bool {
        self.other_than_before(&self.after["tree"]).is_none()
    }

    /// Is it a checkpoint's?
    pub(super) fn has_new_tree(&self) -> bool {
        self.is_a_checkpoint(&self.after["tree"])
    }

    /// A file that is not as it was before the edit; but what an agent writes that does not stop is its own.
    pub(super) fn other_than_before(&self, tree: &Value) -> Option<String> {
        let (before, now) = (self.told["tree"].as_object()?, tree.as_object()?);
        let is_other = |name: &&String| before.get(*name) != now.get(*name) && *name != LATE_FILE;
        before.keys().chain(now.keys()).find(is_other).cloned()
    }

    /// What the user has changed himself may stay where it is.
    pub(super) fn is_a_checkpoint(&self, tree: &Value) -> bool {
        self.restores().iter().any(|state| other_files(&state["tree"], tree).is_empty())
    }

    /// What a tree has that is not the checkpoint's; of several that of the one that it comes nearest to.
    pub(super) fn what_is_other(&self, tree: &Value) -> String {
        let states = self.restores().iter().map(|state| &state["tree"]);
        let Some(right) = states.min_by_key(|right| other_files(right, tree).len()) else {
            return "there is none to go back to".to_owned();
        };
        let other = other_files(right, tree);
        let told =
            other.iter().map(|file| format!("{file} holds {}, and {} is right", tree[*file], right[*file]));
        told.collect::<Vec<_>>().join("; ")
    }
}

/// The files that two trees do not have alike, but for the user's own.
fn other_files<'t>(one: &'t Value, other: &'t Value) -> BTreeSet<&'t String> {
    let names = |tree: &'t Value| tree.as_object().into_iter().flat_map(Map::keys);
    names(one)
        .chain(names(other))
        .filter(|name| *name != "own.txt" && one.get(*name) != other.get(*name))
        .collect()
}
