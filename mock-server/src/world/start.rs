//! What a world starts with: its place, its settings, and what the files of its workspace say.

use super::customs::Customs;
use super::folders::within;
use crate::clients::Client;
use crate::options::Standing;
use crate::project_files::{ProjectFiles, merge_settings};
use crate::workspace::Project;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a world starts with.
#[derive(Debug, Clone)]
pub struct WorldConfig {
    /// Decides every random choice.
    pub seed: u64,
    /// The folder that is meant when a request names none.
    pub directory: String,
    /// Its project.
    pub project: Project,
    /// Folders of the server itself, for `/path`.
    pub home: String,
    /// The server's configuration, in the server's own words: what stands over the files of the workspace.
    pub said: Map<String, Value>,
    /// What stands under all of that: what the server has kept of a person's answers.
    pub kept: Map<String, Value>,
    /// What holds in the workspace by what its files say.
    pub customs: Arc<Customs>,
    /// The address of the cloud that is asked for news.
    pub cloud: Option<String>,
    /// Shell lines of the agent are run.
    pub runs_shell: bool,
    /// The shell that the environment names.
    pub shell: Option<String>,
    /// Who the environment says the person is.
    pub user: Option<String>,
    /// What runs in a terminal runs beside everything else, and people look at it.
    pub has_screens: bool,
    /// Who is in front of the server.
    pub standing: Standing,
    /// Who has started the server.
    pub(crate) client: Client,
}

impl WorldConfig {
    /// Who distrusts what stands in a project trusts what stands elsewhere.
    pub(crate) fn trusts(&self, path: &str) -> bool {
        let worktree = Some(&self.project.worktree).filter(|_| self.project.is_repository);
        within(path, &self.directory).is_none() && worktree.is_none_or(|root| within(path, root).is_none())
    }

    /// What holds in a folder about which files say this.
    pub(crate) fn customs_by(&self, files: &ProjectFiles) -> Customs {
        let mut settings = self.kept.clone();
        merge_settings(&mut settings, &Value::Object(files.settings.clone()));
        yield_to_start(&mut settings);
        merge_settings(&mut settings, &Value::Object(self.said.clone()));
        merge_settings(&mut settings, &Value::Object(files.over.clone()));
        Customs {
            settings,
            skills: files.skills.clone(),
            faults: files.faults.clone(),
            brings_model: names_its_model(&files.over),
            over: files.over.clone(),
            of_all: files.of_all.clone(),
            file_of_all: files.file_of_all.as_ref().map(|file| file.to_string_lossy().into_owned()),
            unclaimed: files.unclaimed.clone(),
        }
    }
}

/// What a recorded server was started with: its environment says it, and that counts more than any file and any client.
pub(super) const STARTED_WITH: [&str; 4] = ["model", "small_model", "autoupdate", "share"];
/// The same of the provider of the scripted model, and of that.
const OF_PROVIDER: [&str; 2] = ["name", "npm"];
const OF_MODEL: [&str; 3] = ["name", "tool_call", "limit"];

/// Settings of files and clients say in vain what the server was started with.
pub(super) fn yield_to_start(settings: &mut Map<String, Value>) {
    let mut leave_out = |place: &str, names: &[&str]| {
        let mut place = place.split('/').filter(|name| !name.is_empty());
        let holder = place.try_fold(&mut *settings, |map, name| map.get_mut(name)?.as_object_mut());
        if let Some(holder) = holder {
            holder.retain(|name, _| !names.contains(&name.as_str()));
        }
    };
    leave_out("", &STARTED_WITH);
    leave_out("provider/fake", &OF_PROVIDER);
    leave_out("provider/fake/models/fake", &OF_MODEL);
}

/// What was said at the start counts more than what clients set later; beside it that stands.
pub(super) fn overrule(set: &mut Map<String, Value>, said: &Map<String, Value>) {
    for (name, said) in said {
        match (set.get_mut(name), said) {
            (Some(Value::Object(set)), Value::Object(said)) => overrule(set, said),
            // One word for all of it, as permissions are said.
            (Some(Value::Object(set)), said) => drop(set.insert("*".to_owned(), said.clone())),
            (Some(set), said) => *set = said.clone(),
            (None, _) => {}
        }
    }
}

/// Do settings name a model of a provider that they bring?
fn names_its_model(settings: &Map<String, Value>) -> bool {
    let named = settings.get("model").and_then(Value::as_str).and_then(|model| model.split_once('/'));
    let brought = settings.get("provider").and_then(Value::as_object);
    named.is_some_and(|(provider, _)| brought.is_some_and(|brought| brought.contains_key(provider)))
}
