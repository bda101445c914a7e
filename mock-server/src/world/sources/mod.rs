//! Where the settings of an instance come from: `/config/sources`, which looks at the files each time, and `/config/overlay`, which
//! tells of each setting what is inherited.

mod fields;
mod overlay;
mod target;

use super::folders::within;
use super::surroundings::{PlaceAsk, PlaceWish};
use super::{ApiRequest, ReplyBody, World};
pub use overlay::Overlay;
use overlay::OverlayAsk;
pub(super) use overlay::{OverlayRead, OverlayWritten};
use serde_json::{Value, json};

/// Somebody asks.
#[derive(Debug)]
pub(super) struct Sources {
    request: ApiRequest,
    /// The folder that is meant, and those above it in its project.
    folders: Vec<String>,
    /// What they want of the settings themselves.
    overlay: Option<OverlayAsk>,
}

impl World {
    pub(super) fn look_for_sources(&mut self, request: &ApiRequest) {
        self.look_at_sources(request, None);
    }

    fn look_at_sources(&mut self, request: &ApiRequest, overlay: Option<OverlayAsk>) {
        let directory = self.directory_of(request);
        let root = self.config.directory.as_str();
        let mut folders = vec![directory.clone()];
        let mut folder = directory.as_str();
        while let Some((above, _)) =
            folder.rsplit_once('/').filter(|(above, _)| within(above, root).is_some())
        {
            folders.push(above.to_owned());
            folder = above;
        }
        let kept: Vec<&str> = self.profile.settings_folders.to_vec();
        let mut paths = Vec::new();
        for folder in &folders {
            paths.extend(self.profile.folder_settings.iter().map(|name| format!("{folder}/{name}")));
            for kept in &kept {
                paths.push(format!("{folder}/{kept}"));
                let files = self.profile.folder_settings.iter();
                paths.extend(files.map(|name| format!("{folder}/{kept}/{name}")));
            }
        }
        let sources = Sources { request: request.clone(), folders, overlay };
        self.ask_place(PlaceAsk::Sources(sources), PlaceWish::Existing(paths));
    }

    /// The machine has said which of these files are there.
    pub(super) fn tell_sources(&mut self, asked: Sources, existing: &[String]) {
        let is_there = |path: &String| existing.contains(path);
        let names = self.profile.folder_settings;
        let mut told = Vec::new();
        // The files of one name and another, the topmost folder first.
        for word in ["kilo", "opencode"] {
            let files = asked.folders.iter().flat_map(|folder| {
                let own = names.iter().filter(|name| name.split('.').next() == Some(word));
                own.map(move |name| format!("{folder}/{name}"))
            });
            let found: Vec<String> = files.filter(is_there).collect();
            told.extend(found.iter().rev().map(|path| source("project-file", "Project config", path, true)));
        }
        for folder in asked.folders.iter().flat_map(|folder| {
            self.profile.settings_folders.iter().map(move |kept| format!("{folder}/{kept}"))
        }) {
            if !is_there(&folder) {
                continue;
            }
            let mut whole = source("config-dir", "Config directory", &folder, false);
            if let Some(fields) = whole.as_object_mut() {
                fields.shift_remove("reason");
            }
            told.push(whole);
            for name in names {
                let path = format!("{folder}/{name}");
                let label = format!("Config directory {name}");
                told.push(source("config-dir-file", &label, &path, is_there(&path)));
            }
        }
        let global = self.config.customs.file_of_all.clone();
        let global = global.or_else(|| (!self.global_settings().is_empty()).then(|| self.global_file()));
        let Sources { request, folders, overlay } = asked;
        if let Some(overlay) = overlay {
            return self.overlay_seen(overlay, request, (global, told), (&folders, existing));
        }
        let ticket = request.ticket;
        let body = ReplyBody::Sources { request: Box::new(request), global, project: told };
        self.reply(ticket, 200, body);
    }

    /// The file that the server's own settings are written to, unless there is another.
    fn global_file(&self) -> String {
        format!("{}/.config/{}/kilo.jsonc", self.config.home, self.profile.server.word())
    }
}

fn source(kind: &str, label: &str, path: &str, exists: bool) -> Value {
    json!({
        "kind": kind, "scope": "project", "label": label, "source": path, "path": path, "exists": exists,
        "editable": true, "reason": null,
    })
}
