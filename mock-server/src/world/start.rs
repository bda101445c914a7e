//! What a world starts with: its place, its settings, and what the files of its workspace say.

use super::folders::within;
use super::tools::Skill;
use crate::clients::Client;
use crate::project_files::{Fault, ProjectFiles, merge_settings};
use crate::workspace::Project;
use serde_json::{Map, Value};

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
    /// What is said, with what these files and that say under it.
    pub config: Map<String, Value>,
    /// The skills that lie in the workspace.
    pub skills: Vec<Skill>,
    /// The files of the workspace that can't be used.
    pub(crate) faults: Vec<Fault>,
    /// The address of the cloud that is asked for news.
    pub cloud: Option<String>,
    /// The settings of the environment, which overrule all others.
    pub(crate) over: Map<String, Value>,
    /// The settings of all workspaces, as the files of the home have them.
    pub(crate) of_all: Map<String, Value>,
    /// The last of the files that have them.
    pub(crate) file_of_all: Option<String>,
    /// Permissions that stand in no settings.
    pub(crate) unclaimed: Value,
    /// Shell lines of the agent are run.
    pub runs_shell: bool,
    /// The shell that the environment names.
    pub shell: Option<String>,
    /// Who the environment says the person is.
    pub user: Option<String>,
    /// What runs in a terminal runs beside everything else, and people look at it.
    pub has_screens: bool,
    /// It stands behind an agent on stdin and stdout.
    pub is_agents: bool,
    /// Who has started the server.
    pub(crate) client: Client,
    /// The environment says which model there is: it goes by that name, and not by the scripted model's.
    pub(crate) brings_model: bool,
}

impl WorldConfig {
    /// Who distrusts what stands in a project trusts what stands elsewhere.
    pub(crate) fn trusts(&self, path: &str) -> bool {
        let worktree = Some(&self.project.worktree).filter(|_| self.project.is_repository);
        within(path, &self.directory).is_none() && worktree.is_none_or(|root| within(path, root).is_none())
    }

    /// The files of the workspace say this.
    pub(crate) fn learn(&mut self, files: &ProjectFiles) {
        self.config.clone_from(&self.kept);
        merge_settings(&mut self.config, &Value::Object(files.settings.clone()));
        yield_to_start(&mut self.config);
        merge_settings(&mut self.config, &Value::Object(self.said.clone()));
        merge_settings(&mut self.config, &Value::Object(files.over.clone()));
        self.brings_model = names_its_model(&files.over);
        self.over.clone_from(&files.over);
        self.of_all.clone_from(&files.of_all);
        self.file_of_all = files.file_of_all.as_ref().map(|file| file.to_string_lossy().into_owned());
        self.unclaimed.clone_from(&files.unclaimed);
        self.skills.clone_from(&files.skills);
        self.faults.clone_from(&files.faults);
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
