//! The files that tell agents how to work in a project (`/config/rules`), as Kilo's settings show them: all that may be
//! there are told, one of them may be written.

use super::routes::body_of;
use super::surroundings::{Browsed, PlaceAsk, PlaceWish};
use super::{ApiRequest, Ticket, World};
use serde_json::{Value, json};

/// Their names; the first one may be written.
const NAMES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];

/// Somebody wants to see them.
#[derive(Debug)]
pub(super) struct RuleFiles {
    ticket: Ticket,
    folder: String,
    /// Those that were looked at.
    told: Vec<Value>,
}

impl World {
    /// `GET /config/rules`, `PUT /config/rules`. `None` when it is about something else.
    pub(super) fn about_rule_files(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let folder = self.project_folder(&self.directory_of(request));
        let files = RuleFiles { ticket: request.ticket, folder, told: Vec::new() };
        match operation {
            "config.rules" => self.look_at_rules(files),
            "config.rulesUpdate" => {
                let content = body_of(request)["content"].as_str().unwrap_or_default().to_owned();
                let path = format!("{}/{}", files.folder, NAMES[0]);
                self.ask_place(PlaceAsk::RulesWritten(files), PlaceWish::Write { path, content });
            }
            _ => return None,
        }
        Some(())
    }

    /// The folder that a project's files lie in: that of its repository, or the instance's own.
    pub(super) fn project_folder(&self, directory: &str) -> String {
        match self.in_repository(directory) {
            Some(_) => self.worktree_of(directory),
            None => directory.to_owned(),
        }
    }

    /// Looks at the next one, or tells them all.
    pub(super) fn look_at_rules(&mut self, files: RuleFiles) {
        let RuleFiles { ticket, folder, told } = &files;
        if let Some(name) = NAMES.get(told.len()) {
            let path = format!("{folder}/{name}");
            let wish = PlaceWish::Browse { folder: folder.clone(), path, project: folder.clone() };
            return self.ask_place(PlaceAsk::Rules(files), wish);
        }
        let body = json!({"scope": "project", "target": format!("{folder}/{}", NAMES[0]), "files": told});
        self.reply_json(*ticket, body);
    }

    pub(super) fn rules_seen(&mut self, mut files: RuleFiles, browsed: &Browsed) {
        let at = files.told.len();
        let name = NAMES.get(at).copied().unwrap_or_default();
        let content = match browsed {
            Browsed::File(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        files.told.push(json!({
            "name": name, "path": format!("{}/{name}", files.folder), "exists": content.is_some(),
            "editable": at == 0, "content": content.unwrap_or_default(),
        }));
        self.look_at_rules(files);
    }
}
