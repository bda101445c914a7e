//! The files that settings are written to, and how what a client says changes them.

use super::overlay::Scope;
use crate::project_files::read_settings;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// A file that settings are written to.
pub(super) struct Target {
    pub(super) scope: Scope,
    pub(super) path: String,
    /// What stands in it, if it is there.
    pub(super) text: Option<String>,
}

/// Nobody sets these.
const NEVER: [&str; 3] = ["__proto__", "constructor", "prototype"];

impl Target {
    /// What it says; nothing, where it is not there or no settings.
    pub(super) fn says(&self) -> Map<String, Value> {
        match self.text.as_deref().and_then(read_settings) {
            Some(Value::Object(says)) => says,
            _ => Map::new(),
        }
    }

    pub(super) fn wire(&self) -> Value {
        json!({
            "scope": self.scope.word(), "path": self.path, "revision": self.revision(), "exists": self.text.is_some(),
            "writable": true, "raw": self.says(),
        })
    }

    fn revision(&self) -> String {
        let state = if self.text.is_some() { "exists" } else { "missing" };
        let mut hash = Sha256::new();
        for (at, piece) in
            [self.path.as_str(), state, self.text.as_deref().unwrap_or_default()].into_iter().enumerate()
        {
            if at > 0 {
                hash.update([0_u8]);
            }
            hash.update(piece);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Why it is not the file that a client takes it for.
    pub(super) fn surprise(&self, expected: &Value) -> Option<(&'static str, &'static str)> {
        if expected.is_null() {
            return None;
        }
        if expected["path"] != self.path.as_str() {
            return Some(("target-changed", "The authoritative config target changed."));
        }
        let is_old = expected["revision"] != self.revision().as_str();
        is_old.then_some(("revision-conflict", "The config file changed since it was read."))
    }
}

/// What is to be set, and what is to be taken back, as nothing.
pub(super) fn patch_of(body: &Value) -> Map<String, Value> {
    let mut patch = body["set"].as_object().cloned().unwrap_or_default();
    for path in body["unset"].as_array().into_iter().flatten() {
        let path: Vec<&str> = path.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        take_back(&mut patch, &path);
    }
    patch
}

fn take_back(patch: &mut Map<String, Value>, path: &[&str]) {
    let Some((name, rest)) = path.split_first().filter(|(name, _)| !NEVER.contains(name)) else { return };
    if rest.is_empty() {
        patch.insert((*name).to_owned(), Value::Null);
        return;
    }
    let inner = patch.entry(*name).or_insert_with(|| json!({}));
    if !inner.is_object() {
        *inner = json!({});
    }
    if let Some(inner) = inner.as_object_mut() {
        take_back(inner, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_and_taken_back_is_one_patch() {
        let body = json!({
            "set": {"indexing": {"model": "n"}}, "unset": [["indexing", "enabled"], ["share"], ["__proto__", "x"]],
        });
        let patch = patch_of(&body);
        assert_eq!(
            Value::Object(patch.clone()),
            json!({"indexing": {"model": "n", "enabled": null}, "share": null})
        );
    }

    #[test]
    fn a_file_that_has_changed_is_not_the_one_that_was_read() {
        let target = |text: Option<&str>| Target {
            scope: Scope::Project,
            path: "/w/kilo.jsonc".to_owned(),
            text: text.map(str::to_owned),
        };
        let (missing, there) = (target(None), target(Some("{}")));
        let read = json!({"path": "/w/kilo.jsonc", "revision": missing.revision()});
        assert_eq!(missing.surprise(&read), None);
        assert_eq!(there.surprise(&read).unwrap().0, "revision-conflict");
        assert_eq!(there.surprise(&json!({"path": "/x"})).unwrap().0, "target-changed");
        assert_eq!(there.surprise(&Value::Null), None);
    }
}
