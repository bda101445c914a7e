//! What the adapter's guard says of the corpus of paths, and what lies around the workspace when the agent has done
//! its work.

use super::{Run, Troubled, broken};
use crate::protocol::Request;
use crate::protocol::{PathCheck, PathJudged};
use crate::witness::Witnessed;
use fixtures::paths::corpus::Asked;
use fixtures::paths::{Case, Policy, ground};
use fixtures::recording::TroubleKind;
use mock_server::paths::{Machine, NotMade, make};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tempfile::TempDir;

/// What stands in every canary.
const SONG: &str = "nobody may write here\n";

/// What the guard is asked: the names of the cases, their words, and the folder in which they stand.
struct Questions {
    asked: Vec<(String, Asked)>,
    _folder: Option<TempDir>,
}

/// Those about the disk, as long as somebody asks them: their files are many, and nobody changes them.
static ON_THE_DISK: Mutex<Weak<Questions>> = Mutex::new(Weak::new());

impl Run {
    /// Asks the adapter about every case that the policy has an opinion of.
    pub(super) async fn ask_paths(&mut self, policy: Policy) -> Result<(), Troubled> {
        // Some hundred folders are made, and taken away again: no work for those who wait for others.
        let made = tokio::task::spawn_blocking(move || questions(policy)).await;
        let made = made.map_err(|error| error.to_string()).and_then(|made| made);
        let questions = made.map_err(|why| (TroubleKind::Harness, why))?;
        let asked = self.ask_all(policy, &questions).await;
        tokio::task::spawn_blocking(move || drop(questions));
        asked
    }

    async fn ask_all(&mut self, policy: Policy, questions: &Questions) -> Result<(), Troubled> {
        for (case, Asked { roots, path }) in questions.asked.clone() {
            Witnessed::PathAsked { case, policy }.note(self.stand_in.journal());
            let answer = self.ask(Request::PathCheck(PathCheck { roots, path, policy })).await?;
            serde_json::from_value::<PathJudged>(answer)
                .map_err(|error| broken(format!("path/check: {error}")))?;
        }
        Ok(())
    }
}

/// What is asked by these rules.
fn questions(policy: Policy) -> Result<Arc<Questions>, String> {
    let cases = fixtures::corpus::all::<Case>().map_err(|error| error.to_string())?;
    let cases = cases.into_iter().filter(|case| case.verdict(policy).allows().is_some());
    if policy != Policy::Realpath {
        let asked = |case: Case| (case.full_name(), case.asked(policy, ground::base(policy)));
        return Ok(Arc::new(Questions { asked: cases.map(asked).collect(), _folder: None }));
    }
    let mut shared = ON_THE_DISK.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(questions) = shared.upgrade() {
        return Ok(questions);
    }
    let questions = Arc::new(on_the_disk(cases)?);
    *shared = Arc::downgrade(&questions);
    Ok(questions)
}

/// The same, with their files. Those that need no links of their own stand on one ground.
fn on_the_disk(cases: impl Iterator<Item = Case>) -> Result<Questions, String> {
    let folder = tempfile::tempdir().map_err(|error| format!("failed to make a folder: {error}"))?;
    let machine = Machine::probed(folder.path()).map_err(|error| error.to_string())?;
    let mut asked = Vec::new();
    let mut plain: Option<String> = None;
    for (number, case) in cases.enumerate() {
        let is_plain = case.links.is_empty() && case.needs.is_empty();
        if let Some(base) = plain.as_ref().filter(|_| is_plain) {
            asked.push((case.full_name(), case.asked(Policy::Realpath, base)));
            continue;
        }
        match make(&case, &folder.path().join(number.to_string()), &machine) {
            Ok(made) => {
                if is_plain {
                    plain = made.base().to_str().map(str::to_owned);
                }
                asked.push((case.full_name(), made.asked().clone()));
            }
            // This machine can't have it; `standin corpus paths` says which those are, and why.
            Err(NotMade::NotApplicable(_)) => {}
            Err(NotMade::Failed(error)) => return Err(error.to_string()),
        }
    }
    Ok(Questions { asked, _folder: Some(folder) })
}

/// The links of a case, and the canaries to which they lead: files, or folders (`../elsewhere/`) in which nothing is.
pub(super) struct Canaries {
    /// As the case names them, and where they are.
    places: Vec<(String, PathBuf)>,
}

impl Canaries {
    /// Makes the links below the workspace, and what they lead to where nothing is.
    pub(super) fn set(workspace: &str, links: &BTreeMap<String, String>) -> Result<Self, String> {
        let failed =
            |path: &Path, error: std::io::Error| format!("failed to make {}: {error}", path.display());
        let mut places = Vec::new();
        for (place, target) in links {
            let link = Path::new(workspace).join(place);
            let to = target.replace("${workspace}", workspace);
            let folder = link.parent().unwrap_or(&link).to_owned();
            let canary = folder.join(&to);
            for below in [folder, canary.parent().unwrap_or(&canary).to_owned()] {
                fs::create_dir_all(&below).map_err(|error| failed(&below, error))?;
            }
            if target.ends_with('/') {
                fs::create_dir_all(&canary).map_err(|error| failed(&canary, error))?;
            } else {
                fs::write(&canary, SONG).map_err(|error| failed(&canary, error))?;
            }
            symlink(&to, &link).map_err(|error| failed(&link, error))?;
            places.push((target.clone(), canary));
        }
        Ok(Self { places })
    }

    /// What there is in the workspace that leads to them.
    pub(super) fn told(links: &BTreeMap<String, String>) -> Option<Witnessed> {
        let names: Vec<String> = links.keys().cloned().collect();
        (!names.is_empty()).then_some(Witnessed::LinksOut { names })
    }

    /// What became of them.
    pub(super) fn seen(&self) -> impl Iterator<Item = Witnessed> {
        self.places.iter().map(|(place, canary)| Witnessed::Canary {
            place: place.clone(),
            touched: match place.ends_with('/') {
                true => fs::read_dir(canary).map_or(true, |mut files| files.next().is_some()),
                false => fs::read_to_string(canary).ok().as_deref() != Some(SONG),
            },
        })
    }
}
