//! What Kilo tells late. Where it may keep no files (there is no repository, or the client is an agent's), it looks anew in
//! each step whether it does, and what the model says waits for that, while its calls begin: who edits is asked before
//! anybody has heard of the call, a file has changed by then, and a call is told as it stands when the look is over. An
//! answer that is aborted meanwhile nobody hears of: its message is without parts.

use super::{Effect, Purpose, World};
use crate::options::Standing;
use fixtures::ServerKind;
use serde_json::Value;
use std::collections::BTreeSet;

/// So long it looks: 40 ms on a quiet machine, 60 to 110 in the recordings.
const LOOK_MS: u64 = 100;

/// Events of an answer that is not told yet.
#[derive(Debug, Default)]
pub(crate) struct Late {
    events: Vec<Waiting>,
    /// The calls that have worked for longer than the look takes.
    worked: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Waiting {
    kind: &'static str,
    properties: Value,
}

/// What takes longer than the look: files and lines, and what comes over a line.
const SLOW: [&str; 7] = ["apply_patch", "edit", "glob", "grep", "read", "webfetch", "write"];
/// The parts of an answer, and what is told of them piece by piece.
const PARTS: [&str; 2] = ["message.part.updated", "message.part.delta"];
/// What is told of a message when its parts are.
const BEHIND: [&str; 2] = ["message.updated", "message.part.removed"];

impl World {
    /// An answer begins.
    pub(crate) fn begin_late(&mut self, session: &str) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let is_late = self.profile.server == ServerKind::Kilo
            && self.config.standing != Standing::BehindDesign
            && (!self.keeps_files() || self.repository_of(&directory).is_none());
        if !is_late {
            return;
        }
        let until_ms = self.now_ms + LOOK_MS;
        let Some(run) = self.run_mut(session) else { return };
        run.late = Some(Late::default());
        let look = Purpose::Late(session.to_owned(), run.message.clone());
        self.effect(look, Effect::Wait { until_ms });
    }

    /// The look is over.
    pub(super) fn looked_late(&mut self, session: &str, message: &str) {
        if self.run_mut(session).is_some_and(|run| run.message == message) {
            self.tell_late(session);
        }
    }

    /// The turn is aborted: what was not told by now never is.
    pub(super) fn unsay(&mut self, session: &str) {
        let Some(run) = self.run_mut(session).filter(|run| run.late.is_some()) else { return };
        run.begin_answer();
        let id = run.message.clone();
        let message = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&id));
        if let Some(message) = message {
            message.parts.clear();
        }
    }

    /// Tells what has waited, each call as it stands.
    pub(crate) fn tell_late(&mut self, session: &str) {
        let Some(late) = self.run_mut(session).and_then(|run| run.late.take()) else { return };
        for Waiting { kind, properties } in late.events {
            match kind {
                "message.part.delta" => self.emit_session(session, kind, properties),
                _ => self.emit_synced(session, kind, properties),
            }
        }
    }

    /// A call has its result. What a slow one has done before is told by itself.
    pub(crate) fn work_late(&mut self, session: &str, call: usize) {
        let Some((message, place)) = self.call_part(session, call) else { return };
        let id =
            self.part_mut(session, &message, place).and_then(|part| Some(part["id"].as_str()?.to_owned()));
        let Some(run) = self.run_mut(session) else { return };
        let is_slow = run.calls.get(call).is_some_and(|call| SLOW.contains(&call.tool.as_str()));
        if let (true, Some(late), Some(id)) = (is_slow, &mut run.late, id) {
            late.worked.insert(id);
        }
    }

    /// An event of a session: it comes back if it is to be told now.
    pub(super) fn unless_late(&mut self, session: &str, kind: &str, properties: Value) -> Option<Value> {
        let Some(run) = self.run_mut(session).filter(|run| run.late.is_some()) else {
            return Some(properties);
        };
        let of = properties["part"]["messageID"].as_str().or(properties["messageID"].as_str());
        let is_its = of == Some(&run.message) || properties["info"]["id"] == *run.message;
        let part = PARTS.into_iter().find(|part| *part == kind).filter(|_| is_its);
        match (part, &mut run.late) {
            (Some(kind), Some(late)) => {
                late.take(Waiting { kind, properties });
                None
            }
            _ => {
                if is_its && BEHIND.contains(&kind) {
                    self.tell_late(session);
                }
                Some(properties)
            }
        }
    }
}

impl Late {
    /// That a call runs is told once, as long as it does not work for longer.
    fn take(&mut self, event: Waiting) {
        let is_running = |event: &Waiting| event.properties["part"]["state"]["status"] == "running";
        let id = &event.properties["part"]["id"];
        if id.as_str().is_some_and(|id| self.worked.contains(id)) {
            return self.events.push(event);
        }
        let told =
            self.events.iter_mut().find(|told| is_running(told) && told.properties["part"]["id"] == *id);
        match told {
            Some(told) if is_running(&event) => *told = event,
            _ => self.events.push(event),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn that_a_call_runs_is_told_once_where_it_was_told_first() {
        let mut late = Late::default();
        let part = |id: &str, status: &str, metadata: &str| Waiting {
            kind: "message.part.updated",
            properties: json!({"part": {"id": id, "state": {"status": status, "metadata": metadata}}}),
        };
        let text = Waiting { kind: "message.part.updated", properties: json!({"part": {"id": "t"}}) };
        late.take(part("a", "pending", ""));
        late.take(part("a", "running", "first"));
        late.take(text.clone());
        late.take(part("b", "running", "other"));
        late.take(part("a", "running", "last"));
        let wanted =
            [part("a", "pending", ""), part("a", "running", "last"), text, part("b", "running", "other")];
        assert_eq!(late.events, wanted);
        late.worked.insert("b".to_owned());
        late.take(part("b", "running", "its output"));
        assert_eq!(late.events.len(), 5, "a call that works is told of again");
    }
}
