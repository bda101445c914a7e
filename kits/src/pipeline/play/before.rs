//! What is there before a runner begins: checkpoints, somebody else's worktree, left-overs.

use super::super::phases::Phase;
use super::super::repository::UNFINISHED;
use super::{Place, Played};
use crate::scene::{Scene, Troubled, our_fault};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A checkpoint that a case puts there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Planted {
    phase: String,
    /// Whose; the case's own without it.
    issue: Option<String>,
    #[serde(default = "success")]
    status: String,
    #[serde(default = "noon")]
    timestamp: String,
    /// The file ends in the middle.
    #[serde(default)]
    torn: bool,
    /// It says more than it needs to.
    #[serde(default)]
    more: bool,
}

fn success() -> String {
    "success".to_owned()
}

fn noon() -> String {
    "2026-01-01T12:00:00Z".to_owned()
}

/// What is left where the lead developer is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LeftOver {
    /// A folder that git does not know, with work in it.
    Folder,
    /// A worktree that git knows, and that is not there.
    Gone,
    /// A worktree with work in it that somebody has locked.
    Locked,
    /// A folder with work in it that says that it is a worktree, and git does not know it.
    HalfMade,
    /// A file in the worktree that the runner has made before it was killed.
    InIts,
}

impl Played {
    pub(super) fn plant(&self, scene: &mut Scene, place: &Place, planted: &Planted) -> Result<(), Troubled> {
        let phase = Phase::of(&planted.phase)?;
        let issue = planted.issue.as_ref().unwrap_or(&self.issue);
        scene.person(format!("has a checkpoint of {issue}: {} {}", phase.name, planted.status));
        let mut says = json!({
            "issue_number": issue, "phase": phase.name, "agent_name": phase.agent, "files_modified": phase.files,
            "status": planted.status, "timestamp": planted.timestamp, "next_agent": Value::Null,
        });
        if planted.more {
            says["runner_version"] = json!("9.9");
        }
        let mut text = says.to_string();
        if planted.torn {
            text.truncate(text.len() / 2);
        } else if planted.status == "success" && *issue == self.issue {
            place.repository.do_work(phase)?;
        }
        place.repository.write(&format!(".kilo/logs/checkpoints/{issue}-{}.json", phase.name), &text)
    }

    pub(super) fn leave(
        &self,
        scene: &mut Scene,
        place: &Place,
        left_over: LeftOver,
    ) -> Result<(), Troubled> {
        let repository = &place.repository;
        let folder = format!(".kilo/worktrees/{}/lead-developer", self.issue);
        let file = format!("{folder}/unfinished.txt");
        scene.person(format!("has a left-over at {folder}: {left_over:?}"));
        if matches!(left_over, LeftOver::Gone | LeftOver::Locked) {
            repository.git(&["worktree", "add", "--quiet", "-b", "left/over", &folder])?;
        }
        match left_over {
            LeftOver::Gone => std::fs::remove_dir_all(repository.root.join(&folder))
                .map_err(|error| our_fault(format!("failed to remove a worktree: {error}")))?,
            LeftOver::Folder | LeftOver::InIts => repository.write(&file, UNFINISHED)?,
            LeftOver::Locked => {
                repository.write(&file, UNFINISHED)?;
                repository.git(&["worktree", "lock", "--reason", "somebody works here", &folder])?;
            }
            LeftOver::HalfMade => {
                repository.write(&file, UNFINISHED)?;
                let nowhere = repository.root.join(".git/worktrees/nowhere");
                repository.write(&format!("{folder}/.git"), &format!("gitdir: {}\n", nowhere.display()))?;
            }
        }
        let locked = (left_over == LeftOver::Locked).then_some(folder);
        scene.witness("left-over", &json!({"holdsWork": left_over != LeftOver::Gone, "locked": locked}));
        Ok(())
    }
}

/// Somebody else works there, and has not committed it; or is about to begin.
pub(super) fn plant_worktree(
    scene: &mut Scene,
    place: &Place,
    name: &str,
    has_work: bool,
) -> Result<(), Troubled> {
    scene.person(format!("works in a worktree of their own: {name}"));
    let branch = format!("mine/{}", name.rsplit('/').next().unwrap_or(name));
    place.repository.git(&["worktree", "add", "--quiet", "-b", &branch, name])?;
    if has_work { place.repository.write(&format!("{name}/mine.txt"), "mine\n") } else { Ok(()) }
}
