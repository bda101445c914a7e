//! `/config/overlay`: settings with where each comes from, read and changed. The answer is made of what the world knows and of what
//! was recorded; the file of a project is written, that of the server is kept as all its settings are.

use super::fields;
use super::target::{Target, patch_of};
use crate::doc::{Mistake, SettingsOf};
use crate::project_files::{Fault, What, read_settings, settings_changed};
use crate::world::config::{drop_empty, merge};
use crate::world::routes::body_of;
use crate::world::settings_form::{in_use, whole};
use crate::world::start::STARTED_WITH;
use crate::world::surroundings::{Browsed, PlaceAsk, PlaceWish};
use crate::world::{ApiRequest, ReplyBody, World};
use serde_json::{Map, Value, json};

/// The answer, before it is made whole by what was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlay {
    /// The request.
    pub request: ApiRequest,
    /// Where it is asked.
    pub directory: String,
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
    /// To change those of the project by `PATCH /config`, which knows of no others.
    Patch,
    /// To install something that stands in those of the project, or to see what does.
    Market,
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

    /// `PATCH /config`: which file is it?
    pub(in crate::world) fn look_for_setting_file(&mut self, request: &ApiRequest) {
        self.look_at_sources(request, Some(OverlayAsk { scope: Scope::Project, wish: Wish::Patch }));
    }

    /// `/kilocode/marketplace…`: which file is it?
    pub(in crate::world) fn look_for_market(&mut self, request: &ApiRequest) {
        self.look_at_sources(request, Some(OverlayAsk { scope: Scope::Project, wish: Wish::Market }));
    }

    /// It is known which files are there: that of the project is read.
    pub(super) fn overlay_seen(
        &mut self,
        ask: OverlayAsk,
        request: ApiRequest,
        (file_of_all, places): (Option<String>, Vec<Value>),
        (folders, existing): (&[String], &[String]),
    ) {
        let directory = self.directory_of(&request);
        let path = self.project_target(&directory, folders, existing);
        let is_around =
            |folder: &&String| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let folder = folders.iter().find(is_around).cloned().unwrap_or(directory);
        let own = path.rsplit_once('/').map(|(own, _)| own.to_owned()).unwrap_or_default();
        let wish = PlaceWish::Browse { folder: folder.clone(), path: path.clone(), project: folder.clone() };
        let is_there = existing.contains(&path);
        let has_folder = own == folder || existing.contains(&own);
        let read = OverlayRead { ask, request, file_of_all, places, path, folder, own, has_folder };
        match is_there {
            true => self.ask_place(PlaceAsk::OverlayRead(Box::new(read)), wish),
            false => self.overlay_read(read, &Browsed::Nothing),
        }
    }

    /// It is known what stands in the file of the project.
    pub(in crate::world) fn overlay_read(&mut self, read: OverlayRead, browsed: &Browsed) {
        let global = self.global_settings();
        let has_global = read.file_of_all.is_some();
        let global = Target {
            scope: Scope::Global,
            text: has_global.then(|| serde_json::to_string_pretty(&global).unwrap_or_default()),
            path: read.file_of_all.clone().unwrap_or_else(|| self.global_file()),
        };
        let text = match browsed {
            Browsed::File(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        let project = Target { scope: Scope::Project, path: read.path.clone(), text };
        let is_of_all = read.ask.scope == Scope::Global;
        match read.ask.wish {
            Wish::Change if is_of_all => self.change_global(&read.request, &global),
            Wish::Change => self.change_project(read, &project),
            Wish::Patch => self.setting_file_found(&read.request, read.path, browsed),
            Wish::Market => self.market_settings_found(read.request, read.path, browsed.clone()),
            Wish::Show | Wish::Changed(..) => self.tell_overlay(read, [global, project]),
        }
    }

    fn tell_overlay(&mut self, read: OverlayRead, [global, project]: [Target; 2]) {
        let OverlayRead { ask, request, file_of_all, places, .. } = read;
        let has_changed = matches!(ask.wish, Wish::Changed(..));
        let (anew, names) = match ask.wish {
            Wish::Changed(anew, names) => (anew, names),
            Wish::Show | Wish::Change | Wish::Patch | Wish::Market => (Anew::Nothing, Vec::new()),
        };
        let directory = self.directory_of(&request);
        let instance = self.instances.get(&directory).filter(|_| !has_changed);
        let over = instance.map(|instance| instance.settings.clone());
        let active = if ask.scope == Scope::Global { &global } else { &project };
        let ticket = request.ticket;
        let told = Overlay {
            fresh: self.fresh(names, &global.says(), &project.says()),
            over: over.unwrap_or_else(|| self.settings_of(&directory)),
            request,
            directory,
            file_of_all,
            places,
            scope: ask.scope,
            targets: json!({"global": global.wire(), "project": project.wire(), "active": active.wire()}),
            global: global.says(),
            project: says_something(project.says()),
        };
        self.reply(ticket, 200, ReplyBody::Overlay(Box::new(told)));
        match anew {
            Anew::Instance(directory) => self.dispose(&directory),
            Anew::All => {
                self.dispose_all();
                self.emit_global("global.disposed", json!({}));
            }
            Anew::Nothing => {}
        }
    }

    /// What holds now at these names.
    fn fresh(
        &self,
        names: Vec<String>,
        global: &Map<String, Value>,
        project: &Map<String, Value>,
    ) -> Map<String, Value> {
        let mut now = global.clone();
        for said in [project, &self.config.said] {
            merge(&mut now, &Value::Object(said.clone()));
        }
        let mut now = in_use(whole(now, self.profile.server));
        let of_start = |name: &String| STARTED_WITH.contains(&name.as_str());
        let value = |name: String| {
            let nothing = if EMPTY.contains(&name.as_str()) { json!({}) } else { Value::Null };
            let value = now.shift_remove(&name).unwrap_or(nothing);
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

    fn change_global(&mut self, request: &ApiRequest, target: &Target) {
        let Some(change) = self.change_of(request, target) else { return };
        let of_console = change.names.iter().all(|name| name == "console");
        if change.is_one {
            self.set_global(&change.text);
            self.emit_global("global.config.updated", json!({"sandbox": change.of_sandbox}));
        }
        let anew = if change.is_one && !of_console { Anew::All } else { Anew::Nothing };
        let ask = OverlayAsk { scope: Scope::Global, wish: Wish::Changed(anew, change.names) };
        self.look_at_sources(request, Some(ask));
    }

    fn change_project(&mut self, read: OverlayRead, target: &Target) {
        let OverlayRead { request, path, folder, own, has_folder, .. } = read;
        let Some(change) = self.change_of(&request, target) else { return };
        let says_anything = !change.names.is_empty();
        let written = OverlayWritten { request, of_sandbox: change.of_sandbox, names: change.names };
        let (path, content) = match change.is_one {
            true => {
                self.note_project(&folder, &change.patch);
                (path, change.text)
            }
            // The folder is made all the same; what git is to ignore of it is said in any.
            false if says_anything && !has_folder => {
                (format!("{own}/.gitignore"), self.profile.settings_ignored.to_owned())
            }
            false => return self.overlay_written(written),
        };
        self.ask_place(PlaceAsk::OverlayWritten(written), PlaceWish::Write { path, content });
    }

    /// What a client wants to be changed in a file; refuses what can't be.
    fn change_of(&mut self, request: &ApiRequest, target: &Target) -> Option<Change> {
        let body = body_of(request);
        if let Some((code, message)) = target.surprise(&body["expected"]) {
            let body = json!({"code": code, "message": message, "target": target.wire()});
            self.reply(request.ticket, 409, ReplyBody::Json(body));
            return None;
        }
        let mistake = |what: String| Mistake { path: Vec::new(), what };
        let known = self.operations.fields_of_body("config.update");
        let unknown = body["set"].as_object().into_iter().flat_map(Map::keys);
        let unknown: Vec<&str> = unknown.filter(|key| !known.contains(key)).map(String::as_str).collect();
        if !unknown.is_empty() {
            let plural = if unknown.len() == 1 { "" } else { "s" };
            let what = format!("Unrecognized key{plural}: {}", unknown.join(", "));
            self.refuse_settings(request, target, What::Mistakes(vec![mistake(what)]));
            return None;
        }
        let patch = patch_of(&body);
        let before = target.text.as_deref().unwrap_or_default();
        let changed = settings_changed(before, &patch);
        let after = changed.as_deref().and_then(read_settings).and_then(|after| after.as_object().cloned());
        let (Some(mut text), Some(after)) = (changed, after) else {
            self.refuse_settings(request, target, What::NoJson("it is no JSON".to_owned()));
            return None;
        };
        let mistakes = self.operations.mistakes(SettingsOf::Server, &Value::Object(after.clone()));
        if !mistakes.is_empty() {
            self.refuse_settings(request, target, What::Mistakes(mistakes));
            return None;
        }
        let is_one = after != target.says();
        // Only what may have comments is kept as its people have written it.
        if target.text.is_none() || !target.path.ends_with(".jsonc") {
            text = self.new_settings(after);
        }
        let of_sandbox = is_one && patch.contains_key("sandbox");
        let names = patch.keys().cloned().collect();
        Some(Change { is_one, text, names, patch, of_sandbox })
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

    fn refuse_settings(&mut self, request: &ApiRequest, target: &Target, what: What) {
        let fault = Fault { path: target.path.clone(), what };
        self.reply(request.ticket, 400, ReplyBody::Json(fault.error()));
    }
}

/// Settings without those that say nothing.
fn says_something(mut settings: Map<String, Value>) -> Map<String, Value> {
    drop_empty(&mut settings);
    settings
}

/// What is wanted of a file.
struct Change {
    /// It says something else then.
    is_one: bool,
    /// What stands in it then.
    text: String,
    patch: Map<String, Value>,
    /// What something is said of.
    names: Vec<String>,
    /// What is said of the sandbox is new.
    of_sandbox: bool,
}

/// Somebody wants something of settings, and the file of the project is read for it.
#[derive(Debug)]
pub(in crate::world) struct OverlayRead {
    ask: OverlayAsk,
    request: ApiRequest,
    file_of_all: Option<String>,
    places: Vec<Value>,
    /// The file.
    path: String,
    /// The folder of the project that it is about.
    folder: String,
    /// The folder in which it lies, and whether that is there.
    own: String,
    has_folder: bool,
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
