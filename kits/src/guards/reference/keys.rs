//! The person's key: kept in its own folder, used, and forgotten.

use super::Reference;
use super::requests::without_keys;
use crate::adapter::Screen;
use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD;
use harness::protocol::RpcError;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use tokio::process::{Child, Command};

impl Reference {
    pub(super) fn store(&self, key: &str, screen: &Screen) -> Result<Value, RpcError> {
        {
            let mut state = self.state();
            let failed = |error: std::io::Error| RpcError::failed(error.to_string());
            let keeps = self.is("keeps-the-first-key") && state.secret_file.exists();
            if !self.is("key-in-memory-only") && !keeps {
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
        let shown = match self.mutant {
            Some("logs-key") => key.to_owned(),
            Some("logs-most-of-key") => {
                let shown = key.len().saturating_sub(4);
                format!("{}****", &key[..shown])
            }
            _ => "a key".to_owned(),
        };
        screen.show(json!({"kind": "log", "text": format!("stored {shown}")}));
        Ok(json!({}))
    }

    /// Asks a provider with the person's key, if there is one.
    pub(super) async fn use_key(&self, url: &str) -> Value {
        let _helper = self.helper(url);
        let answer = match self.post_with_key(&self.client, url).await {
            Ok(_) if self.is("key-follows-redirect") => self.follow_with_key(url).await,
            answer => answer,
        };
        let answer = match answer {
            Ok(answer) => answer.text().await.unwrap_or_default(),
            Err(_) => "there was no answer".to_owned(),
        };
        let said = if self.is("says-key") { answer } else { without_keys(&answer) };
        json!({"ok": false, "message": said})
    }

    /// Whoever is asked elsewhere by a redirect is told no key: the client sees to that.
    async fn post_with_key(&self, client: &Client, url: &str) -> reqwest::Result<Response> {
        let request = client.post(url).body("{}");
        match self.key() {
            Some(key) => request.bearer_auth(key).send().await,
            None => request.send().await,
        }
    }

    /// The way of a mutant: where it is told to go it says all that it has said before.
    async fn follow_with_key(&self, url: &str) -> reqwest::Result<Response> {
        let client = Client::builder().no_proxy().redirect(Policy::none()).build()?;
        let answer = self.post_with_key(&client, url).await?;
        let place = answer.headers().get("location").and_then(|place| place.to_str().ok());
        match place.map(str::to_owned) {
            Some(place) => self.post_with_key(&client, &place).await,
            None => Ok(answer),
        }
    }

    /// A mutant has a program that asks in its place; it is told the key when it is started.
    fn helper(&self, url: &str) -> Option<Child> {
        let key = self.key().filter(|_| self.is("key-in-arguments"))?;
        let mut helper = Command::new("/bin/sh");
        helper.args(["-c", "read -r _; exit 0", "helper", url, &format!("Bearer {key}")]);
        helper.stdin(Stdio::piped()).kill_on_drop(true).spawn().ok()
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
