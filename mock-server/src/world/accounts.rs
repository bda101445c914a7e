//! The keys of providers: a file in the server's home, which only its owner may read.

use super::routes::body_of;
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, World};
use crate::target::unescaped;
use serde_json::{Value, json};

/// What of a key is kept; all else that a client sends is not.
const KEPT: &[&str] =
    &["type", "key", "metadata", "refresh", "access", "expires", "accountId", "enterpriseUrl", "token"];

impl World {
    /// `PUT /auth/{id}`.
    pub(super) fn put_key(&mut self, request: &ApiRequest, provider: &str) {
        let mut key = body_of(request);
        if let Some(fields) = key.as_object_mut() {
            fields.retain(|name, _| KEPT.contains(&name.as_str()));
        }
        self.keys.insert(unescaped(provider).trim_end_matches('/').to_owned(), key);
        self.keys_changed(request.ticket);
    }

    /// `DELETE /auth/{id}`: true for a key that nobody has given, too.
    pub(super) fn delete_key(&mut self, request: &ApiRequest, provider: &str) {
        let provider = unescaped(provider);
        self.keys.shift_remove(&provider);
        self.keys.shift_remove(provider.trim_end_matches('/'));
        self.keys_changed(request.ticket);
    }

    fn keys_changed(&mut self, ticket: u64) {
        let content = serde_json::to_string_pretty(&Value::Object(self.keys.clone())).unwrap_or_default();
        let path = format!(".local/share/{}/auth.json", self.profile.server.word());
        self.ask_place(PlaceAsk::Nobody, PlaceWish::Keep { path, content });
        if self.profile.keys_dispose {
            self.dispose_all();
        }
        self.reply_json(ticket, json!(true));
    }
}
