//! The person's key: kept in its own folder, used, and forgotten.

use super::Reference;
use super::requests::without_keys;
use crate::adapter::Screen;
use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harness::protocol::RpcError;
use serde_json::{Value, json};
use std::fs;

impl Reference {
    pub(super) fn store(&self, key: &str, screen: &Screen) -> Result<Value, RpcError> {
        {
            let mut state = self.state();
            let failed = |error: std::io::Error| RpcError::failed(error.to_string());
            if !self.is("key-in-memory-only") {
                fs::write(&state.secret_file, self.disguised(key)).map_err(failed)?;
            }
            state.key = Some(key.to_owned());
            state.has_logged_out = false;
            let settings = match self.mutant {
                Some("key-in-settings") => Some(json!({"apiKey": key})),
                Some("key-in-base64") => Some(json!({"account": STANDARD.encode(format!("user:{key}"))})),
                _ => None,
            };
            if let Some(settings) = settings {
                fs::write(state.state_folder.join("settings.json"), settings.to_string()).map_err(failed)?;
            }
        }
        let shown = if self.is("logs-key") { key } else { "a key" };
        screen.show(json!({"kind": "log", "text": format!("stored {shown}")}));
        Ok(json!({}))
    }

    /// Asks a provider with the person's key, if there is one.
    pub(super) async fn use_key(&self, url: &str) -> Value {
        let mut request = self.client.post(url).body("{}");
        if let Some(key) = self.key() {
            request = request.bearer_auth(key);
        }
        let answer = match request.send().await {
            Ok(answer) => answer.text().await.unwrap_or_default(),
            Err(_) => "there was no answer".to_owned(),
        };
        let said = if self.is("says-key") { answer } else { without_keys(&answer) };
        json!({"ok": false, "message": said})
    }

    pub(super) fn log_out(&self) -> Result<Value, RpcError> {
        let mut state = self.state();
        state.has_logged_out = true;
        if !self.is("uses-key-after-logout") {
            state.key = None;
        }
        let done = match self.mutant {
            Some("logout-in-memory" | "key-in-memory-only") => Ok(()),
            Some("logout-by-mark") => fs::write(state.state_folder.join("logged-out"), ""),
            _ => fs::remove_file(&state.secret_file),
        };
        done.map_err(|error| RpcError::failed(error.to_string()))?;
        Ok(json!({}))
    }

    fn key(&self) -> Option<String> {
        let state = self.state();
        match self.mutant {
            Some("uses-key-after-logout" | "key-in-memory-only") => return state.key.clone(),
            Some("logout-in-memory") if state.has_logged_out => return None,
            Some("logout-by-mark") if state.state_folder.join("logged-out").exists() => return None,
            _ => {}
        }
        fs::read_to_string(&state.secret_file).ok().map(|kept| self.disguised(&kept))
    }

    /// A mutant keeps a key so that nobody finds it there: backwards.
    fn disguised(&self, key: &str) -> String {
        if self.is("logout-in-memory") { key.chars().rev().collect() } else { key.to_owned() }
    }
}
