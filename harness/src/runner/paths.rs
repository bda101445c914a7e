//! What the adapter's guard says of the corpus of paths, and what lies around the workspace when the agent has done
//! its work.

use super::{Run, Troubled, broken};
use crate::protocol::request::{PathCheck, PathJudged};
use crate::protocol::{Capability, Request};
use crate::witness::Witnessed;
use fixtures::paths::corpus::Asked;
use fixtures::paths::{self, Policy, ground};
use fixtures::recording::TroubleKind;
use mock_server::paths::{Machine, NotMade, make};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What stands in every canary.
const SONG: &str = "nobody may write here\n";

/// What the guard is asked: the name of the case, and its words.
type Question = (String, Asked);

impl Run {
    /// Asks the adapter about every case that the policy has an opinion of.
    pub(super) async fn ask_paths(&mut self, policy: Policy) -> Result<(), Troubled> {
        // The files of some hundred cases.
        let made = tokio::task::spawn_blocking(move || questions(policy)).await;
        let made = made.map_err(|error| error.to_string()).and_then(|made| made);
        let (_folder, questions) = made.map_err(|why| (TroubleKind::Harness, why))?;
        for (case, Asked { roots, path }) in questions {
            Witnessed::PathAsked { case, policy }.note(self.stand_in.journal());
            let answer = self.ask(Request::PathCheck(PathCheck { roots, path, policy })).await?;
            serde_json::from_value::<PathJudged>(answer)
                .map_err(|error| broken(format!("path/check: {error}")))?;
        }
        Ok(())
    }
}

/// What is asked, and the folder that holds what it is about.
fn questions(policy: Policy) -> Result<(Option<tempfile::TempDir>, Vec<Question>), String> {
    let cases = paths::all().map_err(|error| error.to_string())?;
    let cases = cases.into_iter().filter(|case| case.verdict(policy).allows().is_some());
    if policy != Policy::Realpath {
        let asked = |case: paths::Case| (case.full_name(), case.asked(policy, ground::base(policy)));
        return Ok((None, cases.map(asked).collect()));
    }
    let folder = tempfile::tempdir().map_err(|error| format!("failed to make a folder: {error}"))?;
    let machine = Machine::probed(folder.path()).map_err(|error| error.to_string())?;
    let mut questions = Vec::new();
    for (number, case) in cases.enumerate() {
        match make(&case, &folder.path().join(number.to_string()), &machine) {
            Ok(made) => questions.push((case.full_name(), made.asked().clone())),
            // This machine can't have it; `standin corpus paths` says which those are, and why.
            Err(NotMade::NotApplicable(_)) => {}
            Err(NotMade::Failed(error)) => return Err(error.to_string()),
        }
    }
    Ok((Some(folder), questions))
}

/// The links of a case, and the canaries to which they lead.
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
            let canary = Path::new(workspace).join(target);
            let link = Path::new(workspace).join(place);
            fs::write(&canary, SONG).map_err(|error| failed(&canary, error))?;
            symlink(target, &link).map_err(|error| failed(&link, error))?;
            places.push((target.clone(), canary));
        }
        Ok(Self { places })
    }

    /// What became of them.
    pub(super) fn seen(&self) -> impl Iterator<Item = Witnessed> {
        self.places.iter().map(|(place, canary)| Witnessed::Canary {
            place: place.clone(),
            touched: fs::read_to_string(canary).ok().as_deref() != Some(SONG),
        })
    }
}

/// What the adapter has to be able to do, so that its guard can be asked.
pub(super) fn needs(asks: bool) -> Option<Capability> {
    asks.then_some(Capability::PathCheck)
}
