//! What faults do to the answer of a request.

use super::plan::Struck;
use crate::performer::WireReply;
use bytes::Bytes;
use fixtures::fault_plan::Action;
use fixtures::fault_plan::action::{Side, Status};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What happens to one answer, and to the connection that it is written to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerFaults {
    /// It waits before it begins, and before it is written.
    pub late_ms: (u64, u64),
    /// It is not begun with, or not written.
    pub hangs: Option<Side>,
    /// The connection is reset instead.
    pub resets: Option<Side>,
    /// This is answered.
    pub status: Option<Status>,
    /// It is said to be of this type.
    pub content_type: Option<String>,
    /// After so many bytes of its body the connection is closed.
    pub truncate: Option<usize>,
    /// It is the one of the time before.
    pub is_stale: bool,
    /// The request in words, if its answer is to be remembered.
    pub asked: Option<String>,
}

impl AnswerFaults {
    /// What stands later in the plan wins.
    #[must_use]
    pub fn of(struck: &Struck) -> Self {
        let mut faults = Self::default();
        for (_, action) in &struck.actions {
            match action {
                Action::Status(status) => faults.status = Some(status.clone()),
                Action::Retype(retype) => faults.content_type = Some(retype.content_type.clone()),
                Action::Truncate(truncate) => faults.truncate = Some(truncate.truncate),
                Action::Late(late) if late.of == Side::Request => {
                    faults.late_ms.0 = faults.late_ms.0.saturating_add(late.late_ms)
                }
                Action::Late(late) => faults.late_ms.1 = faults.late_ms.1.saturating_add(late.late_ms),
                Action::Hang(hang) => faults.hangs = Some(hang.hang),
                Action::ResetAt(reset) => faults.resets = Some(reset.reset),
                Action::Stale(_) => faults.is_stale = true,
                _ => {}
            }
        }
        faults
    }

    /// Is there an answer without the server?
    #[must_use]
    pub fn instead(&self) -> Option<&Status> {
        self.status.as_ref().filter(|status| !status.performed)
    }

    /// The answer of the server as it is written.
    #[must_use]
    pub fn altered(&self, mut reply: WireReply, now_ms: u64) -> WireReply {
        if let Some(status) = &self.status {
            reply = reply_of(status, now_ms);
        }
        if let Some(kind) = &self.content_type {
            reply.content_type = Some(kind.clone());
        }
        reply
    }
}

/// What a plan answers at this time, in milliseconds since 1970.
#[must_use]
pub fn reply_of(status: &Status, now_ms: u64) -> WireReply {
    let (kind, body) = match &status.body {
        None => (None, Bytes::new()),
        Some(Value::String(text)) => (Some("text/plain; charset=utf-8"), Bytes::from(text.clone())),
        Some(json) => (Some("application/json"), Bytes::from(json.to_string())),
    };
    let kind = status.content_type.clone().or_else(|| kind.map(str::to_owned));
    let mut reply = WireReply::new(status.status, kind, body);
    let now = UNIX_EPOCH + Duration::from_millis(now_ms);
    for (name, value) in &status.headers {
        let dated = dated(value, now);
        if dated.is_some() {
            // Whoever counts from this date needs no clock that goes as ours does.
            reply.headers.push(("date".into(), httpdate::fmt_http_date(now)));
        }
        reply.headers.push((name.clone().into(), dated.unwrap_or_else(|| value.clone())));
    }
    reply
}

/// A header with a date in the place of `${in 3 s}`.
fn dated(value: &str, now: SystemTime) -> Option<String> {
    let (before, rest) = value.split_once("${in ")?;
    let (seconds, after) = rest.split_once(" s}")?;
    let later = now.checked_add(Duration::from_secs(seconds.parse().ok()?))?;
    Some(format!("{before}{}{after}", httpdate::fmt_http_date(later)))
}

/// The last answers to requests that a fault answers as the time before.
#[derive(Debug, Clone, Default)]
pub struct LastAnswers {
    kept: Arc<Mutex<BTreeMap<String, WireReply>>>,
}

/// More requests are not remembered, nor longer answers.
const KEPT_MAX: usize = 1000;
const BYTES_MAX: usize = 1024 * 1024;

impl LastAnswers {
    /// A request in words, as it came.
    #[must_use]
    pub fn name(method: &str, path_and_query: &str, directory: Option<&str>) -> String {
        format!("{method} {path_and_query} {directory:?}")
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, WireReply>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is there an answer of the time before?
    #[must_use]
    pub fn has(&self, request: &str) -> bool {
        self.kept().contains_key(request)
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.kept().clear();
    }

    /// The answer of the time before, and remembers this one.
    #[must_use]
    pub fn swapped(&self, request: &str, reply: &WireReply) -> Option<WireReply> {
        let mut kept = self.kept();
        if reply.body.len() > BYTES_MAX || (kept.len() >= KEPT_MAX && !kept.contains_key(request)) {
            return kept.get(request).cloned();
        }
        kept.insert(request.to_owned(), reply.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_say_a_date_that_is_to_come_and_the_answer_says_its_own_then() {
        let written = |value: &str| {
            let status = serde_json::json!({"status": 503, "headers": {"retry-after": value}});
            let reply = reply_of(&serde_json::from_value(status).unwrap(), 784_111_777_900);
            let headers = reply.headers.iter().map(|(name, value)| format!("{name}: {value}"));
            headers.collect::<Vec<_>>()
        };
        assert_eq!(written("3"), ["retry-after: 3"]);
        assert_eq!(
            written("${in 30 s}"),
            ["date: Sun, 06 Nov 1994 08:49:37 GMT", "retry-after: Sun, 06 Nov 1994 08:50:07 GMT"]
        );
        assert_eq!(written("${in a while}"), ["retry-after: ${in a while}"]);
    }
}
