//! Each setting with where it comes from: the fields and the collections that were recorded, with what holds now.

use super::overlay::Scope;
use crate::javascript::in_dictionary;
use serde_json::{Map, Value, json};

const FROM_ELSEWHERE: &str = "Resolved from runtime, cloud, environment, or managed config.";

/// What holds, and who has said it.
struct Said<'a> {
    scope: Scope,
    effective: &'a Value,
    global: &'a Value,
    project: &'a Value,
}

/// The fields and the members of the collections.
pub(super) fn told(
    recorded: &Value,
    scope: Scope,
    effective: &Value,
    global: &Map<String, Value>,
    project: &Map<String, Value>,
) -> (Value, Value) {
    let (global, project) = (Value::Object(global.clone()), Value::Object(project.clone()));
    let said = Said { scope, effective, global: &global, project: &project };
    let fields = recorded["fields"].as_object().into_iter().flatten();
    let fields = fields.map(|(name, field)| (name.clone(), said.field(name, &words(&field["path"]))));
    let collections = recorded["collections"].as_object().into_iter().flatten();
    let collections = collections.map(|(name, _)| (name.clone(), said.members(name)));
    (Value::Object(fields.collect()), Value::Object(collections.collect()))
}

fn words(path: &Value) -> Vec<&str> {
    path.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn at<'a>(settings: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(settings, |inside, name| inside.as_object()?.get(*name))
}

impl Said<'_> {
    fn members(&self, collection: &str) -> Value {
        let all = [self.effective, self.global, self.project];
        let names = all.into_iter().filter_map(|settings| settings.get(collection)?.as_object());
        let mut names: Vec<&String> = names.flat_map(Map::keys).collect();
        names.sort_by(|a, b| in_dictionary(a, b).then_with(|| a.cmp(b)));
        names.dedup();
        names
            .into_iter()
            .map(|name| self.entry(name, &[collection, name], self.held(&[collection, name])))
            .collect()
    }

    fn field(&self, name: &str, path: &[&str]) -> Value {
        let held = if path.first() == Some(&"indexing") { self.indexing(path) } else { self.held(path) };
        self.entry(name, path, held)
    }

    fn held(&self, path: &[&str]) -> Option<Value> {
        at(self.effective, path).cloned()
    }

    /// Of what is said to the index, the server's settings do not see what the project says.
    fn indexing(&self, path: &[&str]) -> Option<Value> {
        let local = at(self.project, path).cloned();
        match (local, self.scope) {
            (Some(local), Scope::Project) => Some(local),
            (local, _) => {
                let elsewhere = if local.is_some() { None } else { self.held(path) };
                at(self.global, path).cloned().or(elsewhere)
            }
        }
    }

    fn entry(&self, key: &str, path: &[&str], value: Option<Value>) -> Value {
        let (global, local) = (at(self.global, path), at(self.project, path));
        let is_of_project = self.scope == Scope::Project;
        let source = match (local, global, &value) {
            (Some(_), ..) if is_of_project => "project",
            (_, Some(_), _) => "global",
            (.., Some(_)) => "system",
            _ => "default",
        };
        json!({
            "key": key, "path": path, "value": value, "global": global, "local": local, "source": source,
            "inherited": is_of_project && source == "global",
            "overridden": if is_of_project { local.is_some() } else { source == "global" },
            "editable": source != "system" || is_of_project,
            "reason": (source == "system").then_some(FROM_ELSEWHERE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_tells_where_it_comes_from() {
        let recorded = json!({
            "fields": {
                "model": {"path": ["model"]}, "share": {"path": ["share"]}, "indexing.model": {"path": ["indexing", "model"]},
            },
            "collections": {"mcp": []},
        });
        let effective =
            json!({"model": "a", "share": "auto", "indexing": {"model": "p"}, "mcp": {"b": 1, "A": 2}});
        let map = |value: Value| value.as_object().cloned().unwrap();
        let (global, project) = (map(json!({"share": "auto"})), map(json!({"indexing": {"model": "p"}})));
        let source = |scope, name: &str| {
            let (fields, _) = told(&recorded, scope, &effective, &global, &project);
            (fields[name]["source"].clone(), fields[name]["value"].clone(), fields[name]["editable"].clone())
        };
        assert_eq!(source(Scope::Global, "model"), (json!("system"), json!("a"), json!(false)));
        assert_eq!(source(Scope::Project, "model"), (json!("system"), json!("a"), json!(true)));
        assert_eq!(source(Scope::Project, "share"), (json!("global"), json!("auto"), json!(true)));
        assert_eq!(source(Scope::Project, "indexing.model"), (json!("project"), json!("p"), json!(true)));
        assert_eq!(source(Scope::Global, "indexing.model"), (json!("default"), Value::Null, json!(true)));
        let (_, collections) = told(&recorded, Scope::Project, &effective, &global, &project);
        let names: Vec<&Value> =
            collections["mcp"].as_array().unwrap().iter().map(|one| &one["key"]).collect();
        assert_eq!(names, ["A", "b"]);
    }
}
