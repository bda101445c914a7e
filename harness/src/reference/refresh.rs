//! Decision 7 in progress: what was fetched so far, and the events that wait until all of it is here.

use super::event::{self, Event};
use super::timeline::Timeline;
use crate::protocol::{Permission, TaskState};
use serde_json::Value;
use std::collections::BTreeMap;

/// One thing that is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fetch {
    /// The messages of a task.
    Messages {
        /// Which task.
        task_id: String,
    },
    /// The status of all sessions.
    Status,
    /// The permission requests of all sessions.
    Permissions,
}

/// A refresh that waits for its answers.
#[derive(Debug, Default)]
pub(super) struct Refresh {
    /// Request → what it fetches.
    waiting: BTreeMap<u64, Fetch>,
    timelines: BTreeMap<String, Timeline>,
    status: BTreeMap<String, TaskState>,
    /// Session → what it asks for.
    permissions: BTreeMap<String, Vec<Permission>>,
    /// Events of this stream, with their sessions, in order.
    pub(super) buffered: Vec<(String, Event)>,
}

impl Refresh {
    /// A request was made.
    pub(super) fn expect(&mut self, request: u64, fetch: Fetch) {
        self.waiting.insert(request, fetch);
    }

    /// Takes the answer to `request`, if it is one of this refresh; is everything here now? The error says what is
    /// missing and, where it is one task's, whose.
    pub(super) fn take(
        &mut self,
        request: u64,
        body: Result<&str, String>,
    ) -> Result<bool, (Option<String>, String)> {
        let Some(fetch) = self.waiting.remove(&request) else {
            return Ok(false);
        };
        let read = body.and_then(|body| self.read(&fetch, body));
        match (read, fetch) {
            (Ok(()), _) => Ok(self.waiting.is_empty()),
            (Err(why), Fetch::Messages { task_id }) => Err((Some(task_id), format!("messages: {why}"))),
            (Err(why), Fetch::Status) => Err((None, format!("status: {why}"))),
            (Err(why), Fetch::Permissions) => Err((None, format!("permissions: {why}"))),
        }
    }

    fn read(&mut self, fetch: &Fetch, body: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(body).map_err(|error| format!("bad JSON: {error}"))?;
        match fetch {
            Fetch::Messages { task_id } => {
                self.timelines.insert(task_id.clone(), Timeline::from_rest(task_id, &value)?);
            }
            Fetch::Status => {
                for (session, status) in value.as_object().ok_or("not a map of sessions")? {
                    self.status.insert(session.clone(), event::status(status)?);
                }
            }
            Fetch::Permissions => {
                for asked in value.as_array().ok_or("not a list")? {
                    let session = asked["sessionID"].as_str().ok_or("field `sessionID` is missing")?;
                    self.permissions.entry(session.to_owned()).or_default().push(event::permission(asked)?);
                }
            }
        }
        Ok(())
    }

    /// What was fetched of a task; a session that the server does not list is idle.
    pub(super) fn of(
        &mut self,
        task_id: &str,
        session_id: &str,
    ) -> Option<(Timeline, TaskState, Vec<Permission>)> {
        let timeline = self.timelines.remove(task_id)?;
        let status = self.status.get(session_id).copied().unwrap_or_default();
        Some((timeline, status, self.permissions.remove(session_id).unwrap_or_default()))
    }
}
