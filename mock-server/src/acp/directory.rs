//! What an agent knows of a folder: the models, modes and commands that it offers there. It is read once for each.

use super::server::{Refused, Server};
use crate::javascript::in_dictionary;
use serde_json::{Value, json};

/// A folder, as it was when an agent first looked.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    /// As the server lists them.
    pub(super) providers: Vec<Value>,
    pub(super) modes: Vec<Value>,
    pub(super) default_mode: String,
    /// `available_commands_update` has them so.
    pub(super) commands: Vec<Value>,
    pub(super) default_model: Model,
}

/// A model by its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) provider: String,
    pub(super) model: String,
}

impl Model {
    pub(super) fn word(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    pub(super) fn json(&self) -> Value {
        json!({"providerID": self.provider, "modelID": self.model})
    }

    /// What stands before the first slash, and all behind it.
    pub(super) fn parse(word: &str) -> Self {
        let (provider, model) = word.split_once('/').unwrap_or((word, ""));
        Self { provider: provider.to_owned(), model: model.to_owned() }
    }
}

impl Directory {
    pub(super) async fn of(server: &Server, folder: &str) -> Result<Self, Refused> {
        let providers = server.get("/config/providers", folder).await?;
        let agents = server.get("/agent", folder).await?;
        let commands = server.get("/command", folder).await?;
        let skills = server.get("/skill", folder).await?;
        let config = server.get("/config", folder).await.unwrap_or_default();
        let providers = providers["providers"].as_array().cloned().unwrap_or_default();
        let agents = agents.as_array().cloned().unwrap_or_default();
        let is_shown = |agent: &&Value| agent["hidden"] != true;
        let modes =
            agents.iter().filter(is_shown).filter(|agent| agent["mode"] != "subagent").map(offered).collect();
        let default_mode = agents.iter().filter(is_shown).find(|agent| agent["mode"] == "primary");
        let default_mode =
            default_mode.and_then(|agent| agent["name"].as_str()).unwrap_or("build").to_owned();
        let mut all = commands.as_array().cloned().unwrap_or_default();
        for skill in skills.as_array().into_iter().flatten() {
            if !all.iter().any(|command| command["name"] == skill["name"]) {
                all.push(skill.clone());
            }
        }
        let name = |command: &Value| command["name"].as_str().unwrap_or_default().to_owned();
        all.sort_by(|a, b| in_dictionary(&name(a), &name(b)));
        let described = |command: &Value| json!({"name": command["name"], "description": command["description"].as_str().unwrap_or_default()});
        let commands = all.iter().map(described).collect();
        let default_model = default_model(&config, &providers);
        Ok(Self { providers, modes, default_mode, commands, default_model })
    }

    pub(super) fn has_mode(&self, mode: &str) -> bool {
        self.modes.iter().any(|known| known["id"] == mode)
    }

    pub(super) fn model(&self, model: &Model) -> Option<&Value> {
        let provider = self.providers.iter().find(|provider| provider["id"] == model.provider.as_str())?;
        provider["models"].get(&model.model)
    }

    /// How much a model can hold.
    pub(super) fn room(&self, model: &Model) -> Option<u64> {
        self.model(model)?["limit"]["context"].as_u64().filter(|room| *room > 0)
    }

    /// The efforts that a model knows.
    pub(super) fn variants(&self, model: &Model) -> Vec<String> {
        let variants = self.model(model).and_then(|model| model["variants"].as_object());
        variants.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// May this effort be chosen for a model? `default` always may, where there is a choice.
    pub(super) fn has_effort(&self, model: &Model, effort: &str) -> bool {
        let variants = self.variants(model);
        !variants.is_empty() && (effort == "default" || variants.iter().any(|variant| variant == effort))
    }

    /// What a word means: `provider/model`, or `provider/model/effort`.
    pub(super) fn named(&self, word: &str) -> (Model, Option<String>) {
        let model = Model::parse(word);
        if self.model(&model).is_none()
            && let Some((name, effort)) = model.model.rsplit_once('/')
        {
            let shorter = Model { provider: model.provider.clone(), model: name.to_owned() };
            if self.variants(&shorter).iter().any(|variant| variant == effort) {
                return (shorter, Some(effort.to_owned()));
            }
        }
        (model, None)
    }

    pub(super) fn default_variant(&self, model: &Model) -> Option<String> {
        let variants = self.variants(model);
        match variants.iter().any(|variant| variant == "default") {
            true => Some("default".to_owned()),
            false => variants.into_iter().next(),
        }
    }
}

fn offered(agent: &Value) -> Value {
    let mut mode = json!({"id": agent["name"], "name": agent["name"]});
    if let Some(description) = agent["description"].as_str().filter(|text| !text.is_empty()) {
        mode["description"] = json!(description);
    }
    mode
}

/// The one of the settings; else the first there is.
fn default_model(config: &Value, providers: &[Value]) -> Model {
    let wanted = config["model"].as_str().map(Model::parse);
    let is_known = |model: &Model| {
        let provider = providers.iter().find(|provider| provider["id"] == model.provider.as_str());
        provider.is_some_and(|provider| provider["models"].get(&model.model).is_some())
    };
    let first = || {
        providers.iter().find_map(|provider| {
            let model = provider["models"].as_object()?.keys().next()?;
            Some(Model { provider: provider["id"].as_str()?.to_owned(), model: model.clone() })
        })
    };
    let nobody = || Model { provider: "unknown".to_owned(), model: "unknown".to_owned() };
    wanted.clone().filter(is_known).or_else(first).or(wanted).unwrap_or_else(nobody)
}
