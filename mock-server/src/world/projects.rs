//! Projects: the repository of the workspace, and one for all that belongs to none.

use super::routes::body_of;
use super::{ApiReply, ApiRequest, Beside, Effect, Event, Output, ReplyBody, World};
use crate::options::Standing;
use crate::target::unescaped;
use crate::workspace::GLOBAL;
use fixtures::ServerKind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::cmp::Reverse;

/// What a client may say about a project.
const SAID: &[&str] = &["name", "icon", "commands"];
/// How many sessions of all projects are listed when nobody says.
const LISTED: usize = 100;

/// A project that somebody has visited.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Project {
    id: String,
    worktree: String,
    is_repository: bool,
    /// Other worktrees of it in which somebody has worked.
    #[serde(default)]
    sandboxes: Vec<String>,
    /// The folders in which it lies besides, and how that came about, the newest first.
    #[serde(default)]
    folders: Vec<(String, Option<String>)>,
    said: Map<String, Value>,
    created_ms: u64,
    updated_ms: u64,
    initialized_ms: Option<u64>,
}

impl Project {
    fn wire(&self) -> Value {
        let mut wire = json!({"id": self.id, "worktree": self.worktree});
        if self.is_repository {
            wire["vcs"] = json!("git");
        }
        for key in SAID.iter().filter(|&&key| key != "commands") {
            if let Some(value) = self.said.get(*key) {
                wire[key] = value.clone();
            }
        }
        wire["time"] = json!({"created": self.created_ms, "updated": self.updated_ms});
        if let Some(initialized_ms) = self.initialized_ms {
            wire["time"]["initialized"] = json!(initialized_ms);
        }
        wire["sandboxes"] = json!(self.sandboxes);
        if let Some(commands) = self.said.get("commands") {
            wire["commands"] = commands.clone();
        }
        wire
    }

    /// Somebody works in another worktree of it.
    fn take_in(&mut self, sandbox: Option<&String>) {
        let Some(folder) = sandbox else { return };
        if !self.sandboxes.contains(folder) {
            self.sandboxes.push(folder.clone());
        }
        if self.folders.iter().all(|(known, _)| known != folder) {
            self.folders.insert(0, (folder.clone(), None));
        }
    }

    /// As it is told when it is new.
    fn announcement(&self) -> Value {
        let mut wire = json!({"id": self.id, "worktree": self.worktree});
        if self.is_repository {
            wire["vcs"] = json!("git");
        }
        wire["sandboxes"] = json!(self.sandboxes);
        wire["time"] = json!({"created": self.created_ms, "updated": self.updated_ms});
        wire
    }
}

impl World {
    /// The folder of a directory's project.
    pub(super) fn worktree_of(&self, directory: &str) -> String {
        self.repository_of(directory).map_or("/", |project| &project.worktree).to_owned()
    }

    /// Is there a client that wants to go back to the files of before? Kilo's agent has none; what others' designs stand
    /// on tells of everything at once.
    pub(super) fn keeps_files(&self) -> bool {
        let is_kilos_agent =
            self.config.standing == Standing::BehindAgent && self.profile.server == ServerKind::Kilo;
        !is_kilos_agent && self.config.client.keeps_files(self.profile.server)
    }

    /// Do the settings let files be kept?
    pub(super) fn keeps_snapshots(&self, directory: &str) -> bool {
        self.keeps_files() && self.settings_in(directory).get("snapshot") != Some(&json!(false))
    }

    /// Keeps the files that a session may change; where there is no repository, none are kept.
    pub(super) fn snapshot_of(&self, directory: &str) -> Effect {
        let kept = match self.in_repository(directory) {
            None => String::new(),
            Some(_) if !self.keeps_snapshots(directory) || self.lacks_folder(directory) => String::new(),
            Some(_) => directory.to_owned(),
        };
        Effect::Snapshot { directory: kept, beside: Beside::Nothing }
    }

    /// An instance of the project begins: its project is told. Gives the project as the instance will know it.
    pub(super) fn visit_project(&mut self, directory: &str) -> Value {
        let repository = self.repository_of(directory).cloned();
        let id = repository.as_ref().map_or(GLOBAL, |project| &project.id).to_owned();
        let home = repository.as_ref().map_or("/", |project| &project.home).to_owned();
        let sandbox = repository.as_ref().map(|project| &project.worktree).filter(|folder| **folder != home);
        let now = self.now_ms;
        let known = self.projects.iter_mut().find(|project| project.id == id);
        let (wire, told) = if let Some(project) = known {
            project.updated_ms = now;
            project.take_in(sandbox);
            (project.wire(), project.wire())
        } else {
            let (created_ms, updated_ms) = (now, now);
            let mut project = Project {
                id: id.clone(),
                worktree: home,
                is_repository: repository.is_some(),
                sandboxes: Vec::new(),
                folders: Vec::new(),
                said: Map::new(),
                created_ms,
                updated_ms,
                initialized_ms: None,
            };
            project.take_in(sandbox);
            let told = (project.wire(), project.announcement());
            self.projects.push(project);
            told
        };
        self.tell_project(&id, told);
        wire
    }

