//! Settings that a client changes: those of a project and those of the server. They stand over what the server comes
//! with and under what the scenario says.

use super::folders::within;
use super::routes::body_of;
use super::rules::Rule;
use super::settings_form::{as_sent, in_use, whole};
use super::start::{overrule, yield_to_start};
use super::surroundings::{Browsed, PlaceAsk, PlaceWish};
use super::{ApiRequest, ReplyBody, World};
use crate::project_files::{read_settings, settings_changed, settings_error};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What a server comes with; all else that it says of its configuration somebody has said.
const DEFAULTS: &[&str] = &["command", "plugin", "username", "mode", "agent"];

const TRIED_OUT: &str = "experimental";

/// What clients have set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Settings {
    global: Map<String, Value>,
    /// Those of projects, by the folder that has them. A file that has been read has got its schema.
    project: BTreeMap<String, Map<String, Value>>,
    /// The same of the server's own.
    global_has_schema: bool,
}

/// A setting that is about to be kept.
#[derive(Debug)]
pub(super) struct Change {
    ticket: u64,
    directory: String,
    /// The file that they are written to.
    path: String,
    /// What the client has said, and the same as the server understands it.
    said: Map<String, Value>,
    body: Value,
    /// What is answered.
    told: Value,
}

/// The file of settings of a project, and what stands there.
#[derive(Debug)]
pub(super) struct SettingsFile {
    pub(super) directory: String,
    pub(super) path: String,
    pub(super) browsed: Browsed,
}

impl World {
    /// `PATCH /config`: written into the project, to what its file says; the instance begins anew. Where the file is read
    /// as well, it is the one of several that is there.
    pub(super) fn patch_config(&mut self, request: &ApiRequest) {
        if self.profile.reads_project_config {
            return self.look_for_setting_file(request);
        }
        let directory = self.directory_of(request);
        let path = format!("{directory}/{}", self.profile.project_config);
        let (folder, project) = (directory.clone(), directory);
        let change = self.change_in(request, path.clone());
        self.ask_place(PlaceAsk::SettingRead(change), PlaceWish::Browse { folder, path, project });
    }

    fn change_in(&self, request: &ApiRequest, path: String) -> Change {
        let directory = self.directory_of(request);
        let body = self.known_settings(request);
        let asked = body_of(request);
        // In the order in which the server knows them.
        let names = body.as_object().into_iter().flat_map(Map::keys);
        // As the client has sent it, but for what reading it adds to what is tried out.
        let sent = |name: &String| if name == TRIED_OUT { body.get(name) } else { asked.get(name) };
        let said = names.filter_map(|name| Some((name.clone(), sent(name)?.clone()))).collect();
        Change { ticket: request.ticket, directory, path, said, told: body.clone(), body }
    }

    /// Something else than a client's settings changes those of the project.
    pub(super) fn change_setting(
        &mut self,
        ticket: u64,
        target: SettingsFile,
        patch: Map<String, Value>,
        told: Value,
    ) {
        let SettingsFile { directory, path, browsed } = target;
        let body = Value::Object(patch.clone());
        self.setting_read(Change { ticket, directory, path, said: patch, body, told }, &browsed);
    }

    /// It is known which file the settings are written to, and what it says.
    pub(super) fn setting_file_found(&mut self, request: &ApiRequest, path: String, browsed: &Browsed) {
        let change = self.change_in(request, path);
        self.setting_read(change, browsed);
    }

