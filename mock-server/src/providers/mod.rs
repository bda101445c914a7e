//! The providers and models that a release knows, and what follows when somebody has a key for one of them: as the real
//! server told it (`providers.json.gz` beside its recordings).
//!
//! The list is six megabytes of text, and many times that as a tree of values. So each provider stays a text, and is
//! taken apart only while somebody asks for that one.

mod nearest;

use fixtures::{ServerKind, catalog};
use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::OnceLock;

/// What a release knows.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Providers {
    /// All, as they are told when nobody has given a key.
    all: Vec<Known>,
    /// What is otherwise with a key.
    keyed: BTreeMap<String, Box<RawValue>>,
    /// Those that a key alone does not make usable.
    unkeyed: Vec<String>,
    /// Those that can be used without a key.
    usable: Vec<String>,
    /// The model of each that is offered first.
    default: Map<String, Value>,
    /// Those whose models could not be fetched, where that is told.
    failed: Option<Vec<String>>,
}

/// A provider, as it is told.
#[derive(Debug, Clone)]
struct Known {
    id: String,
    text: Box<RawValue>,
}

impl<'de> Deserialize<'de> for Known {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Named {
            id: String,
        }
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let Named { id } = serde_json::from_str(text.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { id, text })
    }
}

impl Known {
    fn value(&self) -> Value {
        read(&self.text)
    }
}

/// An answer about providers, to be written as it is.
#[derive(Debug, Serialize)]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    providers: Option<Vec<Cow<'a, RawValue>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<Vec<Cow<'a, RawValue>>>,
    default: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connected: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<Vec<&'a str>>,
}

