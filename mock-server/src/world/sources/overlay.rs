//! `/config/overlay`: settings with where each comes from, read and changed. The answer is made of what the world knows and of what
//! was recorded; the file of a project is written, that of the server is kept as all its settings are.

use super::fields;
use super::target::{Target, apply, patch_of};
use crate::doc::{Mistake, SettingsOf};
use crate::project_files::{Fault, What};
use crate::world::config::merge;
use crate::world::routes::body_of;
use crate::world::start::STARTED_WITH;
use crate::world::surroundings::{PlaceAsk, PlaceWish};
use crate::world::{ApiRequest, ReplyBody, World};
use serde_json::{Map, Value, json};

/// The answer, before it is made whole by what was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// The request.
    pub request: ApiRequest,
    /// What clients have set.
    pub over: Map<String, Value>,
    /// The file of the server's own settings, when there is one.
    pub file_of_all: Option<String>,
    /// The places in the project.
    pub places: Vec<Value>,
    scope: Scope,
    global: Map<String, Value>,
    project: Map<String, Value>,
    targets: Value,
    /// What has just changed, which no file says yet; nothing is said of it any more where it is null.
    fresh: Map<String, Value>,
}

/// Whose settings are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Global,
    Project,
}

impl Scope {
    fn of(word: Option<&str>) -> Self {
        if word == Some("global") { Self::Global } else { Self::Project }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
        }
    }
}

/// What somebody wants.
#[derive(Debug)]
pub(in crate::world) struct OverlayAsk {
    scope: Scope,
    wish: Wish,
}

#[derive(Debug)]
enum Wish {
    /// To see them.
    Show,
    /// To change them.
    Change,
    /// They have been changed, at these names; who shows them begins anew.
    Changed(Anew, Vec<String>),
}

/// What begins anew.
#[derive(Debug, PartialEq, Eq)]
enum Anew {
    Nothing,
    Instance(String),
    All,
}

/// What is empty and not missing where nothing is said of it.
const EMPTY: [&str; 3] = ["agent", "command", "mode"];
impl Overlay {
    /// The whole answer.
    pub(crate) fn whole(self, recorded: &Value, mut effective: Value, sources: Value) -> Value {
        let Self { scope, global, project, targets, fresh, .. } = self;
        if let Some(all) = effective.as_object_mut() {
            all.extend(fresh);
            all.retain(|_, value| !value.is_null());
        }
        let (fields, collections) = fields::told(recorded, scope, &effective, &global, &project);
        json!({
            "scope": scope.word(), "effective": effective, "global": global, "project": project, "sources": sources,
            "targets": targets, "fields": fields, "collections": collections,
        })
    }
}

impl World {
    /// `GET /config/overlay`.
    pub(in crate::world) fn show_overlay(&mut self, request: &ApiRequest) {
        let scope = request.query.iter().find(|(name, _)| name == "scope").map(|(_, word)| word.as_str());
        let ask = OverlayAsk { scope: Scope::of(scope), wish: Wish::Show };
        self.look_at_sources(request, Some(ask));
    }

    /// `PATCH /config/overlay`.
    pub(in crate::world) fn change_overlay(&mut self, request: &ApiRequest) {
        let scope = Scope::of(body_of(request)["scope"].as_str());
        self.look_at_sources(request, Some(OverlayAsk { scope, wish: Wish::Change }));
    }

    /// It is known which files are there.
    pub(super) fn overlay_seen(
        &mut self,
        ask: OverlayAsk,
        request: ApiRequest,
        (file_of_all, places): (Option<String>, Vec<Value>),
        (folders, existing): (&[String], &[String]),
    ) {
        let directory = self.directory_of(&request);
        let global = Target {
            scope: Scope::Global,
            says: file_of_all.is_some().then(|| self.global_settings()),
            path: file_of_all.clone().unwrap_or_else(|| self.global_file()),
        };
        let project = Target {
            scope: Scope::Project,
            path: self.project_target(&directory, folders, existing),
            says: self.project_file(&directory),
        };
        let active = if ask.scope == Scope::Global { &global } else { &project };
        let (anew, names) = match ask.wish {
            Wish::Change => return self.changed_overlay(&request, &directory, active, existing),
            Wish::Show => (None, Vec::new()),
            Wish::Changed(anew, names) => (Some(anew), names),
        };
        let instance = self.instances.get(&directory).filter(|_| anew.is_none());
        let over = instance.map(|instance| instance.settings.clone());
        let over = over.unwrap_or_else(|| self.settings_of(&directory));
        let ticket = request.ticket;
        let told = Overlay {
            fresh: self.fresh(names, &over),
            over,
            request,
            file_of_all,
            places,
            scope: ask.scope,
            targets: json!({"global": global.wire(), "project": project.wire(), "active": active.wire()}),
            global: global.says.unwrap_or_default(),
            project: project.says.unwrap_or_default(),
        };
        self.reply(ticket, 200, ReplyBody::Overlay(Box::new(told)));
        match anew {
            Some(Anew::Instance(directory)) => self.dispose(&directory),
            Some(Anew::All) => {
                self.dispose_all();
                self.emit_global("global.disposed", json!({}));
            }
            Some(Anew::Nothing) | None => {}
        }
    }

