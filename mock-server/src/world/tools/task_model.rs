//! Which model another agent works with, and how hard it thinks: what its own settings say, those for all such agents
//! where a server knows them, or what the agent does that gives it work.

use crate::world::World;
use serde_json::{Map, Value, json};

impl World {
    /// The model of the agent that is to work, and its variant.
    pub(super) fn model_for_task(&self, session: &str, agent: &str) -> (Value, Option<String>) {
        let own = self.own_model_of(session, agent);
        if !self.profile.subagent_rules {
            return own.map_or_else(|| self.model_at_work(session), |own| (own, None));
        }
        let settings = self.settings_for(session);
        let (model, usual) = match own {
            Some(own) => {
                let variant =
                    self.agent_for(session, agent).and_then(|agent| agent.setting("variant")?.as_str());
                (own, variant.map(str::to_owned))
            }
            None => self.model_for_all(session, &settings).unwrap_or_else(|| self.model_at_work(session)),
        };
        let name = format!("{}/{}", word(&model, "providerID"), word(&model, "modelID"));
        let other = settings.get("subagent_variant_overrides").and_then(|all| all.get(&name)?.as_str());
        let other = other.filter(|other| self.has_variant(session, &model, other)).map(str::to_owned);
        (model, other.or(usual))
    }

    /// What the settings say for all agents that are given work, if that can be used.
    fn model_for_all(&self, session: &str, settings: &Map<String, Value>) -> Option<(Value, Option<String>)> {
        let (provider, name) = settings.get("subagent_model")?.as_str()?.split_once('/')?;
        let model = json!({"providerID": provider, "modelID": name});
        if !self.can_use(session, provider, name) {
            return None;
        }
        let variant = settings.get("subagent_variant").and_then(Value::as_str);
        let variant = variant.filter(|variant| self.has_variant(session, &model, variant)).map(str::to_owned);
        Some((model, variant))
    }

    fn has_variant(&self, session: &str, model: &Value, variant: &str) -> bool {
        let said =
            self.said_of_model(self.folder_of(session), word(model, "providerID"), word(model, "modelID"));
        self.variants_of(word(model, "modelID"), &said).contains_key(variant)
    }

    /// The model and the variant of the answer that is being given.
    fn model_at_work(&self, session: &str) -> (Value, Option<String>) {
        let owner = self.sessions.get(session);
        let asking = owner.and_then(|owner| owner.message(&owner.run.as_ref()?.message));
        let info = asking.map(|message| &message.info).unwrap_or(&Value::Null);
        let model = json!({"modelID": info["modelID"], "providerID": info["providerID"]});
        (model, info["variant"].as_str().map(str::to_owned))
    }
}

fn word<'v>(model: &'v Value, key: &str) -> &'v str {
    model[key].as_str().unwrap_or_default()
}
