//! The conversation of a case, as its corpus has it and as a client sees it, and the checkpoints that belong to it.

use super::ground::Ground;
use super::play::Editing;
use crate::scene::{Troubled, our_fault};
use fixtures::checkpoints;
use fixtures::histories::{Case as History, Says, skew};
use serde_json::{Value, json};

/// A commit that is in no repository.
const NOWHERE: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";
/// A picture of the first prompt, where the edited one has some.
const KEPT_PICTURE: &str = "data:image/png;base64,kept";

/// What an edit begins with, as the harness knows it.
pub(super) struct Begun {
    /// What the user sees.
    pub(super) user: Value,
    /// What the model is told.
    pub(super) model: Value,
    /// The checkpoints, as the client is told of them.
    pub(super) saved: Value,
    /// Those that are right to restore, with their trees.
    pub(super) restores: Value,
    /// What is in the tree and must not be lost.
    pub(super) had: Vec<String>,
    /// The checkpoint of another task: as new as the message is, and of another state.
    pub(super) others: Value,
}

impl Editing {
    /// The conversations of this case.
    pub(super) fn histories(&self) -> Result<Vec<History>, Troubled> {
        if let Some(step) = self.skew {
            return Ok(skew::sweep(step));
        }
        let all = fixtures::corpus::all::<fixtures::histories::Case>()
            .map_err(|error| our_fault(error.to_string()))?;
        let mut named: Vec<History> = all
            .into_iter()
            .filter(|one| {
                let name = one.full_name();
                name == self.history || one.kind == self.history || self.more.contains(&name)
            })
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

    /// The lists and the checkpoints, with the files that belong to them.
    pub(super) fn begin(&self, ground: &mut Ground, history: &History) -> Result<Begun, Troubled> {
        let (user, model) = self.lists(history);
        let (mut saved, mut restores, mut had, mut others) = (json!([]), json!([]), vec![], json!([]));
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
            let is_other = |hash: &&String| !hash.trim().is_empty() && !case.restores.contains(hash);
            let other = case.checkpoints.iter().map(|one| &one.hash).find(is_other);
            others =
                other.map(|hash| json!({"ts": history.edit.ts, "hash": real(hash)})).into_iter().collect();
        }
        Ok(Begun { user, model, saved, restores, had, others })
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
