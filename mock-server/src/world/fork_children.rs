//! The sessions that a fork's tasks were done in are copied with it, and what it says of them is about the copies.

use super::World;
use super::session::NewSession;
use super::tools::resumable;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Where a task's call tells of its session; the first that is there counts.
const SESSION_OF_TASK: &[&str] = &[
    "/state/metadata/sessionId",
    "/state/metadata/sessionID",
    "/metadata/sessionId",
    "/metadata/sessionID",
    "/state/input/task_id",
];
/// Where ids of sessions stand in such a call.
const IDS_OF_TASK: &[&str] = &[
    "/metadata/sessionId",
    "/metadata/sessionID",
    "/metadata/parentSessionId",
    "/metadata/parentSessionID",
    "/state/metadata/sessionId",
    "/state/metadata/sessionID",
    "/state/metadata/parentSessionId",
    "/state/metadata/parentSessionID",
    "/state/input/task_id",
];

impl World {
    /// Copies the children of a copy; `copies` knows what was copied as what.
    pub(super) fn copy_children(&mut self, copy: &str, copies: &mut HashMap<String, String>) {
        let Some(owner) = self.sessions.get(copy) else { return };
        let directory = owner.directory.clone();
        let parts = owner.messages.iter().flat_map(|message| &message.parts);
        let children: Vec<String> =
            parts.filter_map(|part| session_of_task(part)).map(str::to_owned).collect();
        for child in children {
            let source = self.sessions.get(&child).filter(|source| !source.is_gone);
            let Some(source) = source.filter(|_| !copies.contains_key(&child)) else { continue };
            let wish = NewSession {
                title: Some(source.title.clone()),
                parent: Some(copy.to_owned()),
                agent: source.agent.clone(),
                model: source.model.clone(),
                metadata: source.metadata.clone(),
                permission: source.permission.clone(),
                ..NewSession::default()
            };
            let messages = source.messages.clone();
            let own = self.create_session(&directory, wish);
            self.copy_messages(&own, messages);
            copies.insert(child, own.clone());
            self.copy_children(&own, copies);
        }
        self.name_copies(copy, copies);
    }

    /// What is said of the originals is said of the copies.
    fn name_copies(&mut self, session: &str, copies: &HashMap<String, String>) {
        let Some(owner) = self.sessions.get(session) else { return };
        let mut changed = Vec::new();
        for message in &owner.messages {
            for (place, part) in message.parts.iter().enumerate() {
                if let Some(part) = renamed(part, copies) {
                    changed.push((message.id().to_owned(), place, part));
                }
            }
        }
        for (message, place, part) in changed {
            self.change_part(session, &message, place, part);
        }
    }
}

fn is_task(part: &Value) -> bool {
    part["type"] == "tool" && part["tool"] == "task"
}

/// Nobody works any more for a copied task that still runs.
pub(super) fn end_task(part: &mut Value, now: u64) {
    let is_running = is_task(part) && matches!(part["state"]["status"].as_str(), Some("running" | "pending"));
    let Some(child) = session_of_task(part).filter(|_| is_running).map(resumable) else { return };
    let state = &part["state"];
    part["state"] = json!({
        "status": "error", "input": state["input"],
        "error": format!("Task was still running when this session was forked.\n{child}"),
        "metadata": state["metadata"], "time": {"start": state["time"]["start"], "end": now},
    });
}

fn session_of_task(part: &Value) -> Option<&str> {
    let mut told = SESSION_OF_TASK.iter().filter_map(|place| part.pointer(place)?.as_str());
    if is_task(part) { told.next() } else { None }
}

/// A part that is told again: a text that names an original, and every task.
fn renamed(part: &Value, copies: &HashMap<String, String>) -> Option<Value> {
    let in_text = |text: &str| {
        let original = text.to_owned();
        copies.iter().fold(original, |text, (original, copy)| text.replace(original, copy))
    };
    let mut renamed = part.clone();
    let places: &[&str] = if is_task(part) {
        for id in IDS_OF_TASK {
            if let Some(id) = renamed.pointer_mut(id)
                && let Some(copy) = id.as_str().and_then(|id| copies.get(id))
            {
                *id = Value::from(copy.as_str());
            }
        }
        match part.pointer("/state/status").and_then(Value::as_str) {
            Some("completed") => &["/state/output"],
            Some("error") => &["/state/error"],
            _ => &[],
        }
    } else if part["type"] == "text" {
        &["/text"]
    } else {
        return None;
    };
    for place in places {
        if let Some(text) = renamed.pointer_mut(place) {
            *text = Value::from(in_text(text.as_str().unwrap_or_default()));
        }
    }
    (is_task(part) || renamed != *part).then_some(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_told_again_and_texts_that_name_an_original() {
        let copies = HashMap::from([("ses_a".to_owned(), "ses_b".to_owned())]);
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(renamed(&text("see ses_a"), &copies), Some(text("see ses_b")));
        assert_eq!(renamed(&text("see ses_c"), &copies), None);
        let task = |id: &str| {
            let output = format!("<task id=\"{id}\">");
            json!({"type": "tool", "tool": "task", "state": {
                "status": "completed", "input": {"task_id": id}, "output": output, "metadata": {"sessionId": id},
            }})
        };
        assert_eq!(renamed(&task("ses_a"), &copies), Some(task("ses_b")));
        assert_eq!(renamed(&task("ses_c"), &copies), Some(task("ses_c")));
        assert_eq!(session_of_task(&task("ses_a")), Some("ses_a"));
    }
}
