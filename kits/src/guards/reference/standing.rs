//! State that stays as long as it should, and copies of a conversation.

use super::{Reference, text};
use harness::protocol::RpcError;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is kept in memory.
#[derive(Default)]
pub(super) struct Standing {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    session: Map<String, Value>,
    messages: Vec<Value>,
    every: u64,
    most: u64,
}

impl Standing {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reference {
    /// The file of a scope; a session has none.
    fn scope_file(&self, scope: &str) -> Option<PathBuf> {
        let state = self.state();
        let folder = state.state_folder.join("scopes");
        let workspace = state.roots.first().map(|root| root.display().to_string().replace('/', "%"));
        let workspace = if self.is("one-workspace") { None } else { workspace };
        match scope {
            "workspace" => Some(folder.join(format!("workspace {}.json", workspace.unwrap_or_default()))),
            "session" if !self.is("session-stays") => None,
            _ => Some(folder.join(format!("{scope}.json"))),
        }
    }

    pub(super) fn scope(&self, scope: &str) -> Map<String, Value> {
        match self.scope_file(scope) {
            Some(file) => {
                let kept = fs::read_to_string(file).unwrap_or_default();
                serde_json::from_str(&kept).unwrap_or_default()
            }
            None => self.standing.inner().session.clone(),
        }
    }

    pub(super) fn set(&self, scope: &str, name: &str, value: &Value) -> Result<Value, RpcError> {
        let mut all = self.scope(scope);
        if !(self.is("first-value-stays") && all.contains_key(name)) {
            all.insert(name.to_owned(), value.clone());
        }
        let is_kept = !(scope == "global" && self.is("forgets-global"));
        match self.scope_file(scope).filter(|_| is_kept) {
            Some(file) => {
                let failed = |error: std::io::Error| RpcError::failed(error.to_string());
                file.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
                fs::write(file, json!(all).to_string()).map_err(failed)?;
            }
            None => self.standing.inner().session = all,
        }
        Ok(json!({}))
    }

    fn copies_folder(&self) -> PathBuf {
        self.state().state_folder.join("copies")
    }

    /// The conversation of which copies are made, as it was when the program ended.
    pub(super) fn recall(&self) {
        let kept = fs::read_to_string(self.conversation_file()).unwrap_or_default();
        let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
        let number = |name: &str| kept[name].as_u64().unwrap_or_default();
        let messages = kept["messages"].as_array().cloned().unwrap_or_default();
        let messages = if self.is("counts-in-memory") { Vec::new() } else { messages };
        let mut inner = self.standing.inner();
        (inner.every, inner.most, inner.messages) = (number("every"), number("most"), messages);
    }

    fn conversation_file(&self) -> PathBuf {
        self.state().state_folder.join("conversation.json")
    }

    fn keep_conversation(&self) -> Result<(), RpcError> {
        let kept = {
            let inner = self.standing.inner();
            json!({"every": inner.every, "most": inner.most, "messages": inner.messages})
        };
        fs::write(self.conversation_file(), kept.to_string())
            .map_err(|error| RpcError::failed(error.to_string()))
    }

    /// A conversation begins, of which there is nothing to keep yet.
    pub(super) fn remember(&self, params: &Value) -> Result<Value, RpcError> {
        let number = |name: &str| params[name].as_u64().unwrap_or_default();
        {
            let mut inner = self.standing.inner();
            *inner = Inner { every: number("every"), most: number("most"), ..Inner::default() };
        }
        self.keep_conversation()?;
        if self.is("copy-of-nothing") && number("every") > 0 {
            self.copy()?;
        }
        Ok(json!({}))
    }

    pub(super) fn hear(&self, message: &Value) -> Result<Value, RpcError> {
        let (count, every) = {
            let mut inner = self.standing.inner();
            inner.messages.push(message.clone());
            (inner.messages.len() as u64, inner.every)
        };
        self.keep_conversation()?;
        if every == 0 && self.is("divides-by-zero") {
            return Err(RpcError::failed("division by zero"));
        }
        let count = if self.is("copies-late") { count.saturating_sub(1) } else { count };
        // Every zero messages is never.
        if count > 0 && count.checked_rem(every) == Some(0) {
            self.copy()?;
        }
        Ok(json!({}))
    }

    fn copy(&self) -> Result<(), RpcError> {
        let (messages, most) = {
            let inner = self.standing.inner();
            (inner.messages.clone(), inner.most)
        };
        let folder = self.copies_folder();
        let failed = |error: std::io::Error| RpcError::failed(error.to_string());
        fs::create_dir_all(&folder).map_err(failed)?;
        fs::write(folder.join(format!("{:08}.json", messages.len())), json!(messages).to_string())
            .map_err(failed)?;
        let copies = self.copy_files();
        let most = if self.is("copies-never-go") { u64::MAX } else { most };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        for old in &copies[..copies.len().saturating_sub(most)] {
            fs::remove_file(old).map_err(failed)?;
        }
        Ok(())
    }

    /// The oldest first.
    fn copy_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.copies_folder()).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    pub(super) fn copies(&self) -> Value {
        let count = |file: PathBuf| {
            let kept = fs::read_to_string(file).unwrap_or_default();
            serde_json::from_str::<Vec<Value>>(&kept).unwrap_or_default().len()
        };
        let copies: Vec<usize> = self.copy_files().into_iter().map(count).collect();
        json!({"copies": copies})
    }

    /// All state, by its scopes.
    pub(super) fn dump(&self) -> Result<Value, RpcError> {
        let settings =
            fs::read_to_string(self.state().state_folder.join("settings.json")).unwrap_or_default();
        let mut global = self.scope("global");
        {
            let state = self.state();
            global.insert("allowedCommands".to_owned(), state.list.told());
            global.insert("settings".to_owned(), json!(settings));
            if self.is("key-in-state") {
                global.insert("apiKey".to_owned(), json!(state.key));
            }
        }
        Ok(json!({"global": global, "workspace": self.scope("workspace"), "session": self.scope("session")}))
    }

    /// The variables of a server of tools, where a mutant keeps them with the workspace.
    pub(super) fn keep_settings(&self, params: &Value) -> Result<(), RpcError> {
        let told = if self.is("server-settings-in-state") {
            params.clone()
        } else {
            json!({"command": params["command"]})
        };
        self.set("workspace", &format!("server {}", text(&params["name"])), &told).map(drop)
    }
}
