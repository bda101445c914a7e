//! A session's copy: the same conversation up to a prompt, with ids of its own.

use super::fork_children::end_task;
use super::routes::body_of;
use super::session::{Message, NewSession};
use super::tokens::Tokens;
use super::{ApiRequest, World};
use serde_json::{Value, json};
use std::collections::HashMap;

/// How a server marks a part that it will take away again.
const TRANSIENT: &str = "/metadata/kilocode.lifecycle";

impl World {
    /// `POST /session/{id}/fork`: everything before `messageID`, which may be left out.
    pub(super) fn fork(&mut self, request: &ApiRequest, id: &str) {
        let body = body_of(request);
        let before = body.get("messageID").and_then(Value::as_str);
        let directory = self.directory_of(request);
        let Some(source) = self.sessions.get(id) else { return };
        let until = before.and_then(|before| source.messages.iter().position(|known| known.id() == before));
        let copied: Vec<Message> = source.messages[..until.unwrap_or(source.messages.len())].to_vec();
        let wish = NewSession {
            title: Some(forked_title(&source.title)),
            source: Some(id.to_owned()),
            metadata: source.metadata.clone(),
            model: if self.profile.forks_keep_model { model_at(source, before) } else { None },
            ..NewSession::default()
        };
        let diff = source.diff.clone();
        let fork = self.create_session(&directory, wish);
        let told = self.session_info(&fork);
        self.copy_messages(&fork, copied);
        if let Some(owner) = self.sessions.get_mut(&fork) {
            owner.diff_base.clone_from(&diff);
            owner.diff = diff;
        }
        if self.profile.forks_copy_children {
            self.copy_children(&fork, &mut HashMap::from([(id.to_owned(), fork.clone())]));
        }
        self.reply_json(request.ticket, told);
    }

    pub(super) fn copy_messages(&mut self, fork: &str, copied: Vec<Message>) {
        let mut copies: HashMap<String, String> = HashMap::new();
        for Message { mut info, parts, began_ms } in copied {
            let id = self.ids.ascending("msg", self.now_ms);
            copies.insert(info["id"].as_str().unwrap_or_default().to_owned(), id.clone());
            info["id"] = json!(id);
            info["sessionID"] = json!(fork);
            let is_free = self.profile.forks_are_free;
            if is_free && info.get("cost").is_some() {
                info["cost"] = json!(0);
            }
            if let Some(parent) = info["parentID"].as_str().and_then(|parent| copies.get(parent)) {
                info["parentID"] = json!(parent);
            }
            self.push_message(fork, &id, info);
            if let Some(message) = self.sessions.get_mut(fork).and_then(|owner| owner.message_mut(&id)) {
                message.began_ms = began_ms;
            }
            for mut part in parts {
                if self.profile.forks_keep_model && part.pointer(TRANSIENT).is_some() {
                    continue;
                }
                if let Some(tail) = part["tail_start_id"].as_str().map(|tail| copies.get(tail).cloned()) {
                    part["tail_start_id"] = json!(tail);
                }
                if self.profile.forks_copy_children {
                    end_task(&mut part, self.now_ms);
                }
                if is_free && part.get("cost").is_some() {
                    part["cost"] = json!(0);
                }
                if let Some(owner) = self.sessions.get_mut(fork) {
                    owner.tokens.add(Tokens::of_part(&part));
                }
                if let Some(fields) = part.as_object_mut() {
                    for own in ["id", "sessionID", "messageID"] {
                        fields.shift_remove(own);
                    }
                }
                self.add_part(fork, &id, part);
            }
        }
    }
}

/// The model of the last prompt before a place; the session's own, if no place is named.
fn model_at(source: &super::session::Session, before: Option<&str>) -> Option<Value> {
    let Some(before) = before else { return source.model.clone() };
    let prompt = source.messages.iter().rfind(|known| known.role() == "user" && known.id() < before)?;
    let model = &prompt.info["model"];
    let mut kept = json!({"id": model["modelID"], "providerID": model["providerID"]});
    if let Some(variant) = model.get("variant") {
        kept["variant"] = variant.clone();
    }
    Some(kept)
}

/// A fork of a fork counts on.
fn forked_title(title: &str) -> String {
    let counted = title.strip_suffix(')').and_then(|title| title.rsplit_once(" (fork #"));
    match counted.and_then(|(base, number)| Some((base, number.parse::<u64>().ok()?))) {
        Some((base, number)) if !base.is_empty() => format!("{base} (fork #{})", number + 1),
        _ => format!("{title} (fork #1)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_of_a_fork_counts_on() {
        for (title, forked) in [
            ("A", "A (fork #1)"),
            ("A (fork #1)", "A (fork #2)"),
            ("A (fork #x)", "A (fork #x) (fork #1)"),
            (" (fork #1)", " (fork #1) (fork #1)"),
        ] {
            assert_eq!(forked_title(title), forked);
        }
    }
}
