//! The providers and models that a release knows, and what follows when somebody has a key for one of them: as the real
//! server told it (`providers.json.gz` beside its recordings).

mod nearest;

use fixtures::{ServerKind, catalog};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::sync::OnceLock;

/// What a release knows.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Providers {
    /// All, as they are told when nobody has given a key.
    all: Vec<Value>,
    /// What is otherwise with a key.
    keyed: Map<String, Value>,
    /// Those that a key alone does not make usable.
    unkeyed: Vec<String>,
    /// Those that can be used without a key.
    usable: Vec<String>,
    /// The model of each that is offered first.
    default: Map<String, Value>,
    /// Those whose models could not be fetched, where that is told.
    failed: Option<Vec<String>>,
}

/// Which of them an instance may use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Access {
    /// The keys of those that have one, in the order in which they were given.
    pub keys: Vec<(String, String)>,
    /// Those that somebody has given anything for, be it of use or not; since the instance began or before.
    pub given: Vec<String>,
    /// None but these, when anybody says so.
    pub enabled: Option<Vec<String>>,
    /// None of these.
    pub disabled: Vec<String>,
}

impl Access {
    fn allows(&self, id: &str) -> bool {
        let has = |list: &[String]| list.iter().any(|one| one == id);
        self.enabled.as_ref().is_none_or(|enabled| has(enabled)) && !has(&self.disabled)
    }
}

impl Providers {
    /// What the pinned release knows.
    pub(crate) fn of(server: ServerKind) -> &'static Self {
        static KILO: OnceLock<Providers> = OnceLock::new();
        static OPENCODE: OnceLock<Providers> = OnceLock::new();
        let cell = match server {
            ServerKind::Kilo => &KILO,
            ServerKind::Opencode => &OPENCODE,
        };
        cell.get_or_init(|| {
            let packed = catalog::providers(&server.release()).unwrap_or_default();
            let mut text = String::new();
            let unpacked = GzDecoder::new(packed).read_to_string(&mut text);
            unpacked.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
        })
    }

    fn find(&self, id: &str) -> Option<&Value> {
        self.all.iter().find(|provider| provider["id"] == id)
    }

    /// Those that an instance may use: those with a key, then those that are told in `plain`.
    fn usable(&self, plain: &[Value], access: &Access) -> Vec<Value> {
        let keys = access.keys.iter().filter(|(id, _)| !self.unkeyed.contains(id));
        let mut usable: Vec<Value> = keys.filter_map(|(id, key)| self.with_key(id, key)).collect();
        for provider in plain {
            if !usable.iter().any(|known| known["id"] == provider["id"]) {
                usable.push(provider.clone());
            }
        }
        usable.retain(|provider| access.allows(provider["id"].as_str().unwrap_or_default()));
        usable
    }

    fn with_key(&self, id: &str, key: &str) -> Option<Value> {
        let known = self.find(id)?.as_object()?;
        let changed = self.keyed.get(id).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut provider = Map::new();
        for (name, value) in known.iter().filter(|(name, _)| *name != "metadata") {
            let value = match name.as_str() {
                "source" => json!("api"),
                "models" => models(value, changed.get("models")),
                _ => changed.get(name).unwrap_or(value).clone(),
            };
            provider.insert(name.clone(), value);
            if name == "env" {
                provider.insert("key".to_owned(), json!(key));
            }
        }
        Some(Value::Object(provider))
    }

    fn default_of(&self, provider: &Value, plain: &Map<String, Value>) -> Option<Value> {
        let id = provider["id"].as_str()?;
        let changed = provider.get("key").and_then(|_| self.keyed.get(id)?.get("default"));
        changed.or_else(|| plain.get(id)).or_else(|| self.default.get(id)).cloned()
    }

    /// `GET /config/providers`; `plain` is the answer without any key.
    pub(crate) fn configured(&self, plain: &Value, access: &Access) -> Value {
        let (known, default) = parts(plain);
        let usable = self.usable(&known, access);
        let default = self.defaults(&usable, &default);
        json!({"providers": usable, "default": default})
    }

    /// `GET /provider`. `by_key`: whoever has been given something counts as connected.
    pub(crate) fn listed(&self, plain: &Value, access: &Access, by_key: bool) -> Value {
        let (known, default) = parts(plain);
        let usable = self.usable(&known, access);
        let connected: Vec<&str> = usable.iter().filter_map(|provider| provider["id"].as_str()).collect();
        let mut all: Vec<Value> = Vec::new();
        let is_known = |id: &Value| id.as_str().is_some_and(|id| access.allows(id));
        for provider in self.all.iter().filter(|provider| is_known(&provider["id"])) {
            let used = usable.iter().find(|used| used["id"] == provider["id"]).unwrap_or(provider);
            let mut used = used.clone();
            if let Some(metadata) = provider.get("metadata") {
                used["metadata"] = metadata.clone();
            }
            all.push(used);
        }
        for own in usable.iter().filter(|used| !self.all.iter().any(|known| known["id"] == used["id"])) {
            let mut own = own.clone();
            if self.all.iter().any(|known| known.get("metadata").is_some()) {
                own["metadata"] = json!({"icon": "synthetic"});
            }
            all.push(own);
        }
        let default = self.defaults(&all, &default);
        let ids = all.iter().filter_map(|provider| provider["id"].as_str());
        let connected: Vec<&str> = if by_key {
            ids.filter(|id| connected.contains(id) || access.given.iter().any(|given| given == id)).collect()
        } else {
            connected
        };
        let mut told = json!({"all": all, "default": default, "connected": connected});
        if let Some(failed) = &self.failed {
            let known = failed.iter().filter(|id| access.allows(id));
            told["failed"] = known.map(|id| json!(id)).collect();
        }
        told
    }

    fn defaults(&self, providers: &[Value], plain: &Map<String, Value>) -> Map<String, Value> {
        let of = |provider: &Value| {
            let id = provider["id"].as_str()?.to_owned();
            Some((id, self.default_of(provider, plain)?))
        };
        providers.iter().filter_map(of).collect()
    }

    /// Is there such a model, for who has this access?
    pub(crate) fn has_model(&self, provider: &str, model: &str, access: &Access) -> bool {
        self.usable_models(provider, access).is_some_and(|models| models.get(model).is_some())
    }

    /// May any model of this provider be used?
    pub(crate) fn has(&self, provider: &str, access: &Access) -> bool {
        self.usable_models(provider, access).is_some()
    }

    /// Names like that of a model that there is not. `own` are the providers of the settings, with their models.
    pub(crate) fn like(&self, provider: &str, model: &str, own: &[Own], access: &Access) -> Vec<String> {
        let of_settings = own.iter().find(|(id, _)| id == provider).map(|(_, models)| models.clone());
        let usable = self.usable_models(provider, access).map(|models| ids_of(&models));
        let known = self.models(provider).map(|models| ids_of(&models));
        let lists: Vec<Vec<String>> = [of_settings, usable, known].into_iter().flatten().collect();
        if lists.is_empty() {
            let all = self.all.iter().filter_map(|known| known["id"].as_str()).map(str::to_owned);
            let all: Vec<String> = all.chain(own.iter().map(|(id, _)| id.clone())).collect();
            return nearest::names(provider, &all);
        }
        lists
            .iter()
            .map(|ids| nearest::models(model, ids))
            .find(|found| !found.is_empty())
            .unwrap_or_default()
    }

    /// The models of a provider that can be used.
    fn usable_models(&self, provider: &str, access: &Access) -> Option<Value> {
        let known = &self.find(provider)?["models"];
        let has_key =
            access.keys.iter().any(|(id, _)| id == provider) && !self.unkeyed.iter().any(|id| id == provider);
        match () {
            () if !access.allows(provider) => None,
            () if has_key => Some(models(known, self.changed_models(provider))),
            () => self.usable.iter().any(|id| id == provider).then(|| known.clone()),
        }
    }

    /// All models of a provider.
    fn models(&self, provider: &str) -> Option<Value> {
        let known = &self.find(provider)?["models"];
        // One that can be used without a key tells only some of its models then.
        let tells_some = self.usable.iter().any(|id| id == provider);
        Some(if tells_some { models(known, self.changed_models(provider)) } else { known.clone() })
    }

    fn changed_models(&self, provider: &str) -> Option<&Value> {
        self.keyed.get(provider)?.get("models")
    }
}

