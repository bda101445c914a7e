//! Old outputs of tools are forgotten where the settings ask for it: they stay as they are for the person, and the model
//! is told no more than that there was one.

use super::World;
use super::session::Message;
use crate::javascript::units;
use fixtures::ServerKind;
use serde_json::{Value, json};

/// So much of the newest outputs stays, in tokens.
const KEPT: u64 = 40_000;
/// Less than this is not worth it.
const LEAST: u64 = 20_000;
/// What is never forgotten.
const NEVER: [&str; 1] = ["skill"];

/// A tool's output that is to be forgotten: its message and its place there.
type Old = (String, usize);

impl World {
    /// A turn is over.
    pub(super) fn forget_old_outputs(&mut self, session: &str) {
        if self.compaction_settings(self.folder_of(session))["prune"] != true {
            return;
        }
        let Some(owner) = self.sessions.get(session) else { return };
        for (message, place) in old_outputs(&owner.messages, self.profile.server) {
            let Some(owner) = self.sessions.get(session) else { return };
            let Some(part) = owner.message(&message).and_then(|message| message.parts.get(place)) else {
                continue;
            };
            let mut state = part["state"].clone();
            state["time"]["compacted"] = json!(self.now_ms);
            self.change_part(session, &message, place, json!({"state": state}));
        }
    }
}

/// From the newest on: what lies behind the last prompts but one, up to a summary or to what is forgotten already.
fn old_outputs(messages: &[Message], server: ServerKind) -> Vec<Old> {
    let mut old = Vec::new();
    let (mut total, mut freed) = (0, 0);
    let (mut prompts, mut answers, mut has_summary) = (0, 0, false);
    'all: for message in messages.iter().rev() {
        let is_summary = message.role() != "user" && message.info["summary"] == true;
        prompts += usize::from(message.role() == "user");
        answers += usize::from(is_good_answer(message));
        has_summary |= is_summary;
        // Kilo counts the answers of a long turn as well.
        let is_long = server == ServerKind::Kilo && !has_summary && answers > 2;
        if prompts < 2 && !is_long {
            continue;
        }
        if is_summary {
            break;
        }
        for (place, part) in message.parts.iter().enumerate().rev() {
            let state = &part["state"];
            let is_never = NEVER.iter().any(|tool| part["tool"] == *tool);
            if part["type"] != "tool" || state["status"] != "completed" || is_never {
                continue;
            }
            if state.pointer("/time/compacted").is_some() {
                break 'all;
            }
            let size = size(&state["output"]);
            total += size;
            if total > KEPT {
                freed += size;
                old.push((message.id().to_owned(), place));
            }
        }
    }
    if freed > LEAST { old } else { Vec::new() }
}

fn is_good_answer(message: &Message) -> bool {
    let info = &message.info;
    message.role() != "user"
        && info.pointer("/time/completed").is_some()
        && info.get("finish").is_some_and(|finish| finish != "error")
        && info.get("error").is_none()
}

/// About how many tokens a text is.
fn size(text: &Value) -> u64 {
    u64::try_from(units(text.as_str().unwrap_or_default())).unwrap_or(u64::MAX).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(outputs: &[usize], prompts_behind: usize) -> Vec<Message> {
        let message = |info: Value, parts: Vec<Value>| Message { info, parts, began_ms: None };
        let prompt = |id: String| message(json!({"id": id, "role": "user"}), Vec::new());
        let answer = |id: String, parts| {
            message(json!({"id": id, "role": "assistant", "finish": "stop", "time": {"completed": 1}}), parts)
        };
        let call = |tokens: &usize| {
            json!({"type": "tool", "tool": "bash",
                   "state": {"status": "completed", "output": "x".repeat(4 * tokens), "time": {}}})
        };
        let mut all = vec![prompt("0".into()), answer("0a".into(), outputs.iter().map(call).collect())];
        for n in 1..=prompts_behind {
            all.extend([prompt(n.to_string()), answer(format!("{n}a"), Vec::new())]);
        }
        all
    }

    fn places(messages: &[Message], server: ServerKind) -> Vec<usize> {
        old_outputs(messages, server).into_iter().map(|(_, place)| place).collect()
    }

    #[test]
    fn the_oldest_outputs_are_forgotten_when_it_is_worth_it() {
        let of = |outputs: &[usize], behind| places(&conversation(outputs, behind), ServerKind::Opencode);
        assert_eq!(of(&[30_000, 30_000, 10_000], 2), [0], "the newest 40,000 stay");
        assert_eq!(of(&[10_000, 10_001, 10_000, 30_000], 2), [1, 0]);
        assert!(of(&[20_000, 40_000], 2).is_empty(), "it is not worth it");
        assert!(of(&[50_000, 50_000], 1).is_empty(), "it was for the last prompt but one");
    }

    #[test]
    fn nothing_is_forgotten_twice_nor_behind_a_summary() {
        let mut messages = conversation(&[30_000, 50_000], 2);
        assert_eq!(places(&messages, ServerKind::Opencode), [1, 0]);
        messages[1].parts[1]["state"]["time"]["compacted"] = json!(1);
        assert!(places(&messages, ServerKind::Opencode).is_empty());
        let mut messages = conversation(&[30_000, 50_000], 2);
        messages[1].info["summary"] = json!(true);
        assert!(places(&messages, ServerKind::Opencode).is_empty());
        let mut messages = conversation(&[30_000, 50_000], 2);
        messages[1].parts[1]["tool"] = json!("skill");
        assert!(places(&messages, ServerKind::Opencode).is_empty());
    }

    #[test]
    fn kilo_counts_answers_as_well() {
        let mut messages = conversation(&[50_000], 1);
        let behind = messages[3].clone();
        assert!(places(&messages, ServerKind::Kilo).is_empty());
        messages.push(behind);
        assert_eq!(places(&messages, ServerKind::Kilo), [0]);
        assert!(places(&messages, ServerKind::Opencode).is_empty());
        messages[3].info["error"] = json!({});
        assert!(places(&messages, ServerKind::Kilo).is_empty());
    }
}
