//! Which part of a conversation counts: what lies before its last summary does not, and a turn that has prompts of its
//! own sees no others that came meanwhile.

use super::World;
use super::session::{Message, Session};
use crate::profile::FollowUps;
use serde_json::Value;

/// Work that a prompt asks for outside of the usual steps.
#[derive(Debug, Clone)]
pub(crate) struct Errand {
    /// The message of the prompt that it is done for: the latest, whoever asked.
    pub(crate) message: String,
    /// The part that asks for it.
    pub(crate) part: Value,
}

impl World {
    /// What counts of a session's conversation, as its turn sees it.
    pub(crate) fn history<'s>(&self, owner: &'s Session) -> Vec<&'s Message> {
        let messages = since_summary(&owner.messages);
        if self.profile.follow_ups == FollowUps::NextStep {
            return messages;
        }
        trimmed(in_scope(owner, messages))
    }

    /// What is to be done next: an errand, a summary when there is no more room, or the agent's next step.
    pub(crate) fn next_step(&mut self, session: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let asked = owner.run.as_ref().and_then(|run| owner.message(&run.prompt));
        let model = asked.map(|asked| asked.info["model"].clone()).unwrap_or_default();
        if let Some(mistake) = self.lacks_model(session, &model) {
            return self.break_off(session, Some(mistake));
        }
        if let Some(run) = self.run_mut(session) {
            run.rounds += 1;
        }
        let Some(owner) = self.sessions.get(session) else { return };
        match self.next_errand(owner) {
            Some(errand) if errand.part["type"] == "subtask" => self.begin_subtask(session, errand),
            Some(errand) => self.begin_compaction(session, &errand),
            None if self.is_full(owner) => {
                self.compact_first(session);
                self.emit_status(session, "busy");
                self.next_step(session);
            }
            None => self.begin_step(session),
        }
    }

    /// What is to be done before the agent goes on.
    fn next_errand(&self, owner: &Session) -> Option<Errand> {
        let messages = self.history(owner);
        let finished = newest(&messages, is_finished);
        let is_open = |message: &&&Message| finished.is_none_or(|finished| age(message) > age(finished));
        let is_errand = |part: &&Value| part["type"] == "compaction" || part["type"] == "subtask";
        let mut errands = messages
            .iter()
            .filter(is_open)
            .filter_map(|message| Some((*message, message.parts.iter().rfind(is_errand)?)));
        let (asked, part) =
            if self.profile.oldest_errand_first { errands.next() } else { errands.next_back() }?;
        // What an earlier turn has left undone is done for the prompt that came after it; but for a summary where each
        // prompt has its turn.
        let is_own = part["type"] == "compaction" && self.profile.follow_ups != FollowUps::NextStep;
        let latest = newest(&messages, |message| message.role() == "user");
        let message = latest.filter(|_| !is_own).map_or(asked.id(), |latest| latest.id());
        Some(Errand { message: message.to_owned(), part: part.clone() })
    }
}

/// The newest of some messages, wherever it stands: what a summary has left as it was stands behind it.
pub(crate) fn newest<'m>(messages: &[&'m Message], is_one: impl Fn(&Message) -> bool) -> Option<&'m Message> {
    messages.iter().filter(|message| is_one(message)).max_by_key(|message| age(message)).copied()
}

/// Which of two messages is the newer one: the greater.
fn age(message: &Message) -> (u64, &str) {
    (message.info["time"]["created"].as_u64().unwrap_or_default(), message.id())
}

/// Has an answer of the model an end?
pub(crate) fn is_finished(message: &Message) -> bool {
    message.role() != "user" && message.info.get("finish").is_some()
}

/// Is this a summary that can stand for what was before?
pub(crate) fn is_summary(message: &Message) -> bool {
    is_finished(message) && message.info["summary"] == true && message.info.get("error").is_none()
}

pub(crate) fn compaction_of(message: &Message) -> Option<&Value> {
    message.parts.iter().find(|part| part["type"] == "compaction")
}

