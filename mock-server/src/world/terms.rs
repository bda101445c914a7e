//! What a model is told beside the conversation: its own name, how much it may say, how it shall think.

use super::World;
use super::models::ByName;
use super::structured::STRUCTURED;
use crate::project_files::merge_settings;
use fixtures::ServerKind;
use serde_json::{Map, Value, json};

/// Options that have another name on the way to the model. Under that name the settings say nothing to it.
const RENAMED: [(&str, &str); 2] = [("reasoningEffort", "reasoning_effort"), ("textVerbosity", "verbosity")];

/// Who is asked, and for whom.
#[derive(Default)]
pub(super) struct Asked<'a> {
    /// In which folder.
    pub(super) directory: &'a str,
    pub(super) provider: &'a str,
    pub(super) model: &'a str,
    pub(super) variant: Option<&'a str>,
    pub(super) agent: &'a str,
    /// How freely it chooses its words, where no agent says it.
    pub(super) temperature: Option<f64>,
    /// Is it a small thing? Then nobody wants it to think more than it must.
    pub(super) is_small: bool,
}

impl World {
    /// The terms of a session's current step.
    pub(super) fn terms_of(&self, session: &str) -> Map<String, Value> {
        self.terms(&self.asked_in(session))
    }

    /// Who is asked in that step.
    pub(super) fn asked_in<'a>(&'a self, session: &'a str) -> Asked<'a> {
        let owner = self.sessions.get(session);
        let now = owner.and_then(|owner| owner.message(&owner.run.as_ref()?.message));
        let word = |key: &str| now.and_then(|now| now.info[key].as_str());
        Asked {
            directory: self.folder_of(session),
            provider: word("providerID").unwrap_or("fake"),
            model: word("modelID").unwrap_or("fake"),
            variant: word("variant"),
            agent: word("agent").unwrap_or_default(),
            ..Asked::default()
        }
    }

    /// As they stand in a request: what the model's settings say, then its agent's, then the variant that was chosen.
    pub(super) fn terms(&self, asked: &Asked<'_>) -> Map<String, Value> {
        let said = self.said_of_model(asked.directory, asked.provider, asked.model);
        let agent = self.agents_in(asked.directory).named(asked.agent);
        let of_agent =
            |key: &str| agent.and_then(|agent| agent.setting(key)).filter(|value| !value.is_null());
        let mut terms = Map::new();
        let mut tell = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                terms.insert(key.to_owned(), value);
            }
        };
        let own = said["id"].as_str().unwrap_or(asked.model);
        tell("model", Some(json!(own)));
        let known = ByName::new(self.profile.server, own);
        let most = self.limits_of(asked.directory, asked.provider, asked.model).answer();
        tell("max_tokens", known.is_bounded().then(|| json!(most)));
        // A model is told how freely to choose its words only if it is known to listen.
        let listens = said["temperature"] == true;
        let warm = asked.temperature.or_else(|| known.temperature()).map(told);
        tell("temperature", of_agent("temperature").cloned().or(warm).filter(|_| listens));
        tell("top_p", of_agent("topP").cloned().or(known.top_p().map(told)));
        let mut options = if asked.is_small { Map::new() } else { known.options() };
        let variants = self.variants_of(asked.model, &said);
        let least = asked.is_small.then(|| variants.values().next().cloned()).flatten();
        merge_settings(&mut options, &least.unwrap_or_default());
        merge_settings(&mut options, &said["options"]);
        merge_settings(&mut options, of_agent("options").unwrap_or(&Value::Null));
        let chosen = asked.variant.and_then(|variant| variants.get(variant).cloned());
        merge_settings(&mut options, &chosen.unwrap_or_default());
        options.retain(|name, _| RENAMED.iter().all(|(_, told)| told != name));
        for (name, value) in options {
            let renamed = RENAMED.iter().find(|(own, _)| *own == name);
            terms.insert(renamed.map_or(name, |(_, told)| (*told).to_owned()), value);
        }
        terms
    }

    /// The variant that an agent's settings choose of its model, if that is the model and has it.
    pub(super) fn variant_of_agent(&self, session: &str, agent: &str, model: &Value) -> Option<String> {
        let agent = self.agent_for(session, agent)?;
        let variant = agent.setting("variant")?.as_str()?;
        let own = agent.model.as_ref()?;
        let is_own = ["providerID", "modelID"].iter().all(|key| own[*key] == model[*key]);
        let word = |key: &str| model[key].as_str().unwrap_or_default();
        let said = self.said_of_model(self.folder_of(session), word("providerID"), word("modelID"));
        (is_own && self.variants_of(word("modelID"), &said).contains_key(variant)).then(|| variant.to_owned())
    }

    /// What is said of the tools that come with a form or with servers, by their names for the model.
    pub(super) fn definitions_of(&self, session: &str) -> Map<String, Value> {
        let mut all = self.served_definitions(session);
        if let Some(form) = self.form_of(session) {
            let mut form = form["schema"].clone();
            if let Some(fields) = form.as_object_mut() {
                fields.shift_remove("$schema");
            }
            let description =
                "Takes the answer in the form that is wanted. Call it once, when all else is done.";
            all.insert(STRUCTURED.to_owned(), json!({"description": description, "parameters": form}));
        }
        all
    }

    pub(super) fn said_of_model(&self, directory: &str, provider: &str, model: &str) -> Value {
        let settings = self.settings_in(directory);
        let said = settings.get("provider").and_then(|all| all.get(provider)?.get("models")?.get(model));
        said.cloned().unwrap_or_default()
    }

    pub(super) fn variants_of(&self, model: &str, said: &Value) -> Map<String, Value> {
        variants(model, said, self.profile.server)
    }
}

/// Whole numbers are told without a point.
fn told(number: f64) -> Value {
    if number == 1.0 { json!(1) } else { json!(number) }
}

/// The efforts that a model can be asked for: what a thinking one can by its name, and those of the settings, beside
/// them or in their place.
pub(crate) fn variants(model: &str, said: &Value, server: ServerKind) -> Map<String, Value> {
    let is_off = |own: &Value| own["disabled"] == true;
    let own = said["variants"].as_object().cloned().unwrap_or_default();
    let replaces = server == ServerKind::Kilo && own.values().any(|own| !is_off(own));
    let mut variants = Map::new();
    if said["reasoning"] == true && !replaces {
        variants = ByName::new(server, said["id"].as_str().unwrap_or(model)).variants(model);
    }
    merge_settings(&mut variants, &Value::Object(own));
    variants.retain(|_, variant| !is_off(variant));
    for variant in variants.values_mut().filter_map(Value::as_object_mut) {
        variant.shift_remove("disabled");
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_of_the_settings_stand_beside_those_of_the_server_or_in_their_place() {
        let said = json!({"reasoning": true, "variants": {"low": {"disabled": true}, "huge": {"x": 1}}});
        let keys = |server| variants("m", &said, server).keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(ServerKind::Opencode), ["medium", "high", "huge"]);
        assert_eq!(keys(ServerKind::Kilo), ["huge"]);
        let none = json!({"reasoning": true, "variants": {"low": {"disabled": true}}});
        assert_eq!(variants("m", &none, ServerKind::Kilo).len(), 2);
        assert!(variants("m", &json!({}), ServerKind::Opencode).is_empty());
    }
}