impl Told<'_> {
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn read(text: &RawValue) -> Value {
    serde_json::from_str(text.get()).unwrap_or_default()
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
    pub(crate) fn allows(&self, id: &str) -> bool {
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

    fn find(&self, id: &str) -> Option<Value> {
        self.all.iter().find(|provider| provider.id == id).map(Known::value)
    }

    /// Those that an instance may use: those with a key, then those that are told in `plain`.
    fn usable(&self, plain: Vec<Value>, access: &Access) -> Vec<Value> {
        let keys = access.keys.iter().filter(|(id, _)| !self.unkeyed.contains(id));
        let mut usable: Vec<Value> = keys.filter_map(|(id, key)| self.with_key(id, key)).collect();
        for provider in plain {
            if !usable.iter().any(|known| known["id"] == provider["id"]) {
                usable.push(provider);
            }
        }
        usable.retain(|provider| access.allows(id_of(provider)));
        usable
    }

    fn with_key(&self, id: &str, key: &str) -> Option<Value> {
        let Value::Object(known) = self.find(id)? else { return None };
        let changed = self.changed(id);
        let mut provider = Map::new();
        for (name, value) in known.into_iter().filter(|(name, _)| *name != "metadata") {
            let value = match name.as_str() {
                "source" => json!("api"),
                "models" => models(value, changed.get("models")),
                _ => changed.get(&name).cloned().unwrap_or(value),
            };
            let is_env = name == "env";
            provider.insert(name, value);
            if is_env {
                provider.insert("key".to_owned(), json!(key));
            }
        }
        Some(Value::Object(provider))
    }

    /// What a key for this provider changes.
    fn changed(&self, id: &str) -> Value {
        self.keyed.get(id).map(|text| read(text)).unwrap_or_default()
    }

    fn default_of(&self, id: &str, has_key: bool, plain: &Map<String, Value>) -> Option<Value> {
        let changed = if has_key { self.changed(id).get("default").cloned() } else { None };
        changed.or_else(|| plain.get(id).or_else(|| self.default.get(id)).cloned())
    }

    /// `GET /config/providers`; `plain` is the answer without any key.
    pub(crate) fn configured(&self, plain: Value, access: &Access) -> String {
        let (known, default) = parts(plain);
        let usable = self.usable(known, access);
        let ids = usable.iter().map(|provider| (id_of(provider), provider.get("key").is_some()));
        let default = self.defaults(ids, &default);
        let providers = usable.iter().filter_map(|provider| Some(Cow::Owned(to_raw_value(provider).ok()?)));
        let providers = Some(providers.collect());
        Told { providers, all: None, default, connected: None, failed: None }.text()
    }

    /// `GET /provider`. `by_key`: whoever has been given something counts as connected.
    pub(crate) fn listed(&self, plain: Value, access: &Access, by_key: bool) -> String {
        let (known, default) = parts(plain);
        let mut usable = self.usable(known, access);
        let has_icons = self.all.first().is_some_and(|known| known.value().get("metadata").is_some());
        // Each with whether it has a key.
        let mut told: Vec<(&str, bool)> = Vec::new();
        let mut all: Vec<Cow<'_, RawValue>> = Vec::new();
        for Known { id, text } in self.all.iter().filter(|known| access.allows(&known.id)) {
            let used = usable.iter_mut().find(|used| used["id"] == id.as_str());
            told.push((id, used.as_ref().is_some_and(|used| used.get("key").is_some())));
            all.push(match used {
                Some(used) => {
                    if let Some(metadata) = read(text).get("metadata") {
                        used["metadata"] = metadata.clone();
                    }
                    Cow::Owned(to_raw_value(used).unwrap_or_default())
                }
                None => Cow::Borrowed(text),
            });
        }
        for own in
            usable.iter_mut().filter(|used| !self.all.iter().any(|known| used["id"] == known.id.as_str()))
        {
            if has_icons {
                own["metadata"] = json!({"icon": "synthetic"});
            }
            all.push(Cow::Owned(to_raw_value(own).unwrap_or_default()));
        }
        let own = usable.iter().filter(|used| !self.all.iter().any(|known| used["id"] == known.id.as_str()));
        told.extend(own.map(|own| (id_of(own), own.get("key").is_some())));
        let default = self.defaults(told.iter().copied(), &default);
        let usable: Vec<&str> = usable.iter().map(id_of).collect();
        let connected = if by_key {
            let ids = told.iter().map(|(id, _)| *id);
            ids.filter(|id| usable.contains(id) || access.given.iter().any(|given| given == id)).collect()
        } else {
            usable
        };
        let failed = self.failed.as_ref();
        let failed =
            failed.map(|all| all.iter().map(String::as_str).filter(|id| access.allows(id)).collect());
        Told { providers: None, all: Some(all), default, connected: Some(connected), failed }.text()
    }

    fn defaults<'a>(
        &self,
        providers: impl Iterator<Item = (&'a str, bool)>,
        plain: &Map<String, Value>,
    ) -> Map<String, Value> {
        let of = |(id, has_key): (&str, bool)| Some((id.to_owned(), self.default_of(id, has_key, plain)?));
        providers.filter_map(of).collect()
    }

    /// Is there such a model, for who has this access?
    pub(crate) fn has_model(&self, provider: &str, model: &str, access: &Access) -> bool {
        self.usable_models(provider, access).is_some_and(|models| models.get(model).is_some())
    }

    /// How much a model can be told and may say, as far as it is known.
    pub(crate) fn limits(&self, provider: &str, model: &str) -> Value {
        self.models(provider)
            .and_then(|mut models| Some(models.get_mut(model)?["limit"].take()))
            .unwrap_or_default()
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
            let all = self.all.iter().map(|known| known.id.clone());
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
        let known = self.find(provider)?["models"].take();
        let has_key =
            access.keys.iter().any(|(id, _)| id == provider) && !self.unkeyed.iter().any(|id| id == provider);
        match () {
            () if !access.allows(provider) => None,
            () if has_key => Some(models(known, self.changed(provider).get("models"))),
            () => self.usable.iter().any(|id| id == provider).then_some(known),
        }
    }

    /// All models of a provider.
    fn models(&self, provider: &str) -> Option<Value> {
        let known = self.find(provider)?["models"].take();
        // One that can be used without a key tells only some of its models then.
        let tells_some = self.usable.iter().any(|id| id == provider);
        Some(if tells_some { models(known, self.changed(provider).get("models")) } else { known })
    }
}

/// A provider of the settings, with its models.
pub(crate) type Own = (String, Vec<String>);

/// The providers and their first models, as `GET /config/providers` tells them.
fn parts(mut plain: Value) -> (Vec<Value>, Map<String, Value>) {
    let taken = ["providers", "default"].map(|name| plain.get_mut(name).map(Value::take));
    match taken {
        [Some(Value::Array(known)), Some(Value::Object(default))] => (known, default),
        [Some(Value::Array(known)), _] => (known, Map::new()),
        _ => (Vec::new(), Map::new()),
    }
}

fn id_of(provider: &Value) -> &str {
    provider["id"].as_str().unwrap_or_default()
}

/// Models with what a key changes: some are gone, some are otherwise, some are there only then.
fn models(plain: Value, changed: Option<&Value>) -> Value {
    let Value::Object(mut models) = plain else { return json!({}) };
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