/// From the last summary on; the tail that it leaves as it was stands behind it.
pub(crate) fn since_summary(messages: &[Message]) -> Vec<&Message> {
    let mut kept: Vec<&Message> = Vec::new();
    let mut summed_up: Vec<&str> = Vec::new();
    let mut until: Option<&str> = None;
    for message in messages.iter().rev() {
        kept.push(message);
        if let Some(first) = until {
            if message.id() == first {
                break;
            }
            continue;
        }
        if message.role() == "user" && summed_up.contains(&message.id()) {
            let Some(compaction) = compaction_of(message) else { continue };
            match compaction["tail_start_id"].as_str() {
                Some(first) if first != message.id() => until = Some(first),
                _ => break,
            }
        }
        if is_summary(message) {
            summed_up.extend(message.info["parentID"].as_str());
        }
    }
    kept.reverse();
    tail_behind_summary(kept)
}

fn tail_behind_summary(messages: Vec<&Message>) -> Vec<&Message> {
    let tail_of =
        |message: &Message| Some(compaction_of(message)?.get("tail_start_id")?.as_str()?.to_owned());
    let Some(asked) = messages.iter().rposition(|message| tail_of(message).is_some()) else {
        return messages;
    };
    let is_answer = |message: &&Message| {
        message.info["summary"] == true && message.info["parentID"] == messages[asked].id()
    };
    let answered = messages.iter().skip(asked + 1).position(is_answer).map(|at| at + asked + 1);
    let first = tail_of(messages[asked]);
    let tail = messages.iter().position(|message| Some(message.id()) == first.as_deref());
    match (tail, answered) {
        (Some(tail), Some(answered)) if tail < asked => {
            let parts = [&messages[asked..=answered], &messages[tail..asked], &messages[answered + 1..]];
            parts.concat()
        }
        _ => messages,
    }
}

/// A turn of its own sees no prompts that came behind its own, which stand last.
fn in_scope<'s>(owner: &'s Session, messages: Vec<&'s Message>) -> Vec<&'s Message> {
    let Some(run) = owner.run.as_ref() else { return messages };
    let Some(base) = run.base.as_deref() else { return messages };
    let is_own = |id: &str| id == base || run.prompts.iter().any(|prompt| prompt == id);
    let is_late = |id: &str| id > base && !is_own(id);
    let late: Vec<&str> =
        messages.iter().filter(|m| m.role() == "user" && is_late(m.id())).map(|m| m.id()).collect();
    let prompt_of = |message: &'s Message| -> &'s str {
        if message.role() == "user" {
            message.id()
        } else {
            message.info["parentID"].as_str().unwrap_or_default()
        }
    };
    let seen = messages.into_iter().filter(|message| !late.contains(&prompt_of(message)));
    let (last, earlier): (Vec<_>, Vec<_>) = seen.partition(|message| is_own(prompt_of(message)));
    earlier.into_iter().chain(last).collect()
}

/// Nothing stands before the last summary.
fn trimmed(messages: Vec<&Message>) -> Vec<&Message> {
    let Some(summary) = messages.iter().rposition(|message| is_summary(message)) else { return messages };
    let prompt = messages[summary].info["parentID"].as_str();
    match messages.iter().position(|message| Some(message.id()) == prompt) {
        Some(first) => messages[first..].to_vec(),
        None => messages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(info: Value, parts: Value) -> Message {
        Message { info, parts: parts.as_array().cloned().unwrap_or_default(), began_ms: None }
    }

    fn conversation(tail: Option<&str>) -> Vec<Message> {
        let prompt = |id: &str| message(json!({"id": id, "role": "user"}), json!([]));
        let answer = |id: &str, of: &str| {
            message(json!({"id": id, "role": "assistant", "parentID": of, "finish": "stop"}), json!([]))
        };
        let mut compaction = json!({"type": "compaction", "auto": false});
        if let Some(tail) = tail {
            compaction["tail_start_id"] = json!(tail);
        }
        let mut summary = answer("s", "c");
        summary.info["summary"] = json!(true);
        vec![
            prompt("1"),
            answer("1a", "1"),
            prompt("2"),
            answer("2a", "2"),
            message(json!({"id": "c", "role": "user"}), json!([compaction])),
            summary,
            prompt("3"),
        ]
    }

    fn ids(messages: &[Message]) -> Vec<&str> {
        since_summary(messages).iter().map(|message| message.id()).collect()
    }

    #[test]
    fn a_summary_stands_for_what_was_before() {
        assert_eq!(ids(&conversation(None)), ["c", "s", "3"]);
        assert_eq!(ids(&conversation(Some("2"))), ["c", "s", "2", "2a", "3"]);
        assert_eq!(ids(&conversation(None)[..5]), ["1", "1a", "2", "2a", "c"], "it is not there yet");
    }
}