    /// The command that describes a project for agents has been run in a session; nobody is told.
    pub(super) fn mark_initialized(&mut self, session: &str) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let (id, now) = (self.project_of(&directory), self.now_ms);
        if let Some(project) = self.projects.iter_mut().find(|project| project.id == id) {
            project.initialized_ms = Some(now);
        }
    }

    fn tell_project(&mut self, id: &str, properties: Value) {
        let event = self.ids.ascending("evt", self.now_ms);
        let payload = json!({"type": "project.updated", "properties": properties, "id": event});
        self.outputs.push(Output::Event(Event {
            directory: GLOBAL.to_owned(),
            project: Some(id.to_owned()),
            on_event: false,
            payload,
            durable: None,
            data: None,
        }));
    }

    /// Has anybody visited a project?
    pub(super) fn knows_project(&self, id: &str) -> bool {
        self.projects.iter().any(|project| project.id == id)
    }

    fn known_project(&mut self, id: &str) -> Option<&mut Project> {
        self.projects.iter_mut().find(|project| project.id == id)
    }

    /// The other worktrees of a project in which somebody has worked.
    pub(super) fn sandboxes_of(&self, id: &str) -> Vec<String> {
        let known = self.projects.iter().find(|project| project.id == id);
        known.map(|project| project.sandboxes.clone()).unwrap_or_default()
    }

    /// Somebody is to work in another worktree of a project.
    pub(super) fn add_sandbox(&mut self, id: &str, folder: &str) {
        self.change_sandboxes(id, |sandboxes| {
            if !sandboxes.iter().any(|known| known == folder) {
                sandboxes.push(folder.to_owned());
            }
        });
    }

    /// Nobody will any more.
    pub(super) fn forget_sandbox(&mut self, id: &str, folder: &str) {
        self.change_sandboxes(id, |sandboxes| sandboxes.retain(|known| known != folder));
    }

    fn change_sandboxes(&mut self, id: &str, change: impl FnOnce(&mut Vec<String>)) {
        let now = self.now_ms;
        if let Some(project) = self.known_project(id) {
            change(&mut project.sandboxes);
            project.updated_ms = now;
            let wire = project.wire();
            self.tell_project(id, wire);
        }
    }

    /// The line with which work in a new worktree of a project begins.
    pub(super) fn start_line_of(&mut self, id: &str) -> String {
        let commands = self.known_project(id).and_then(|project| project.said.get("commands"));
        commands.and_then(|commands| commands["start"].as_str()).unwrap_or_default().to_owned()
    }

    /// The folders in which a project is known to lie besides.
    pub(super) fn folders_of_project(&self, id: &str) -> Vec<String> {
        let known = self.projects.iter().find(|project| project.id == id);
        known
            .map(|project| project.folders.iter().map(|(folder, _)| folder.clone()).collect())
            .unwrap_or_default()
    }

    /// These are the copies of a project, and of those that were known these are there. Is any of it new?
    pub(super) fn learn_folders(
        &mut self,
        id: &str,
        copies: &[String],
        standing: &[String],
        how: &str,
    ) -> bool {
        let Some(project) = self.known_project(id) else { return false };
        let before = project.folders.clone();
        project.folders.retain(|(folder, _)| standing.contains(folder));
        for (_, told) in project.folders.iter_mut().filter(|(folder, _)| copies.contains(folder)) {
            *told = Some(how.to_owned());
        }
        let is_new = |folder: &&String| project.folders.iter().all(|(known, _)| known != *folder);
        let new: Vec<_> =
            copies.iter().filter(is_new).map(|folder| (folder.clone(), Some(how.to_owned()))).collect();
        project.folders.splice(0..0, new);
        project.folders != before
    }

    /// `GET /project`.
    pub(super) fn list_projects(&mut self, ticket: u64) {
        let list = self.projects.iter().map(Project::wire).collect();
        self.reply_json(ticket, Value::Array(list));
    }

    /// `GET /project/current` and `POST /project/git/init`, which finds a repository already.
    pub(super) fn current_project(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let project = self.instances.get(&directory).map(|instance| instance.project.clone());
        self.reply_json(request.ticket, project.unwrap_or_default());
    }

    /// `POST /project/git/init`: the stand-in makes no repository; where the real servers fail, it fails.
    pub(super) fn init_repository(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        match self.in_repository(&directory) {
            Some(_) => self.current_project(request),
            None => self.unknown_error(request.ticket),
        }
    }

    /// `PATCH /project/{id}`.
    pub(super) fn patch_project(&mut self, request: &ApiRequest, id: &str) {
        let now = self.now_ms;
        let Some(project) = self.projects.iter_mut().find(|project| project.id == id) else {
            let id = unescaped(id);
            let message = format!("Project not found: {id}");
            let body = json!({"_tag": "ProjectNotFoundError", "projectID": id, "message": message});
            return self.reply(request.ticket, 404, ReplyBody::Json(body));
        };
        let body = self.operations.known_body("project.update", body_of(request));
        for (key, value) in body.as_object().into_iter().flatten() {
            if SAID.contains(&key.as_str()) {
                say(&mut project.said, key, value);
            }
        }
        project.updated_ms = now;
        let wire = project.wire();
        self.tell_project(id, wire.clone());
        self.reply_json(request.ticket, wire);
    }

    /// `GET /project/{id}/directories`.
    pub(super) fn project_directories(&mut self, ticket: u64, id: &str) {
        let known = self.projects.iter().find(|project| project.id == id && project.is_repository);
        let mut list: Vec<Value> = Vec::new();
        if let Some(project) = known {
            list.extend(project.folders.iter().map(|(folder, strategy)| match strategy {
                Some(strategy) => json!({"directory": folder, "strategy": strategy}),
                None => json!({"directory": folder}),
            }));
            list.push(json!({"directory": project.worktree}));
        }
        self.reply_json(ticket, Value::Array(list));
    }

    /// `GET /path`.
    pub(super) fn path(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let home = &self.config.home;
        let word = self.profile.server.word();
        let body = json!({
            "home": home, "state": format!("{home}/.local/state/{word}"), "config": format!("{home}/.config/{word}"),
            "worktree": self.worktree_of(&directory), "directory": directory,
        });
        self.reply_json(request.ticket, body);
    }

    /// `GET /experimental/session`: those of all projects, the latest changed first.
    pub(super) fn list_all_sessions(&mut self, request: &ApiRequest) {
        let query =
            |name: &str| request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let search = query("search").map(str::to_lowercase);
        let directory = query("directory").filter(|directory| !directory.is_empty());
        let directory = directory.map(|_| self.directory_of(request));
        let number = |name: &str| query(name).and_then(|number| number.trim().parse::<f64>().ok());
        let (start, cursor) = (number("start"), number("cursor"));
        #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are exact for ages")]
        let fits = |session: &&super::session::Session| {
            directory.as_ref().is_none_or(|directory| session.directory == *directory)
                && start.is_none_or(|start| session.updated_ms as f64 >= start)
                && cursor.is_none_or(|cursor| (session.updated_ms as f64) < cursor)
                && (query("roots") != Some("true") || session.parent.is_none())
                && (query("archived") == Some("true") || session.archived.is_none())
                && search.as_ref().is_none_or(|words| session.title.to_lowercase().contains(words))
        };
        let mut found: Vec<_> = self.sessions.values().filter(fits).collect();
        found.sort_by_key(|session| Reverse(session.updated_ms));
        let limit = query("limit").and_then(|limit| limit.parse().ok()).unwrap_or(LISTED);
        let has_more = found.len() > limit;
        found.truncate(limit);
        // Who wants more asks for what is older than the last.
        let cursor = found.last().filter(|_| has_more).map(|session| session.updated_ms.to_string());
        let list = found.iter().map(|session| {
            let mut info = self.session_info(&session.id);
            let project = self.projects.iter().find(|project| project.id == session.project);
            info["project"] = project.map_or(Value::Null, |project| {
                let mut wire = json!({"id": project.id});
                if let Some(name) = project.said.get("name") {
                    wire["name"] = name.clone();
                }
                wire["worktree"] = json!(project.worktree);
                wire
            });
            info
        });
        let body = ReplyBody::Json(Value::Array(list.collect()));
        let headers = cursor.into_iter().map(|cursor| ("x-next-cursor", cursor)).collect();
        self.reply_with(request.ticket, ApiReply { status: 200, headers, body });
    }
}

/// What a client says stands, each part of an icon by itself.
fn say(said: &mut Map<String, Value>, key: &str, value: &Value) {
    match (said.get_mut(key), value) {
        (Some(Value::Object(known)), Value::Object(new)) if key == "icon" => known.extend(new.clone()),
        _ => {
            said.insert(key.to_owned(), value.clone());
        }
    }
}
