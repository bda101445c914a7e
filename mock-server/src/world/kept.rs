//! What lasts when the process ends: handed out as text whenever it has changed, and taken up by whoever comes next in
//! the same home. Each session is a text of its own, and all else that lasts is one.
//!
//! Two processes may be at work in one home. What the other one has written is taken up before a request is answered,
//! except for a session that is at work here: who works on it knows it best.

use super::config::Settings;
use super::ids::Ids;
use super::memory::Memory;
use super::next::Saved;
use super::projects::Project;
use super::session::Session;
use super::{Output, World};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the text that belongs to no session.
const REST: &str = "rest";
/// Before the id of a session, so that none of them is called like the rest.
const SESSION: &str = "session-";

/// A text that lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is of: `rest`, or `session-` with the session's id.
    pub name: String,
    /// The text; nothing lasts when absent.
    pub text: Option<String>,
}

/// What is to be handed out.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    is_on: bool,
    touched: BTreeSet<String>,
    /// The rest as it was handed out last.
    rest: String,
}

/// All that lasts and is of no session.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rest {
    settings: Settings,
    /// What stands under all settings, with what has been allowed for always.
    kept: Map<String, Value>,
    consents: Vec<Saved>,
    keys: Map<String, Value>,
    projects: Vec<Project>,
    memories: BTreeMap<String, Memory>,
    favorites: Value,
    sandboxed: BTreeSet<String>,
    left_diffs: BTreeMap<String, Vec<Value>>,
}

impl Kept {
    /// Can it be taken up? Says what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let Some(text) = &self.text else { return Ok(()) };
        if self.name == REST {
            return serde_json::from_str::<Rest>(text).map(drop).map_err(|error| error.to_string());
        }
        match serde_json::from_str::<Session>(text) {
            Ok(session) if self.name.strip_prefix(SESSION) == Some(&session.id) => Ok(()),
            Ok(session) => Err(format!("it has the session {}, which its name does not say", session.id)),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl World {
    /// From now on what lasts is handed out. So many texts are there already: who comes after another one makes other ids.
    #[must_use]
    pub(crate) fn keeping(mut self, texts: usize) -> Self {
        self.keeping.is_on = true;
        let texts = u64::try_from(texts).unwrap_or_default();
        self.ids = Ids::new(self.config.seed.wrapping_add(texts));
        self
    }

    /// All is forgotten, and whoever keeps it is told.
    pub(super) fn unkept(&mut self) -> Keeping {
        let touched = self.sessions.keys().cloned().collect();
        Keeping { is_on: self.keeping.is_on, touched, rest: String::new() }
    }

    /// Something of this session has changed that lasts.
    pub(super) fn touch_kept(&mut self, session: &str) {
        if self.keeping.is_on {
            self.keeping.touched.insert(session.to_owned());
        }
    }

    /// Hands out what has changed.
    pub(super) fn hand_out(&mut self) {
        if !self.keeping.is_on {
            return;
        }
        for name in std::mem::take(&mut self.keeping.touched) {
            let session = self.sessions.get(&name).filter(|session| !session.is_gone);
            let text = session.and_then(|session| serde_json::to_string(session).ok());
            self.outputs.push(Output::Keep(Kept { name: format!("{SESSION}{name}"), text }));
        }
        let Ok(text) = serde_json::to_string(&self.rest()) else { return };
        if text != self.keeping.rest {
            self.keeping.rest.clone_from(&text);
            self.outputs.push(Output::Keep(Kept { name: REST.to_owned(), text: Some(text) }));
        }
    }

    fn rest(&self) -> Rest {
        Rest {
            settings: self.settings.clone(),
            kept: self.kept_settings(&self.permissions.kept),
            consents: self.consents.saved().to_vec(),
            keys: self.keys.clone(),
            projects: self.projects.clone(),
            memories: self.memories.clone(),
            favorites: self.favorites.clone(),
            sandboxed: self.sandboxed.clone(),
            left_diffs: self.left_diffs.clone(),
        }
    }

    /// Takes up what another process has kept. What can't be read is left alone.
    pub(super) fn recall(&mut self, kept: Kept) {
        let Kept { name, text } = kept;
        if let Some(id) = name.strip_prefix(SESSION) {
            return self.recall_session(id, text.as_deref());
        }
        let Some(rest) = text.as_deref().and_then(|text| serde_json::from_str::<Rest>(text).ok()) else {
            return;
        };
        let Rest { settings, kept, consents, keys, projects, memories, favorites, sandboxed, left_diffs } =
            rest;
        self.settings = settings;
        self.config.kept = kept;
        self.consents.keep(consents);
        self.keys = keys;
        self.projects = projects;
        self.memories = memories;
        self.favorites = favorites;
        self.sandboxed = sandboxed;
        self.left_diffs = left_diffs;
        self.keeping.rest = text.unwrap_or_default();
        // The next instance begins with these settings.
        self.old_files.insert(self.config.directory.clone());
        self.old_files.extend(self.abroad.keys().cloned());
    }

    fn recall_session(&mut self, id: &str, text: Option<&str>) {
        if self.sessions.get(id).is_some_and(|known| known.run.is_some()) {
            return;
        }
        let Some(text) = text else {
            self.told.forget(id);
            self.sessions.remove(id);
            return;
        };
        let Ok(mut session) = serde_json::from_str::<Session>(text) else { return };
        if let Some(known) = self.sessions.get_mut(id) {
            session.queue = std::mem::take(&mut known.queue);
            session.notes.take_listeners(&mut known.notes);
        }
        self.sessions.insert(id.to_owned(), session);
    }
}
