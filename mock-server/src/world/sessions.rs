//! Sessions as a client makes, lists, changes and deletes them.

use super::routes::body_of;
use super::session::{NewSession, Session, is_default_title};
use super::{ApiRequest, ReplyBody, World, patch};
use crate::javascript;
use fixtures::ServerKind;
use serde_json::{Value, json};
use std::cmp::Reverse;

/// How many sessions are listed when nobody says.
const LISTED: f64 = 100.0;
/// Of so many deleted sessions it is remembered what they had changed.
const LEFT_DIFFS: usize = 256;

impl World {
    /// `GET /session`: those of the directory's project, the latest changed first.
    pub(super) fn list_sessions(&mut self, request: &ApiRequest) {
        let query =
            |name: &str| request.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let limit = query("limit").map_or(LISTED, number_or_none);
        if limit.fract() != 0.0 {
            return self.unknown_error(request.ticket);
        }
        let place = Place::asked_for(query("scope"), query("path"), query("directory"));
        let (project, directory) = {
            let directory = self.directory_of(request);
            (self.project_of(&directory), directory)
        };
        let start = query("start").map_or(0.0, number_or_none);
        let roots = query("roots") == Some("true");
        let search = query("search").filter(|words| !words.is_empty()).map(|words| format!("%{words}%"));
        // Kilo looks for a folder's sessions in all projects.
        let is_of_any = self.profile.server == ServerKind::Kilo && matches!(place, Place::Directory);
        let fits = |session: &&Session| {
            !session.is_gone
                && (is_of_any || session.project == project)
                && place.holds(session, &directory)
                && (!roots || session.parent.is_none())
                && !is_before(session.updated_ms, start)
                && search.as_deref().is_none_or(|pattern| is_like(&session.title, before_nothing(pattern)))
        };
        let mut found: Vec<&Session> = self.sessions.values().filter(fits).collect();
        found.sort_by_key(|session| Reverse(session.updated_ms));
        if limit >= 0.0 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole, and not negative"
            )]
            found.truncate(limit as usize);
        }
        if found.iter().any(|session| session.is_untold()) {
            return self.unknown_error(request.ticket);
        }
        let list = found.iter().map(|session| self.session_info(&session.id)).collect();
        self.reply_json(request.ticket, Value::Array(list));
    }

    /// `POST /session`.
    pub(super) fn new_session(&mut self, request: &ApiRequest) {
        let body = self.operations.known_body("session.create", body_of(request));
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
        let model = body.get("model").map(|model| only(model, &["id", "providerID", "variant"]));
        let wish = NewSession {
            title: text("title"),
            parent: text("parentID"),
            agent: text("agent"),
            model,
            metadata: body.get("metadata").cloned(),
            permission: body.get("permission").cloned(),
            ..NewSession::default()
        };
        let directory = self.directory_of(request);
        let id = self.create_session(&directory, wish);
        let info = self.session_info(&id);
        self.reply_json(request.ticket, info);
    }

    /// `GET /session/{id}/children`, the oldest first.
    pub(super) fn list_children(&mut self, ticket: u64, id: &str) {
        let list = self.children_of(id).iter().map(|child| self.session_info(child)).collect();
        self.reply_json(ticket, Value::Array(list));
    }

    /// The oldest first; ids of sessions sort the newest first.
    pub(super) fn children_of(&self, id: &str) -> Vec<String> {
        let children = self
            .sessions
            .values()
            .rev()
            .filter(|session| !session.is_gone && session.parent.as_deref() == Some(id));
        children.map(|session| session.id.clone()).collect()
    }

    /// `PATCH /session/{id}`: each change is told by itself. A title and an archive leave the time as it is.
    pub(super) fn patch_session(&mut self, request: &ApiRequest, id: &str) {
        let body = self.operations.known_body("session.update", body_of(request));
        if let Some(title) = body.get("title").and_then(Value::as_str) {
            self.change_session(id, |session| {
                title.clone_into(&mut session.title);
                session.has_default_title = is_default_title(title);
            });
        }
        let now = self.now_ms;
        if let Some(metadata) = body.get("metadata") {
            self.change_session(id, |session| {
                session.metadata = Some(metadata.clone());
                session.touch(now);
            });
        }
        if let Some(rules) = body.get("permission").and_then(Value::as_array) {
            self.change_session(id, |session| {
                let mut all =
                    session.permission.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
                all.extend(rules.iter().cloned());
                session.permission = Some(Value::Array(all));
                session.touch(now);
            });
        }
        if let Some(archived) = body.pointer("/time/archived").filter(|archived| !archived.is_null()) {
            self.drop_goal(id);
            self.change_session(id, |session| session.archived = Some(archived.clone()));
        }
        let info = self.session_info(id);
        self.reply_json(request.ticket, info);
    }

    /// Changes a session and tells it.
    pub(crate) fn change_session(&mut self, id: &str, change: impl FnOnce(&mut Session)) {
        if let Some(session) = self.sessions.get_mut(id) {
            change(session);
            self.emit_session_updated(id);
        }
    }

    /// `DELETE /session/{id}`: the children go first.
    pub(super) fn delete_session(&mut self, ticket: u64, id: &str) {
        self.remove_session(id);
        self.reply_json(ticket, json!(true));
    }

    fn remove_session(&mut self, id: &str) {
        for child in self.children_of(id) {
            self.remove_session(&child);
        }
        self.stop_processes_of(id);
        let info = self.session_info(id);
        self.emit_synced(id, "session.deleted", json!({"sessionID": id, "info": info}));
        self.told.forget(id);
        self.alongside.given.remove(id);
        self.cancel_wakeups_of(id);
        let Some(session) = self.sessions.get_mut(id) else { return };
        if self.profile.session_summary && !session.diff.is_empty() {
            let mut diff = session.diff.clone();
            diff.iter_mut().for_each(patch::unquote_name);
            self.left_diffs.insert(id.to_owned(), diff);
            if self.left_diffs.len() > LEFT_DIFFS {
                // The newest session is the first.
                self.left_diffs.pop_last();
            }
        }
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.is_gone = true;
        if session.run.is_none() {
            self.sessions.remove(id);
        }
    }

    /// Says that a session has something to do.
    pub(super) fn refuse_while_busy(&mut self, ticket: u64, session: &str) -> bool {
        let is_busy = self.sessions.get(session).is_some_and(|owner| owner.run.is_some());
        if is_busy {
            let message = format!("Session is busy: {session}");
            let body = json!({"_tag": "SessionBusyError", "sessionID": session, "message": message});
            self.reply(ticket, 409, ReplyBody::Json(body));
        }
        is_busy
    }
}

