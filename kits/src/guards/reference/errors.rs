//! Errors: what each is about, whether to try again, a line in the log, a report if the person wants it.

use super::requests::{may_succeed, without_keys};
use super::{Reference, text};
use crate::adapter::Screen;
use serde_json::{Value, json};

/// Connections that may be there a moment later.
const PASSING: [&str; 8] = [
    "EAI_AGAIN",
    "ECONNABORTED",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "EPIPE",
    "ETIMEDOUT",
];
/// Codes of files.
const OF_FILES: [&str; 14] = [
    "EACCES",
    "EBUSY",
    "EEXIST",
    "EISDIR",
    "ELOOP",
    "EMFILE",
    "ENAMETOOLONG",
    "ENOENT",
    "ENOSPC",
    "ENOTDIR",
    "ENOTEMPTY",
    "EPERM",
    "EROFS",
    "EXDEV",
];

/// What an error is about, and whether the same thing is worth another try.
fn sorted(provoked: &Value) -> (&'static str, bool) {
    match provoked["http"]["status"].as_u64().and_then(|status| u16::try_from(status).ok()) {
        Some(status) => ("api", may_succeed(status)),
        None => thrown(&provoked["thrown"]),
    }
}

fn thrown(error: &Value) -> (&'static str, bool) {
    let code = text(&error["code"]);
    if PASSING.contains(&code) || code.starts_with("UND_ERR_") {
        return ("network", true);
    }
    if code == "ENOTFOUND" || code.contains("CERT") {
        return ("network", false);
    }
    if OF_FILES.contains(&code) {
        return ("filesystem", false);
    }
    match text(&error["name"]) {
        "TimeoutError" => ("network", true),
        "AbortError" => ("network", false),
        "ValidationError" | "ZodError" | "SyntaxError" => ("validation", false),
        _ if error["cause"].is_object() => thrown(&error["cause"]),
        _ => ("internal", false),
    }
}

/// What a mutant makes of the words of an error.
fn by_words(provoked: &Value) -> (&'static str, bool) {
    let words = provoked.to_string().to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    match () {
        () if has(&["timeout", "network", "econn", "fetch failed"]) => ("network", true),
        () if has(&["status", "503"]) => ("api", true),
        () if has(&["file"]) => ("filesystem", false),
        () => ("internal", false),
    }
}

impl Reference {
    pub(super) async fn handle(&self, provoked: &Value, screen: &Screen) -> Value {
        let (category, retryable) = match self.mutant {
            Some("sorts-by-words") => by_words(provoked),
            Some("calls-all-internal") => ("internal", sorted(provoked).1),
            _ => sorted(provoked),
        };
        let body = provoked["http"]["body"].as_str();
        let message = body.unwrap_or_else(|| text(&provoked["thrown"]["message"]));
        let details = if self.is("says-key") { message.to_owned() } else { without_keys(message) };
        let words = match category {
            "api" => "The provider could not answer.",
            "network" => "There is no connection.",
            "filesystem" => "A file could not be read or written.",
            "validation" => "That can't be used as it is.",
            _ => "Something went wrong in this program.",
        };
        let begins = if self.is("logs-no-category") { "failed" } else { category };
        screen.show(json!({"kind": "log", "text": format!("{begins}: {details}")}));
        if self.is("logs-twice") {
            screen.show(json!({"kind": "log", "text": format!("failed: {category}")}));
        }
        let sink = self.state().reports_to.clone();
        if let Some(sink) = sink {
            let report = match self.is("reports-nothing") {
                true => json!({}).to_string(),
                false => json!({"category": category, "retryable": retryable}).to_string(),
            };
            // A report that is lost is no second error.
            let _lost = self.client.post(sink).body(report).send().await;
        }
        let details = if self.is("no-details") { String::new() } else { details };
        json!({"category": category, "retryable": retryable, "userMessage": words, "technicalDetails": details})
    }
}
