//! What a tool may be let at: what lies in a workspace, wherever links lead, and is neither ignored nor protected.

use super::{Reference, lists, text};
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Files that nobody edits, whatever the ignore file says.
const PROTECTED: [&str; 2] = [".guardignore", ".guardprotect"];

impl Reference {
    /// May a tool be let at a path?
    pub(super) fn lets_at(&self, params: &Value) -> Result<bool, RpcError> {
        let state = self.state();
        if state.path_breaks {
            // A guard that can't tell says no, aloud.
            return if self.is("throw-means-yes") {
                Ok(true)
            } else {
                Err(RpcError::failed("paths can't be read"))
            };
        }
        let named = params["roots"].as_array();
        let named = named.map(|roots| roots.iter().map(|root| PathBuf::from(text(root))).collect());
        let roots: Vec<PathBuf> = named.unwrap_or_else(|| state.roots.clone());
        let path = text(&params["path"]);
        let path = if self.is("cuts-at-nul") { path.split('\0').next().unwrap_or_default() } else { path };
        if self.is("lets-at-devices") && path.starts_with("/dev/") {
            return Ok(true);
        }
        let Some(target) = lists::absolute(&roots, path).filter(|_| !self.is("refuses-all")) else {
            return Ok(false);
        };
        let take = if self.is("first-root-only") { 1 } else { roots.len() };
        let mut absolute = roots.iter().filter(|root| root.is_absolute()).take(take);
        let inside = match self.is("starts-with") {
            true => {
                absolute.any(|root| target.display().to_string().starts_with(&*root.display().to_string()))
            }
            false => absolute.any(|root| target.starts_with(lists::folded(root))),
        };
        if !inside || self.is("ignores-nothing") {
            return Ok(inside);
        }
        // Where links lead out, whatever the text says, nothing is done; a path of the corpus is on no disk.
        let real = roots.iter().filter_map(|root| fs::canonicalize(root).ok()).collect::<Vec<_>>();
        if self.is("makes-before-it-looks") && params["op"] == "write" {
            // Whoever can't make it has made nothing.
            let _made = fs::OpenOptions::new().create_new(true).write(true).open(&target);
        }
        let leads = match self.is("realpath-of-what-exists") {
            true => fs::canonicalize(&target).ok(),
            false => lists::leads_to(&target),
        };
        let stays = self.is("starts-with")
            || (self.is("reads-through-links") && params["op"] == "read")
            || real.is_empty()
            || leads.as_ref().is_none_or(|leads| real.iter().any(|root| leads.starts_with(root)));
        let name = state.roots.first().and_then(|root| target.strip_prefix(root).ok());
        // A link may lead to an ignored file of the same workspace.
        let led = leads.filter(|_| self.asks_where_it_leads(&target)).and_then(|leads| {
            let root = fs::canonicalize(state.roots.first()?).ok()?;
            leads.strip_prefix(root).map(Path::to_path_buf).ok()
        });
        let written = Path::new(path);
        let name = if self.is("ignores-as-written") { Some(written) } else { name };
        let is_listed = |name: &Path| {
            let is_there = !self.is("ignores-what-exists") || target.exists();
            is_there && state.ignored.as_ref().is_some_and(|known| lists::is_ignored(known, name))
        };
        let is_protected = |name: &Path| {
            let is_whole = |file: &&&str| name == Path::new(file) || !self.is("ignores-as-written");
            params["op"] == "write" && PROTECTED.iter().filter(is_whole).any(|file| name.ends_with(file))
        };
        let is_closed = |name: &Path| is_listed(name) || is_protected(name);
        Ok(stays && !name.is_some_and(is_closed) && !led.as_deref().is_some_and(is_closed))
    }

    /// Does it matter for the ignore file where a path leads? Mutants follow no link, or none on the way.
    fn asks_where_it_leads(&self, target: &Path) -> bool {
        !self.is("starts-with")
            && !self.is("ignores-by-name")
            && (!self.is("ignores-as-written") || target.is_symlink())
    }

    pub(super) fn act(&self, params: &Value) -> Result<Value, RpcError> {
        if !self.lets_at(params)? {
            return Ok(json!({"done": false}));
        }
        let roots = self.state().roots.clone();
        let target = lists::absolute(&roots, text(&params["path"])).unwrap_or_default();
        let failed = |error: std::io::Error| RpcError::failed(error.to_string());
        if params["op"] == "read" {
            let content = fs::read_to_string(target).map_err(failed)?;
            return Ok(json!({"done": true, "content": content}));
        }
        fs::write(target, text(&params["content"])).map_err(failed)?;
        Ok(json!({"done": true}))
    }
}