/// A provider of the settings, with its models.
pub(crate) type Own = (String, Vec<String>);

/// The providers and their first models, as `GET /config/providers` tells them.
fn parts(plain: &Value) -> (Vec<Value>, Map<String, Value>) {
    let known = plain["providers"].as_array().cloned().unwrap_or_default();
    (known, plain["default"].as_object().cloned().unwrap_or_default())
}

/// Models with what a key changes: some are gone, some are otherwise, some are there only then.
fn models(plain: &Value, changed: Option<&Value>) -> Value {
    let mut models = plain.as_object().cloned().unwrap_or_default();
    for (id, model) in changed.and_then(Value::as_object).into_iter().flatten() {
        if model.is_null() {
            models.shift_remove(id);
        } else {
            models.insert(id.clone(), model.clone());
        }
    }
    Value::Object(models)
}

/// The models that are not on their way out.
fn ids_of(models: &Value) -> Vec<String> {
    let models = models.as_object().into_iter().flatten();
    models
        .filter(|(_, model)| model["status"] != "deprecated" && model["status"] != "alpha")
        .map(|(id, _)| id.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    /// The servers reckon prices, so they have digits that a careless reader loses: 0.049999999999999996.
    #[test]
    fn the_prices_keep_all_their_digits() {
        let number = Regex::new(r"\d+\.\d+").unwrap();
        for server in [ServerKind::Kilo, ServerKind::Opencode] {
            let mut text = String::new();
            GzDecoder::new(catalog::providers(&server.release()).unwrap()).read_to_string(&mut text).unwrap();
            let told = serde_json::from_str::<Value>(&text).unwrap().to_string();
            let numbers = |text: &str| {
                number.find_iter(text).map(|found| found.as_str().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(numbers(&told), numbers(&text), "{server}");
            assert!(
                numbers(&told).iter().any(|number| number.len() > 17),
                "{server}: there are none of many digits"
            );
        }
    }
}
