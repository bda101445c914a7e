//! What holds in a folder: the settings that the files about it have, with what the server was told, and who can work
//! there by these. The files are read when an instance of the folder begins.

use super::World;
use super::agents::{Agents, Places};
use super::config::merge;
use super::settings_form::{in_use, with_tools};
use super::start::yield_to_start;
use super::tools::Skill;
use crate::project_files::Fault;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the files about a folder say, with what was said to the server.
#[derive(Debug, Clone, Default)]
pub struct Customs {
    /// What was said to the server, with what these files and what it has kept say under it.
    pub settings: Map<String, Value>,
    /// The skills, in the order in which they were found.
    pub skills: Vec<Skill>,
    /// The files that can't be used.
    pub(crate) faults: Vec<Fault>,
    /// The settings of the environment, which overrule all others.
    pub(crate) over: Map<String, Value>,
    /// The settings of all folders, as the files of the home have them.
    pub(crate) of_all: Map<String, Value>,
    /// The last of the files that have them.
    pub(crate) file_of_all: Option<String>,
    /// Permissions that stand in no settings.
    pub(crate) unclaimed: Value,
    /// The environment says which model there is: it goes by that name, and not by the scripted model's.
    pub(crate) brings_model: bool,
}

impl Customs {
    /// Is it the same, in the same order? That decides among rules.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        let words = |all: &Self| [&all.settings, &all.over, &all.of_all].map(in_words);
        let unclaimed = |all: &Self| all.unclaimed.to_string();
        words(self) == words(other)
            && unclaimed(self) == unclaimed(other)
            && (&self.skills, &self.faults, &self.file_of_all, self.brings_model)
                == (&other.skills, &other.faults, &other.file_of_all, other.brings_model)
    }
}

/// Settings in words: equal ones have the same order.
pub(super) fn in_words(settings: &Map<String, Value>) -> String {
    serde_json::to_string(settings).unwrap_or_default()
}

/// What holds in another folder than the server's own, and who works there.
#[derive(Debug)]
pub(super) struct Abroad {
    customs: Arc<Customs>,
    agents: Arc<Agents>,
}

/// That of all such folders that were looked at.
pub(super) type AllAbroad = BTreeMap<String, Abroad>;

impl World {
    /// What the files about a folder say; of one that nobody has looked at, what those about the server's own folder say.
    pub(crate) fn customs(&self, directory: &str) -> &Customs {
        self.abroad.get(directory).map_or(&self.config.customs, |abroad| &abroad.customs)
    }

    /// Everybody who can work there.
    pub(crate) fn agents_in(&self, directory: &str) -> &Arc<Agents> {
        self.abroad.get(directory).map_or(&self.agents, |abroad| &abroad.agents)
    }

    /// Everybody who can work in a session.
    pub(crate) fn agents_for(&self, session: &str) -> &Arc<Agents> {
        self.agents_in(self.folder_of(session))
    }

    /// The settings that hold in a session.
    pub(super) fn settings_for(&self, session: &str) -> Map<String, Value> {
        self.settings_in(self.folder_of(session))
    }

    /// The folder of a session; of none it is the server's own.
    pub(super) fn folder_of(&self, session: &str) -> &str {
        self.sessions.get(session).map_or(&self.config.directory, |owner| &owner.directory)
    }

    /// Are the files about a folder known, as they are?
    pub(super) fn knows_customs(&self, directory: &str) -> bool {
        let is_known = directory == self.config.directory || self.abroad.contains_key(directory);
        is_known && !self.old_files.contains(directory)
    }

    /// The settings that hold in a folder, with what clients have set.
    pub(super) fn settings_in(&self, directory: &str) -> Map<String, Value> {
        self.settings_by(directory, self.customs(directory))
    }

    fn settings_by(&self, directory: &str, customs: &Customs) -> Map<String, Value> {
        let mut settings = self.global_with(None);
        for said in self.project_settings(directory) {
            merge(&mut settings, &Value::Object(said.clone()));
        }
        yield_to_start(&mut settings);
        let mut settings = with_tools(settings);
        merge(&mut settings, &Value::Object(customs.settings.clone()));
        in_use(settings)
    }

    /// What the settings say there of something that is tried out.
    pub(super) fn experiment_in(&self, directory: &str, name: &str) -> Value {
        self.settings_in(directory).get("experimental").map(|all| all[name].clone()).unwrap_or_default()
    }

    /// The files about a folder were read.
    pub(super) fn adopt(&mut self, directory: &str, customs: Customs) {
        self.old_files.remove(directory);
        if directory == self.config.directory {
            self.config.customs = Arc::new(customs);
            return self.gather_agents();
        }
        // Most folders have nothing of their own.
        let customs = Some(&self.config.customs)
            .filter(|own| own.is_as(&customs))
            .cloned()
            .unwrap_or_else(|| Arc::new(customs));
        let agents = self.agents_by(directory, &customs);
        self.abroad.insert(directory.to_owned(), Abroad { customs, agents });
    }

    /// The settings are others: so are those who can work.
    pub(super) fn gather_agents(&mut self) {
        self.agents = self.agents_by(&self.config.directory, &self.config.customs);
        let mut abroad = std::mem::take(&mut self.abroad);
        for (directory, abroad) in &mut abroad {
            abroad.agents = self.agents_by(directory, &abroad.customs);
        }
        self.abroad = abroad;
    }

    fn agents_by(&self, directory: &str, customs: &Customs) -> Arc<Agents> {
        let top = self.worktree_of(directory);
        let agents = Agents::new(
            self.profile,
            self.settings_by(directory, customs),
            Places::of(&self.config, &top, customs),
        );
        if self.agents.are_as(&agents) { Arc::clone(&self.agents) } else { Arc::new(agents) }
    }
}
