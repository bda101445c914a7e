//! Providers and models: which an instance may use, and what is told of one that there is not.

mod by_name;
mod fitted;

use super::terms::Asked;
use super::{ApiRequest, ReplyBody, World};
use crate::mistakes::Mistake;
use crate::providers::{Access, Own, Providers};
pub(super) use by_name::ByName;
pub(crate) use by_name::{first_choice, thinks_in};
pub(super) use fitted::ENDS_IN_WORDS;
use fitted::For;
use serde_json::{Map, Value};

impl World {
    /// The conversation as a model gets it.
    pub(super) fn fit(
        &self,
        messages: Vec<Value>,
        asked: &Asked<'_>,
        terms: &Map<String, Value>,
    ) -> Vec<Value> {
        let id = terms.get("model").and_then(Value::as_str).unwrap_or(asked.model);
        let said = self.said_of_model(asked.directory, asked.provider, asked.model);
        let (server, provider, model) = (self.profile.server, asked.provider, asked.model);
        let whose = For { server, provider, model, id, said: &said };
        whose.fit(messages)
    }

    /// `GET /provider`.
    pub(super) fn list_providers(&mut self, request: &ApiRequest) {
        let mut access = self.access_in(&self.directory_of(request));
        access.given = self.keys.keys().cloned().collect();
        self.tell_providers(request, access, true);
    }

    /// `GET /config/providers`.
    pub(super) fn configured_providers(&mut self, request: &ApiRequest) {
        let access = self.access_in(&self.directory_of(request));
        self.tell_providers(request, access, false);
    }

    fn tell_providers(&mut self, request: &ApiRequest, access: Access, all: bool) {
        let by_key = self.profile.keys_connect;
        let directory = self.directory_of(request);
        let body = ReplyBody::Providers { directory, access, all, by_key };
        self.reply(request.ticket, 200, body);
    }

    /// What the keys and settings of this moment let an instance use.
    fn access(&self, directory: &str) -> Access {
        let settings = self.settings_in(directory);
        let list = |name: &str| {
            let ids = settings.get(name)?.as_array()?.iter().filter_map(Value::as_str);
            Some(ids.map(str::to_owned).collect::<Vec<_>>())
        };
        let of_key = |(id, key): (&String, &Value)| {
            let key = key["key"].as_str().filter(|_| key["type"] == "api")?;
            Some((id.clone(), key.to_owned()))
        };
        Access {
            keys: self.keys.iter().filter_map(of_key).collect(),
            given: Vec::new(),
            enabled: list("enabled_providers"),
            disabled: list("disabled_providers").unwrap_or_default(),
        }
    }

    /// An instance goes by the keys and settings of the moment in which it is first asked for a model.
    fn access_in(&mut self, directory: &str) -> Access {
        let now = self.access(directory);
        match self.instances.get_mut(directory) {
            Some(instance) => instance.access.get_or_insert(now).clone(),
            None => now,
        }
    }

    /// What is wrong with a model that there is not. That is told in the session.
    pub(crate) fn lacks_model(&mut self, session: &str, model: &Value) -> Option<(Mistake, String)> {
        let (mistake, message) = self.missing_model(session, model)?;
        self.tell_error(session, &message);
        Some((mistake, format!("ProviderModelNotFoundError: {message}")))
    }

    /// What is told of a model that there is not.
    pub(super) fn missing_model(&mut self, session: &str, model: &Value) -> Option<(Mistake, String)> {
        let word = |key: &str| model[key].as_str().unwrap_or_default();
        let (provider, name) = (word("providerID"), word("modelID"));
        let directory = self.folder_of(session).to_owned();
        let access = self.access_in(&directory);
        if self.offers(&directory, provider, name, &access) {
            return None;
        }
        let own = self.own_models(&directory, &access);
        let known = Providers::of(self.profile.server);
        let like = known.like(provider, name, &own, &access);
        let hint =
            if like.is_empty() { String::new() } else { format!(" Did you mean: {}?", like.join(", ")) };
        let has_provider = own.iter().any(|(id, _)| id == provider) || known.has(provider, &access);
        let mistake = if has_provider { Mistake::Model } else { Mistake::Provider };
        Some((mistake, format!("Model not found: {provider}/{name}.{hint}")))
    }

    /// Is there such a model for a session, as the keys and settings of this moment are?
    pub(super) fn can_use(&self, session: &str, provider: &str, model: &str) -> bool {
        let directory = self.folder_of(session);
        self.offers(directory, provider, model, &self.access(directory))
    }

    fn offers(&self, directory: &str, provider: &str, model: &str, access: &Access) -> bool {
        let is_own = |(id, models): &Own| id == provider && models.iter().any(|name| name == model);
        self.own_models(directory, access).iter().any(is_own)
            || Providers::of(self.profile.server).has_model(provider, model, access)
    }

    /// The scripted model, unless the settings bring another one, and those of the settings that can be used.
    fn own_models(&self, directory: &str, access: &Access) -> Vec<Own> {
        let scripted = ("fake".to_owned(), vec!["fake".to_owned()]);
        let mut own = if self.customs(directory).brings_model { Vec::new() } else { vec![scripted] };
        let providers = self
            .customs(directory)
            .settings
            .get("provider")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        for (id, provider) in &providers {
            let models = provider["models"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
            match own.iter_mut().find(|(known, _)| known == id) {
                Some((_, known)) => known.extend(models),
                None => own.push((id.clone(), models.collect())),
            }
        }
        for (id, models) in &mut own {
            models.retain(|name| providers.get(id).is_none_or(|provider| is_offered(provider, name)));
        }
        own.retain(|(id, models)| access.allows(id) && !models.is_empty());
        own
    }
}

/// Do a provider's settings let this model of it be used? Not one that is on its way out or not there yet, and none that
/// nobody wants.
pub(crate) fn is_offered(provider: &Value, model: &str) -> bool {
    let lists = |list: &str| Some(provider[list].as_array()?.iter().any(|name| name == model));
    let status = provider.pointer(&format!("/models/{}/status", model.replace('~', "~0").replace('/', "~1")));
    !matches!(status.and_then(Value::as_str), Some("alpha" | "deprecated"))
        && lists("blacklist") != Some(true)
        && lists("whitelist") != Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn settings_say_which_models_are_offered() {
        let provider = json!({"models": {"a/b": {"status": "deprecated"}, "c": {"status": "beta"}, "d": {}}});
        let offered = |provider: &Value| ["a/b", "c", "d", "e"].map(|model| is_offered(provider, model));
        assert_eq!(offered(&provider), [false, true, true, true]);
        assert_eq!(offered(&json!({"blacklist": ["c"]})), [true, false, true, true]);
        assert_eq!(
            offered(&json!({"whitelist": ["c", "d"], "blacklist": ["d"]})),
            [false, true, false, false]
        );
    }
}