    /// It is known what the file says that the setting is written to.
    pub(super) fn setting_read(&mut self, change: Change, browsed: &Browsed) {
        let is_read = self.profile.reads_project_config;
        let text = match browsed {
            Browsed::File(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        };
        let wrong = text.as_deref().filter(|_| is_read).and_then(|text| settings_error(&change.path, text));
        if let Some(wrong) = wrong {
            return self.reply(change.ticket, 400, ReplyBody::Json(wrong));
        }
        match change.body.as_object().filter(|_| is_read) {
            Some(patch) => self.note_project(&change.directory, patch),
            None => {
                merge(self.settings.project.entry(change.directory.clone()).or_default(), &change.body);
            }
        }
        // Where it is read as well and may have comments, it stays as its people have written it.
        let stays = is_read && change.path.ends_with(".jsonc");
        let changed = text.as_deref().filter(|_| stays).and_then(|text| settings_changed(text, &change.said));
        let content = changed.unwrap_or_else(|| {
            let says = text.as_deref().and_then(read_settings);
            let mut file = schema_first((is_read || says.is_some()).then(|| self.schema()));
            file.extend(says.as_ref().and_then(Value::as_object).cloned().unwrap_or_default());
            merge(&mut file, &change.body);
            if is_read {
                drop_empty(&mut file);
            }
            serde_json::to_string_pretty(&file).unwrap_or_default()
        });
        let path = change.path.clone();
        self.ask_place(PlaceAsk::Setting(change), PlaceWish::Write { path, content });
    }

    pub(super) fn setting_kept(&mut self, change: Change) {
        self.reply_json(change.ticket, change.told);
        self.gather_agents();
        if self.profile.reads_project_config {
            self.emit_outside_project(&change.directory, "global.config.updated", json!({"sandbox": false}));
        }
        self.dispose(&change.directory);
    }

    /// `GET /global/config`.
    pub(super) fn global_config(&mut self, ticket: u64) {
        let config = Value::Object(self.global_settings());
        self.reply_json(ticket, config);
    }

    /// `PATCH /global/config`: all instances begin anew, if anything has changed.
    pub(super) fn patch_global_config(&mut self, request: &ApiRequest) {
        let before = self.settings.global.clone();
        let body = self.known_settings(request);
        let schema = self.settings.global_has_schema.then(|| self.schema());
        merge(&mut self.settings.global, &body);
        let told = self.global_with(schema);
        self.settings.global_has_schema |= !self.settings.global.is_empty();
        self.reply_json(request.ticket, Value::Object(told));
        if self.settings.global == before {
            return;
        }
        self.gather_agents();
        if self.profile.reads_project_config {
            self.settings_moved = true;
            self.emit_global("global.config.updated", json!({"sandbox": false}));
        }
        self.dispose_all();
        self.emit_global("global.disposed", json!({}));
    }

    /// `GET /config`: what was recorded, with what clients had set when the instance began.
    pub(super) fn config(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let over =
            self.instances.get(&directory).map(|instance| instance.settings.clone()).unwrap_or_default();
        let body = ReplyBody::Configured { request: Box::new(request.clone()), directory, over };
        self.reply(request.ticket, 200, body);
    }

    /// What clients have set for a folder.
    pub(super) fn settings_of(&self, directory: &str) -> Map<String, Value> {
        let mut over = self.global_settings();
        for said in self.project_settings(directory) {
            merge(&mut over, &Value::Object(said.clone()));
            over.insert("$schema".to_owned(), json!(self.schema()));
        }
        yield_to_start(&mut over);
        overrule(&mut over, &self.config.said);
        overrule(&mut over, &self.customs(directory).over);
        in_use(whole(over, self.profile.server))
    }

    /// What holds for a project's folder is what it and those above it say.
    pub(super) fn project_settings(&self, directory: &str) -> impl Iterator<Item = &Map<String, Value>> {
        let is_read = self.profile.reads_project_config;
        let above = move |folder: &str| is_read && within(directory, folder).is_some();
        self.settings.project.iter().filter(move |(folder, _)| above(folder)).map(|(_, said)| said)
    }

    pub(super) fn global_settings(&self) -> Map<String, Value> {
        self.global_with(self.settings.global_has_schema.then(|| self.schema()))
    }

    /// What the files of the home say, with what clients have set.
    pub(super) fn global_with(&self, schema: Option<String>) -> Map<String, Value> {
        let mut all = schema_first(schema);
        merge(&mut all, &Value::Object(self.config.customs.of_all.clone()));
        merge(&mut all, &Value::Object(self.settings.global.clone()));
        all
    }

    /// Fields that no server knows are dropped, at every depth.
    fn known_settings(&self, request: &ApiRequest) -> Value {
        let Value::Object(fields) = body_of(request) else { return body_of(request) };
        self.operations.known_body("config.update", Value::Object(as_sent(fields, self.profile.server)))
    }

    /// The text of a new file of settings.
    pub(super) fn new_settings(&self, mut says: Map<String, Value>) -> String {
        drop_empty(&mut says);
        let mut file = schema_first(Some(self.schema()));
        file.extend(says);
        serde_json::to_string_pretty(&file).unwrap_or_default()
    }

    /// A client has changed the file of a folder's settings.
    pub(super) fn note_project(&mut self, folder: &str, patch: &Map<String, Value>) {
        let known = self.settings.project.entry(folder.to_owned()).or_default();
        let text = serde_json::to_string(known).ok().and_then(|text| settings_changed(&text, patch));
        if let Some(Value::Object(now)) = text.as_deref().and_then(read_settings) {
            *known = now;
        }
    }

    /// From now on this text has the server's own settings.
    pub(super) fn set_global(&mut self, text: &str) {
        let Some(Value::Object(mut settings)) = read_settings(text) else { return };
        settings.shift_remove("$schema");
        self.settings.global = settings;
        self.settings.global_has_schema = true;
        self.settings_moved = true;
        self.gather_agents();
        let directories: Vec<String> = self.instances.keys().cloned().collect();
        directories.iter().for_each(|directory| self.read_settings_again(directory));
    }

    /// What a person has said once and for all stands in the server's own settings, where it keeps that.
    pub(super) fn write_rules(&mut self, directory: &str, rules: &[Rule]) {
        if !self.profile.keeps_rules {
            return;
        }
        for rule in rules {
            let known = self.settings.global.get("permission").and_then(|all| all.get(&rule.permission));
            let mut said = match known {
                Some(Value::Object(patterns)) => patterns.clone(),
                Some(word) => Map::from_iter([("*".to_owned(), word.clone())]),
                None => Map::new(),
            };
            said.insert(rule.pattern.clone(), json!(rule.action.word()));
            merge(&mut self.settings.global, &json!({"permission": {&rule.permission: null}}));
            merge(&mut self.settings.global, &json!({"permission": {&rule.permission: said}}));
            self.settings.global_has_schema = true;
        }
        self.read_settings_again(directory);
    }

    /// A rule of the server's own settings is struck out; its permission stays, even if nothing is said of it any more.
    pub(super) fn strike_rule(&mut self, directory: &str, rule: &Rule) {
        let permissions = self.settings.global.entry("permission").or_insert_with(|| json!({}));
        let known = permissions.as_object_mut().map(|known| known.entry(&rule.permission));
        if let Some(said) = known.map(|known| known.or_insert_with(|| json!({}))) {
            match said.as_object_mut() {
                Some(patterns) => drop(patterns.shift_remove(&rule.pattern)),
                None => *said = json!({}),
            }
        }
        self.settings.global_has_schema = true;
        self.read_settings_again(directory);
    }

    /// Where it was said it is read at once; other instances know what they knew when they began.
    fn read_settings_again(&mut self, directory: &str) {
        let settings = self.settings_of(directory);
        if let Some(instance) = self.instances.get_mut(directory) {
            instance.settings = settings;
        }
    }

    fn schema(&self) -> String {
        self.profile.config_schema.to_owned()
    }
}

fn schema_first(schema: Option<String>) -> Map<String, Value> {
    schema.map(|schema| ("$schema".to_owned(), json!(schema))).into_iter().collect()
}

/// What is empty is not written down.
pub(super) fn drop_empty(settings: &mut Map<String, Value>) {
    settings.values_mut().filter_map(Value::as_object_mut).for_each(drop_empty);
    settings.retain(|_, value| value.as_object().is_none_or(|inside| !inside.is_empty()));
}

/// Objects are merged, all else is replaced.
pub(crate) fn merge(into: &mut Map<String, Value>, from: &Value) {
    for (key, value) in from.as_object().into_iter().flatten() {
        match (into.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(_)) => merge(known, value),
            _ => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// A recorded configuration with what clients have set: over what the server comes with, under all else.
pub(crate) fn configured(recorded: Map<String, Value>, over: &Map<String, Value>) -> Map<String, Value> {
    let (defaults, said): (Map<_, _>, Map<_, _>) =
        recorded.into_iter().partition(|(key, _)| DEFAULTS.contains(&key.as_str()));
    let mut all = defaults;
    merge(&mut all, &Value::Object(over.clone()));
    merge(&mut all, &Value::Object(said));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_sets_stands_between_the_defaults_and_the_rest() {
        let map = |value: Value| value.as_object().cloned().unwrap();
        let recorded = map(json!({"username": "unknown", "model": "a", "permission": {"edit": "ask"}}));
        let over = map(json!({"username": "me", "model": "b", "permission": {"bash": "deny"}}));
        let all = json!({"username": "me", "model": "a", "permission": {"bash": "deny", "edit": "ask"}});
        assert_eq!(Value::Object(configured(recorded, &over)), all);
    }
}
