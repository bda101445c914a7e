//! The files that settings are written to, and how what a client says changes them.

use super::overlay::Scope;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// A file that settings are written to.
pub(super) struct Target {
    pub(super) scope: Scope,
    pub(super) path: String,
    /// What it says, if it is there.
    pub(super) says: Option<Map<String, Value>>,
}

/// Nobody sets these.
const NEVER: [&str; 3] = ["__proto__", "constructor", "prototype"];

impl Target {
    fn text(&self) -> String {
        let says = self.says.as_ref();
        says.map(|says| serde_json::to_string_pretty(says).unwrap_or_default()).unwrap_or_default()
    }

    pub(super) fn wire(&self) -> Value {
        json!({
            "scope": self.scope.word(), "path": self.path, "revision": self.revision(), "exists": self.says.is_some(),
            "writable": true, "raw": self.says.clone().unwrap_or_default(),
        })
    }

    fn revision(&self) -> String {
        let state = if self.says.is_some() { "exists" } else { "missing" };
        let mut hash = Sha256::new();
        for (at, piece) in [self.path.as_str(), state, &self.text()].into_iter().enumerate() {
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

/// Sets what is said, member by member; nothing takes a member away.
pub(super) fn apply(into: &mut Map<String, Value>, patch: &Map<String, Value>, path: &[&str]) {
    for (name, value) in patch {
        match (value, into.get_mut(name)) {
            (Value::Null, _) => drop(into.shift_remove(name)),
            (Value::Object(more), Some(Value::Object(known))) => {
                apply(known, more, &[path, &[name]].concat())
            }
            (Value::Object(more), Some(known)) => {
                // A permission that was one word holds for all that nothing else is said about.
                let is_permission = path == ["permission"];
                let all = is_permission.then(|| ("*".to_owned(), known.take()));
                let mut members: Map<String, Value> = all.into_iter().collect();
                members.extend(more.clone());
                *known = Value::Object(members);
            }
            (Value::Object(more), None) => {
                let mut members = Map::new();
                apply(&mut members, more, &[path, &[name]].concat());
                if !members.is_empty() {
                    into.insert(name.clone(), Value::Object(members));
                }
            }
            (value, _) => drop(into.insert(name.clone(), value.clone())),
        }
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
        let said = json!({"share": "auto", "indexing": {"enabled": true}, "permission": {"bash": "allow"}});
        let mut said = said.as_object().cloned().unwrap();
        apply(&mut said, &patch, &[]);
        let more = json!({"permission": {"bash": {"ls": "deny"}}, "lsp": {}});
        apply(&mut said, more.as_object().unwrap(), &[]);
        let all = json!({"indexing": {"model": "n"}, "permission": {"bash": {"*": "allow", "ls": "deny"}}});
        assert_eq!(Value::Object(said), all);
    }

    #[test]
    fn a_file_that_has_changed_is_not_the_one_that_was_read() {
        let target = |says: Option<Value>| Target {
            scope: Scope::Project,
            path: "/w/kilo.jsonc".to_owned(),
            says: says.and_then(|says| says.as_object().cloned()),
        };
        let (missing, there) = (target(None), target(Some(json!({}))));
        let read = json!({"path": "/w/kilo.jsonc", "revision": missing.revision()});
        assert_eq!(missing.surprise(&read), None);
        assert_eq!(there.surprise(&read).unwrap().0, "revision-conflict");
        assert_eq!(there.surprise(&json!({"path": "/x"})).unwrap().0, "target-changed");
        assert_eq!(there.surprise(&Value::Null), None);
    }
}