/// Which part of a project is listed.
enum Place<'a> {
    Everywhere,
    /// A folder of the project and all below it; for who names a directory too, that directory.
    Path(&'a str),
    Directory,
}

impl<'a> Place<'a> {
    fn asked_for(scope: Option<&str>, path: Option<&'a str>, directory: Option<&str>) -> Self {
        match (path, directory.filter(|directory| !directory.is_empty())) {
            (Some(""), _) => Self::Everywhere,
            (Some(path), _) => Self::Path(path),
            (None, Some(_)) if scope != Some("project") => Self::Directory,
            (None, _) => Self::Everywhere,
        }
    }

    fn holds(&self, session: &Session, directory: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Path(path) => {
                let own = session.path.as_deref();
                own.is_some_and(|own| own == *path || is_like(own, before_nothing(&format!("{path}/%"))))
            }
            Self::Directory => session.directory == directory,
        }
    }
}

/// A number as JavaScript reads it; what is none counts as not said.
fn number_or_none(text: &str) -> f64 {
    javascript::number(text).filter(|number| number.is_finite()).unwrap_or(-1.0)
}

fn is_before(ms: u64, start: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are exact for ages")]
    let ms = ms as f64;
    start > 0.0 && ms < start
}

/// The servers' store reads a pattern up to the letter that is none.
fn before_nothing(word: &str) -> &str {
    word.split('\0').next().unwrap_or_default()
}

/// SQL's `LIKE`: `%` is any text, `_` any letter, and ASCII letters are the same in both cases.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    let pattern: Vec<char> = pattern.chars().map(|letter| letter.to_ascii_lowercase()).collect();
    // Which beginnings of the text the pattern so far fits.
    let mut fits = vec![false; text.len() + 1];
    fits[0] = true;
    for letter in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match letter {
                '%' => fits[at] || at > 0 && next[at - 1],
                _ => at > 0 && fits[at - 1] && (letter == '_' || letter == text[at - 1]),
            };
        }
        fits = next;
    }
    fits[text.len()]
}

/// These fields of an object.
fn only(value: &Value, keys: &[&str]) -> Value {
    let fields = keys.iter().filter_map(|&key| Some((key.to_owned(), value.get(key)?.clone())));
    Value::Object(fields.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_found_as_sqlite_finds_them() {
        for (text, pattern, fits) in [
            ("Gamma alpha", "%ALPHA%", true),
            ("Gamma alpha", "%a%a%", true),
            ("Gamma", "G_mm_", true),
            ("Gamma", "G_mm__", false),
            ("Ärger", "%ä%", false),
            ("", "%", true),
            ("sub/x", "sub/%", true),
            ("subway", "sub/%", false),
        ] {
            assert_eq!(is_like(text, pattern), fits, "{text} like {pattern}");
        }
    }

    #[test]
    fn what_is_no_number_is_below_all() {
        assert_eq!(["", " 2 ", "abc", "Infinity"].map(number_or_none), [0.0, 2.0, -1.0, -1.0]);
    }
}
