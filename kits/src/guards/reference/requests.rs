//! Requests that may fail: tries with longer and longer waits.

use super::{Reference, text};
use crate::adapter::Screen;
use serde_json::{Value, json};

/// As many tries as there are when nobody says otherwise.
const TRIES: u64 = 3;
const FIRST_WAIT_MS: f64 = 1000.0;
const LONGEST_WAIT_MS: f64 = 60_000.0;

/// By their status, what may succeed when it is tried again.
pub(super) fn may_succeed(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 520..=524 | 529)
}

impl Reference {
    /// Asks an address, again and again if need be.
    pub(super) async fn operate(&self, params: &Value, screen: &Screen) -> Value {
        let tries = params["maxAttempts"].as_u64().unwrap_or(TRIES);
        let tries = match self.mutant {
            Some("one-try-less") => tries.saturating_sub(1).max(1),
            Some("one-try-more") => tries + 1,
            _ => tries,
        };
        let nothing = if self.is("zero-tries-say-undefined") { "undefined" } else { "no try was allowed" };
        let mut last = json!({"message": nothing});
        let mut wait = FIRST_WAIT_MS;
        for attempt in 1..=tries {
            let (again, error) = match self.client.post(text(&params["url"])).body("{}").send().await {
                Ok(answer) if answer.status().is_success() => return json!({"ok": true}),
                Ok(answer) => {
                    let status = answer.status().as_u16();
                    (
                        may_succeed(status),
                        json!({"message": format!("the host says {status}"), "status": status}),
                    )
                }
                Err(_) => (true, json!({"message": "there was no answer"})),
            };
            last = error;
            let is_over = attempt == tries || !(again || self.is("tries-everything"));
            if is_over && !self.is("waits-after-last-try") {
                break;
            }
            let longest = if self.is("no-longest-wait") { f64::INFINITY } else { LONGEST_WAIT_MS };
            screen.wait(wait.min(longest)).await;
            if !self.is("same-waits") {
                wait *= 2.0;
            }
        }
        json!({"ok": false, "error": last})
    }
}

/// A text without what looks like a key.
pub(super) fn without_keys(told: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let mut clean = String::new();
    for word in told.split_inclusive(|letter| !is_part(letter)) {
        let (name, end) = match word.strip_suffix(|letter| !is_part(letter)) {
            Some(name) => (name, &word[name.len()..]),
            None => (word, ""),
        };
        clean.push_str(if name.starts_with("sk-") { "(a key)" } else { name });
        clean.push_str(end);
    }
    clean
}
