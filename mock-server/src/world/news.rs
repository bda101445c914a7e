//! What Kilo's cloud tells: asked anew each time, with the person's key, for five seconds in all. Whatever goes wrong is an
//! empty list, as the real server answers (docs/cloud.md).

use super::effect::{Effect, Page, PageWish};
use super::purpose::Purpose;
use super::{Ticket, World};
use crate::cloud::NOTIFICATIONS;
use serde_json::{Map, Value, json};

/// Whose key it is.
const PROVIDER: &str = "kilo";
/// How long it may take, from the question to the last byte.
const TIMEOUT_MS: u64 = 5000;
/// News of 20 MB are read by the real server.
const BYTES_MAX: usize = 64 * 1024 * 1024;

impl World {
    /// Asks the cloud, if there is one and a key for it; else nobody is asked.
    pub(super) fn ask_for_news(&mut self, ticket: Ticket) -> bool {
        let key = self.keys.get(PROVIDER).and_then(|key| key.get("key").or_else(|| key.get("access")));
        let (Some(cloud), Some(key)) = (&self.config.cloud, key.and_then(Value::as_str)) else {
            return false;
        };
        let wish = PageWish {
            url: format!("{}{NOTIFICATIONS}", cloud.trim_end_matches('/')),
            accept: "application/json",
            timeout_ms: TIMEOUT_MS,
            bearer: Some(key.to_owned()),
            bytes_max: BYTES_MAX,
        };
        self.effect(Purpose::News(ticket), Effect::Fetch(wish));
        true
    }

    /// The cloud has answered, or it is known why not.
    pub(super) fn news_came(&mut self, ticket: Ticket, got: Result<Page, String>) {
        let told = got.ok().and_then(|page| serde_json::from_slice::<Value>(&page.bytes).ok());
        let news = told.and_then(|mut told| passed_on(told["notifications"].take()));
        self.reply_json(ticket, news.unwrap_or_else(|| json!([])));
    }
}

/// The list with the fields that `/doc` has, in its order; none if one of them is something else.
fn passed_on(list: Value) -> Option<Value> {
    let Value::Array(list) = list else { return None };
    list.iter().map(one).collect::<Option<Vec<_>>>().map(Value::Array)
}

fn one(news: &Value) -> Option<Value> {
    let mut one = Map::new();
    for name in ["id", "title", "message"] {
        one.insert(name.to_owned(), json!(news[name].as_str()?));
    }
    if let Some(action) = news.get("action") {
        let (text, url) = (action["actionText"].as_str()?, action["actionURL"].as_str()?);
        one.insert("action".to_owned(), json!({"actionText": text, "actionURL": url}));
    }
    if let Some(places) = news.get("showIn") {
        let places: Option<Vec<&str>> = places.as_array()?.iter().map(Value::as_str).collect();
        one.insert("showIn".to_owned(), json!(places?));
    }
    if let Some(model) = news.get("suggestModelId") {
        one.insert("suggestModelId".to_owned(), json!(model.as_str()?));
    }
    Some(Value::Object(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_of_another_shape_are_none() {
        let plain = json!({"id": "1", "title": "t", "message": "m"});
        let with = |name: &str, value: Value| {
            let mut news = plain.clone();
            news[name] = value;
            passed_on(json!([plain, news]))
        };
        assert_eq!(with("type", json!("info")), Some(json!([plain, plain])));
        let action = json!({"actionText": "a", "actionURL": "u"});
        assert_eq!(with("action", action.clone()).map(|list| list[1]["action"].clone()), Some(action));
        for (name, value) in [
            ("action", json!({"label": "a", "url": "u"})),
            ("showIn", json!("cli")),
            ("suggestModelId", json!(7)),
            ("id", json!(7)),
            ("title", Value::Null),
        ] {
            assert_eq!(with(name, value), None, "{name}");
        }
        assert_eq!((passed_on(Value::Null), passed_on(json!({}))), (None, None));
    }
}
