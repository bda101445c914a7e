//! A conversation in the window of a model: what stays, what goes, and what happens when it is still too long.

use super::{Reference, text};
use crate::adapter::Screen;
use serde_json::{Value, json};

/// So much of the window may be filled.
const FULL: f64 = 0.75;
const LAST: usize = 5;
const MORE_TRIES: usize = 3;
/// A summary is so long.
const SUMMARY: f64 = 10.0;

#[derive(Clone)]
struct Message {
    id: String,
    tokens: f64,
    /// The other half of a call and its result.
    pair: Option<String>,
}

struct Fitted {
    messages: Vec<Message>,
    summary: f64,
    forced: bool,
}

impl Reference {
    pub(super) async fn converse(&self, params: &Value, screen: &Screen) -> Value {
        let tokens = |name: &str| params[name]["tokens"].as_f64().unwrap_or_default();
        let fixed = tokens("system") + tokens("tools") + tokens("environment");
        let all = params["messages"].as_array().into_iter().flatten();
        let all: Vec<Message> = all
            .map(|message| Message {
                id: text(&message["id"]).to_owned(),
                tokens: message["tokens"].as_f64().unwrap_or_default(),
                pair: message["calls"].as_str().or(message["answers"].as_str()).map(str::to_owned),
            })
            .collect();
        let mut limit = params["limit"].as_f64().unwrap_or_default();
        let mut smallest = f64::INFINITY;
        let mut was_told = false;
        let most = if self.is("tries-window-for-ever") { 20 } else { MORE_TRIES };
        for attempt in 0..=most {
            let mut fitted = self.fitted(fixed, &all, limit);
            // Each try is smaller than the one before.
            while sum(fixed, &fitted) >= smallest
                && fitted.messages.len() > 1
                && !self.is("sends-window-again")
            {
                drop_oldest(&mut fitted.messages, !self.is("parts-pairs-in-retries"));
            }
            smallest = sum(fixed, &fitted);
            if fitted.forced && !was_told && !self.is("silent-force") {
                was_told = true;
                let level = if self.is("forces-in-passing") { "info" } else { "warning" };
                let text = "Late messages were left out.";
                screen.show(json!({"kind": "notice", "level": level, "text": text}));
            }
            let body = json!({"parts": self.parts(&fitted, attempt), "summaryTokens": fitted.summary});
            let sent = self.client.post(text(&params["url"])).body(body.to_string()).send().await;
            if sent.is_ok_and(|answer| answer.status().is_success()) {
                return json!({"ok": true});
            }
            if !self.is("sends-window-again") {
                limit *= FULL;
            }
        }
        json!({"ok": false, "error": {"message": "the conversation does not fit"}})
    }

    fn fitted(&self, fixed: f64, all: &[Message], limit: f64) -> Fitted {
        let full = limit * if self.is("compresses-late") { 0.9 } else { FULL };
        let mut fitted = Fitted { messages: all.to_vec(), summary: 0.0, forced: false };
        let total = sum(fixed, &fitted);
        if total < full || (total <= full && !self.is("compresses-at-75")) {
            return fitted;
        }
        fitted.summary = if self.is("drops-without-summary") { 0.0 } else { SUMMARY };
        fitted.messages = all[all.len().saturating_sub(LAST)..].to_vec();
        if !self.is("parts-pairs") {
            fitted.messages = with_calls(&fitted.messages, all);
        }
        while sum(fixed, &fitted) > full && fitted.messages.len() > 1 && !self.is("never-forced") {
            fitted.forced = true;
            if self.is("pops-the-newest") {
                fitted.messages.pop();
            } else {
                drop_oldest(&mut fitted.messages, true);
            }
        }
        if fitted.forced && self.is("forces-all-away") {
            let last = fitted.messages.split_off(fitted.messages.len().saturating_sub(1));
            fitted.messages = last;
        }
        fitted
    }

    fn parts(&self, fitted: &Fitted, attempt: usize) -> Vec<String> {
        let mut parts = vec!["system".to_owned()];
        let has_no_tools = (self.is("drops-tools-first") && fitted.summary > 0.0)
            || (self.is("retries-without-tools") && attempt > 0);
        if !has_no_tools {
            parts.push("tools".to_owned());
        }
        parts.extend(fitted.messages.iter().map(|message| message.id.clone()));
        // What is said of the environment stands before the person's last words.
        let last = parts.len().saturating_sub(1);
        let is_lost = fitted.forced && self.is("pops-the-newest");
        let at = if fitted.messages.is_empty() || is_lost { parts.len() } else { last };
        parts.insert(at, "environment".to_owned());
        parts
    }
}

fn sum(fixed: f64, fitted: &Fitted) -> f64 {
    fixed + fitted.summary + fitted.messages.iter().map(|message| message.tokens).sum::<f64>()
}

/// A result brings its call along, and a call its result.
fn with_calls(kept: &[Message], all: &[Message]) -> Vec<Message> {
    let is_kept = |id: &str| kept.iter().any(|message| message.id == id);
    let stays = |message: &&Message| is_kept(&message.id) || message.pair.as_deref().is_some_and(is_kept);
    all.iter().filter(stays).cloned().collect()
}

/// The oldest message goes, and the other half of its pair, if that has to be whole.
fn drop_oldest(messages: &mut Vec<Message>, is_whole: bool) {
    if messages.is_empty() {
        return;
    }
    let oldest = messages.remove(0);
    messages.retain(|message| !is_whole || oldest.pair.as_deref() != Some(message.id.as_str()));
}
