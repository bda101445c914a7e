//! Who shares a board, and what they are doing.

use super::{ALL, MAIN, Note, READ, are_there, called, excerpt};
use crate::world::World;
use crate::world::session::Session;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So many bytes of a title, and of an agent's name, are told.
const LABEL_MAX: usize = 512;
const AGENT_MAX: usize = 128;
/// So many of a family are told.
pub(super) const TOLD_MAX: usize = 50;

/// What each session does of which something is known.
pub(super) struct Doings(BTreeMap<String, Doing>);

/// Work that was given to a session.
#[derive(Debug)]
pub(in crate::world) struct Given {
    /// How far it is.
    word: &'static str,
    since_ms: u64,
}

/// What a session does.
struct Doing {
    word: String,
    /// Since when its work was given to it, if somebody gave it.
    since_ms: u64,
}

impl Doings {
    pub(super) fn of(&self, session: &str) -> &str {
        self.0.get(session).map_or("unknown", |doing| &doing.word)
    }

    fn is_active(&self, session: &str) -> bool {
        matches!(self.of(session), "running" | "busy" | "retry" | "offline")
    }

    /// When it was given its work; nothing unless it is at it.
    fn active_since(&self, session: &str) -> Option<u64> {
        self.is_active(session).then(|| self.0[session].since_ms)
    }
}

impl World {
    /// Does a session read its board, without asking anybody?
    pub(in crate::world) fn reads_board(&self, session: &str) -> bool {
        self.has_boards(session)
            && self.permissions.allows(&self.who(session), READ)
            && !self.is_switched_off(session, READ)
    }

    /// Do the settings leave the agents of a session their boards?
    pub(in crate::world) fn has_boards(&self, session: &str) -> bool {
        are_there(&self.settings_for(session))
    }

    /// The session that has the board of another one; says why there is none.
    pub(super) fn board_root(&self, session: &str) -> Result<String, String> {
        let mut at = self.sessions.get(session).ok_or_else(|| format!("Session not found: {session}"))?;
        while let Some(parent) = &at.parent {
            let above = self.sessions.get(parent);
            let above = above.ok_or_else(|| format!("Session lineage parent is missing: {parent}"))?;
            if !is_near(above, at) {
                return Err(format!("Session lineage crosses a project or worktree boundary: {session}"));
            }
            at = above;
        }
        Ok(at.id.clone())
    }

    /// The family of a main session, with it.
    pub(super) fn board_family(&self, root: &str) -> Vec<&Session> {
        let mut family: Vec<&Session> = self.sessions.get(root).into_iter().collect();
        let mut next = 0;
        while let Some(parent) = family.get(next).copied() {
            let of_it =
                |child: &&Session| child.parent.as_ref() == Some(&parent.id) && is_near(parent, child);
            family.extend(self.sessions.values().filter(of_it));
            next += 1;
        }
        family
    }

    /// How far the work is that was given to a session.
    pub(in crate::world) fn work_is(&mut self, session: &str, word: &'static str) {
        let since_ms = match self.alongside.given.get(session) {
            Some(given) if word != "running" => given.since_ms,
            _ => self.now_ms,
        };
        self.alongside.given.insert(session.to_owned(), Given { word, since_ms });
    }

    pub(super) fn doings(&self) -> Doings {
        let mut all = BTreeMap::new();
        for (id, work) in &self.alongside.given {
            all.insert(id.clone(), Doing { word: work.word.to_owned(), since_ms: work.since_ms });
        }
        for owner in self.sessions.values() {
            let Some(status) = owner.run.as_ref().and_then(|run| run.status()) else { continue };
            let since_ms = all.get(&owner.id).map(|doing| doing.since_ms).unwrap_or_default();
            let word = status["type"].as_str().unwrap_or_default().to_owned();
            all.insert(owner.id.clone(), Doing { word, since_ms });
        }
        Doings(all)
    }

    /// The family as its reader is told of it: the main session, the reader, who is at work, the newest.
    pub(super) fn participants(&self, root: &str, reader: &str, doings: &Doings) -> Vec<Value> {
        let mut family = self.board_family(root);
        family.sort_by(|a, b| {
            let place = |session: &Session| match session.id.as_str() {
                id if id == root => 0,
                id if id == reader => 1,
                _ => 2,
            };
            let since = |session: &Session| doings.active_since(&session.id);
            place(a)
                .cmp(&place(b))
                .then_with(|| (since(b), b.created_ms, &b.id).cmp(&(since(a), a.created_ms, &a.id)))
        });
        let told = |session: &&Session| {
            let mut told = json!({
                "id": called(&session.id, root), "sessionID": session.id, "label": excerpt(&session.title, LABEL_MAX),
            });
            if let Some(agent) = session.agent.as_ref().filter(|agent| !agent.is_empty()) {
                told["agent"] = json!(excerpt(agent, AGENT_MAX));
            }
            told["state"] = json!(doings.of(&session.id));
            told
        };
        family.iter().map(told).collect()
    }

    /// Whether those can be expected to read it whom a note is for.
    pub(super) fn availability(&self, note: &Note, root: &str) -> Value {
        let doings = self.doings();
        let is_meant =
            |session: &&&Session| session.id != note.from && (note.to == ALL || session.id == note.to);
        let family = self.board_family(root);
        let meant: Vec<&str> = family.iter().filter(is_meant).map(|session| session.id.as_str()).collect();
        let active = meant.iter().filter(|id| doings.is_active(id)).count();
        let unknown = meant.iter().filter(|id| doings.of(id) == "unknown").count();
        let mut told = json!({
            "observedAt": self.now_ms, "total": meant.len(), "active": active,
            "inactive": meant.len() - active - unknown, "unknown": unknown,
        });
        if note.to != ALL {
            told["recipientState"] = json!(doings.of(&note.to));
        }
        told
    }

    /// A note as it is told, with the titles of those who wrote it and get it.
    pub(super) fn labelled(&self, note: &Note, root: &str, known: &[&str]) -> Value {
        let mut told = note.wire(root);
        for (field, session) in [("fromLabel", &note.from), ("toLabel", &note.to)] {
            let is_known = session != ALL && known.contains(&session.as_str());
            if let Some(labelled) = self.sessions.get(session).filter(|_| is_known) {
                told[field] = json!(excerpt(&labelled.title, LABEL_MAX));
            }
        }
        told
    }

    /// The session that a word on a board means.
    pub(super) fn recipient(&self, word: &str, root: &str) -> Result<String, String> {
        match word {
            ALL => Ok(ALL.to_owned()),
            MAIN => Ok(root.to_owned()),
            id if self.board_root(id)? == root => Ok(id.to_owned()),
            _ => Err(format!("Board recipient is not a participant in this board: {word}")),
        }
    }
}

/// Do they work on the same thing in the same folder?
fn is_near(parent: &Session, child: &Session) -> bool {
    parent.project == child.project && parent.directory == child.directory
}
