//! What is there before a runner begins: checkpoints, somebody else's worktree, left-overs.

use super::super::phases::Phase;
use super::super::repository::UNFINISHED;
use super::{Place, Played};
use crate::scene::{Scene, Troubled, broken, our_fault};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::fs::File;
use std::time::{Duration, SystemTime};

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
    /// Whom it names as the next agent; without it the one whose turn it is.
    next: Option<String>,
    /// The disk says that its file was changed so many minutes before a day of 2026: whoever copies files changes that.
    minutes_old: Option<u32>,
}

/// Noon of the first day, in seconds since 1970.
const NOON_OF_2026: u64 = 1_767_268_800;

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
    /// The same, and the killed agent has committed it there.
    Committed,
    /// The branch of that worktree, with work on it; somebody has removed the worktree.
    Branch,
}

impl Played {
    pub(super) fn plant(&self, scene: &mut Scene, place: &Place, planted: &Planted) -> Result<(), Troubled> {
        let phase = Phase::of(&planted.phase)?;
        let issue = planted.issue.as_ref().unwrap_or(&self.issue);
        scene.person(format!("has a checkpoint of {issue}: {} {}", phase.name, planted.status));
        let mut says = json!({
            "issue_number": issue, "phase": phase.name, "agent_name": phase.agent, "files_modified": phase.files,
            "status": planted.status, "timestamp": planted.timestamp, "next_agent": self.next_agent(planted)?,
        });
        if planted.more {
            says["runner_version"] = json!("9.9");
        }
        let file = format!("{issue}-{}.json", phase.name);
        scene.witness("planted", &json!({"file": file, "says": says}));
        let mut text = says.to_string();
        if planted.torn {
            text.truncate(text.len() / 2);
        } else if planted.status == "success" && *issue == self.issue {
            place.repository.do_work(phase)?;
        }
        let path = format!(".kilo/logs/checkpoints/{file}");
        place.repository.write(&path, &text)?;
        let Some(minutes) = planted.minutes_old else { return Ok(()) };
        let changed = NOON_OF_2026.saturating_sub(60 * u64::from(minutes));
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(changed);
        let opened = File::options().append(true).open(place.repository.root.join(path));
        opened.and_then(|file| file.set_modified(changed)).map_err(|error| our_fault(error.to_string()))
    }

    /// Behind a success the agent of the next phase, else the phase's own.
    fn next_agent(&self, planted: &Planted) -> Result<Option<String>, Troubled> {
        if planted.next.is_some() {
            return Ok(planted.next.clone());
        }
        let phases = self.phases()?;
        let at = phases.iter().position(|phase| phase.name == planted.phase);
        let at = at.map(|at| if planted.status == "success" { at + 1 } else { at });
        Ok(at.and_then(|at| phases.get(at)).map(|phase| phase.agent.to_owned()))
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
            LeftOver::Branch | LeftOver::Committed => {
                repository.write(&file, UNFINISHED)?;
                let its = repository.root.join(&folder);
                for words in [&["add", "--all"][..], &["commit", "--quiet", "--message", "Begun"]] {
                    let done = repository.git_in(&its, words);
                    done.map_err(|why| broken(format!("{folder} is no worktree: {why}")))?;
                }
                if left_over == LeftOver::Branch {
                    repository.git(&["worktree", "remove", "--force", &folder])?;
                }
            }
            LeftOver::HalfMade => {
                repository.write(&file, UNFINISHED)?;
                let nowhere = repository.root.join(".git/worktrees/nowhere");
                repository.write(&format!("{folder}/.git"), &format!("gitdir: {}\n", nowhere.display()))?;
            }
        }
        let locked = (left_over == LeftOver::Locked).then_some(folder);
        let holds_work = match left_over {
            LeftOver::Gone => false,
            LeftOver::Branch => place.repository.has_unfinished()?,
            _ => true,
        };
        scene.witness("left-over", &json!({"holdsWork": holds_work, "locked": locked}));
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