    /// What holds now at these names.
    fn fresh(&self, names: Vec<String>, over: &Map<String, Value>) -> Map<String, Value> {
        let of_start = |name: &String| STARTED_WITH.contains(&name.as_str());
        let value = |name: String| {
            let mut value = over.get(&name).cloned().unwrap_or_default();
            match (&mut value, self.config.said.get(&name)) {
                (Value::Object(known), Some(said)) => merge(known, said),
                (_, Some(said)) => value = said.clone(),
                (Value::Null, None) if EMPTY.contains(&name.as_str()) => value = json!({}),
                (_, None) => {}
            }
            (name, value)
        };
        names.into_iter().filter(|name| !of_start(name)).map(value).collect()
    }

    /// The file that a project's settings are written to: the nearest that is there, those in folders of their own first.
    fn project_target(&self, directory: &str, folders: &[String], existing: &[String]) -> String {
        let names = self.profile.folder_settings;
        let own = folders.iter().flat_map(|folder| {
            self.profile.settings_folders.iter().rev().map(move |kept| format!("{folder}/{kept}"))
        });
        let in_own = own.flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
        let plain =
            folders.iter().flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
        let found = in_own.chain(plain).find(|path| existing.contains(path));
        found.unwrap_or_else(|| format!("{directory}/{}", self.profile.project_config))
    }

    fn changed_overlay(
        &mut self,
        request: &ApiRequest,
        directory: &str,
        target: &Target,
        existing: &[String],
    ) {
        let body = body_of(request);
        if let Some((code, message)) = target.surprise(&body["expected"]) {
            let body = json!({"code": code, "message": message, "target": target.wire()});
            return self.reply(request.ticket, 409, ReplyBody::Json(body));
        }
        let known = self.operations.fields_of_body("config.update");
        let unknown: Vec<&str> = body["set"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .filter(|key| !known.contains(key))
            .map(String::as_str)
            .collect();
        if !unknown.is_empty() {
            let plural = if unknown.len() == 1 { "" } else { "s" };
            let what = format!("Unrecognized key{plural}: {}", unknown.join(", "));
            return self.refuse_settings(request, target, vec![Mistake { path: Vec::new(), what }]);
        }
        let patch = patch_of(&body);
        let before = target.says.clone().unwrap_or_default();
        let mut after = before.clone();
        apply(&mut after, &patch, &[]);
        let mistakes = self.operations.mistakes(SettingsOf::Server, &Value::Object(after.clone()));
        if !mistakes.is_empty() {
            return self.refuse_settings(request, target, mistakes);
        }
        let has_changed = after != before;
        let names: Vec<String> = patch.keys().cloned().collect();
        let of_sandbox = has_changed && patch.contains_key("sandbox");
        match target.scope {
            Scope::Global => {
                let of_console = patch.keys().all(|key| key == "console");
                if has_changed {
                    self.set_global(after);
                    self.emit_global("global.config.updated", json!({"sandbox": of_sandbox}));
                }
                let anew = if has_changed && !of_console { Anew::All } else { Anew::Nothing };
                let ask = OverlayAsk { scope: Scope::Global, wish: Wish::Changed(anew, names) };
                self.look_at_sources(request, Some(ask));
            }
            Scope::Project => {
                let folder = target.path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
                let folder = folder.filter(|folder| folder != directory && !existing.contains(folder));
                let is_empty = names.is_empty();
                let written = OverlayWritten { request: request.clone(), of_sandbox, names };
                let (path, content) = match folder {
                    _ if has_changed => (target.path.clone(), self.set_project(directory, after)),
                    // The folder is made all the same; what git is to ignore of it is said in any.
                    Some(folder) if !is_empty => {
                        (format!("{folder}/.gitignore"), self.profile.settings_ignored.to_owned())
                    }
                    _ => return self.overlay_written(written),
                };
                self.ask_place(PlaceAsk::OverlayWritten(written), PlaceWish::Write { path, content });
            }
        }
    }

    /// The file of the project is written.
    pub(in crate::world) fn overlay_written(&mut self, written: OverlayWritten) {
        let OverlayWritten { request, of_sandbox, names } = written;
        let directory = self.directory_of(&request);
        self.gather_agents();
        self.emit_outside_project(&directory, "global.config.updated", json!({"sandbox": false}));
        if of_sandbox {
            self.emit_outside_project(&directory, "global.config.updated", json!({"sandbox": true}));
        }
        let ask = OverlayAsk { scope: Scope::Project, wish: Wish::Changed(Anew::Instance(directory), names) };
        self.look_at_sources(&request, Some(ask));
    }

    fn refuse_settings(&mut self, request: &ApiRequest, target: &Target, mistakes: Vec<Mistake>) {
        let fault = Fault { path: target.path.clone(), what: What::Mistakes(mistakes) };
        self.reply(request.ticket, 400, ReplyBody::Json(fault.error()));
    }
}

/// Somebody has changed the file of a project.
#[derive(Debug)]
pub(in crate::world) struct OverlayWritten {
    request: ApiRequest,
    /// What they said of the sandbox is new.
    of_sandbox: bool,
    /// What they said something of.
    names: Vec<String>,
}
