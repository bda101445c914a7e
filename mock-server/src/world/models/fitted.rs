//! What the servers do to a conversation for models of some families, whoever serves them: a `claude` is shown what to keep
//! in its cache, a `mistral` knows short numbers of calls alone, and no person who speaks behind a tool.

use super::by_name::thinks_in;
use fixtures::ServerKind;
use serde_json::{Value, json};

/// Set by who tells an answer: it ends in words, behind its calls.
pub(in crate::world) const ENDS_IN_WORDS: &str = "ends in words";
/// Models of one family, by what their names have in them.
const MISTRALS: [&str; 5] = ["mistral", "devstral", "codestral", "pixtral", "mixtral"];
/// So long is the number of a call that such a model knows.
const CALL_LENGTH: usize = 9;
/// What it is said to have answered before a person speaks.
const DONE: &str = "Done.";
/// Whom a claude's own provider serves.
const OF_CLAUDE: [&str; 2] = ["anthropic", "google-vertex-anthropic"];
/// So many of the first and of the last messages are marked.
const MARKED: usize = 2;
/// What stands behind every prompt of Kilo's is other every time, and not marked.
const CHANGING: &str = "<environment_details>";

/// The model that a conversation is for.
pub(in crate::world) struct For<'n> {
    pub(in crate::world) server: ServerKind,
    pub(in crate::world) provider: &'n str,
    /// As the settings have it.
    pub(in crate::world) model: &'n str,
    /// As its provider knows it.
    pub(in crate::world) id: &'n str,
    /// What the settings say of it.
    pub(in crate::world) said: &'n Value,
}

impl For<'_> {
    /// The conversation as this model gets it.
    pub(in crate::world) fn fit(&self, mut messages: Vec<Value>) -> Vec<Value> {
        let lower = self.id.to_lowercase();
        if self.id.contains("claude") {
            rename_calls(&mut messages, |call| {
                call.chars().map(|c| if is_plain(c) || matches!(c, '_' | '-') { c } else { '_' }).collect()
            });
        }
        if self.provider == "mistral" || MISTRALS.iter().any(|name| lower.contains(name)) {
            rename_calls(&mut messages, |call| {
                let short: String = call.chars().filter(|c| is_plain(*c)).take(CALL_LENGTH).collect();
                format!("{short:0<CALL_LENGTH$}")
            });
            messages = answered(messages);
        } else if let Some(field) = thinks_in(self.id, self.said) {
            tell_thoughts(&mut messages, field);
        }
        let is_claude = |name: &str| name.contains("claude") || name.contains("anthropic");
        if OF_CLAUDE.contains(&self.provider) || is_claude(self.id) || is_claude(self.model) {
            self.mark(&mut messages);
        }
        for message in messages.iter_mut().filter_map(Value::as_object_mut) {
            message.shift_remove(ENDS_IN_WORDS);
        }
        messages
    }

    /// The first words of the system and the end of the conversation are to be kept.
    fn mark(&self, messages: &mut [Value]) {
        let is_system = |message: &Value| message["role"] == "system";
        messages.iter_mut().filter(|message| is_system(message)).take(MARKED).for_each(mark);
        // The results of a step are one message to the servers.
        let one = |before: &Value, next: &Value| before["role"] == "tool" && next["role"] == "tool";
        let groups = messages.chunk_by_mut(one).filter(|group| !is_system(&group[0]));
        for message in
            groups.collect::<Vec<_>>().into_iter().rev().take(MARKED).filter_map(<[Value]>::last_mut)
        {
            self.mark_end(message);
        }
    }

    /// The last part of a message is marked, as far as it goes over the wire by itself.
    fn mark_end(&self, message: &mut Value) {
        if !message[ENDS_IN_WORDS].is_null() {
            return;
        }
        let is_kilo = self.server == ServerKind::Kilo;
        let changes = |part: &Value| {
            is_kilo && part["text"].as_str().is_some_and(|text| text.trim_start().starts_with(CHANGING))
        };
        if message["role"] == "assistant" {
            let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
            if let Some(last) = calls.and_then(|calls| calls.last_mut()) {
                mark(last);
            }
        } else if let Some(parts) = message["content"].as_array_mut() {
            let at = parts.iter().rposition(|part| !changes(part)).or(parts.len().checked_sub(1));
            if let Some(part) = at.and_then(|at| parts.get_mut(at)) {
                mark(part);
            }
        } else {
            mark(message);
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn mark(thing: &mut Value) {
    if let Some(fields) = thing.as_object_mut() {
        fields.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Gives the calls and their results other numbers.
fn rename_calls(messages: &mut [Value], name: impl Fn(&str) -> String) {
    let rename = |place: Option<&mut Value>| {
        if let Some(id) = place
            && let Some(known) = id.as_str()
        {
            *id = json!(name(known));
        }
    };
    for message in messages {
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            rename(call.get_mut("id"));
        }
        rename(message.get_mut("tool_call_id"));
    }
}

/// A model is told in its own field what it has thought, also where that is nothing.
fn tell_thoughts(messages: &mut [Value], field: &str) {
    let answers = messages.iter_mut().filter(|message| message["role"] == "assistant");
    for answer in answers.filter_map(Value::as_object_mut) {
        let thought = answer.shift_remove("reasoning_content").unwrap_or_else(|| json!(""));
        answer.insert(field.to_owned(), thought);
    }
}

/// Between a tool and a person there is an answer.
fn answered(messages: Vec<Value>) -> Vec<Value> {
    let mut told: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "user" && told.last().is_some_and(|before| before["role"] == "tool") {
            told.push(json!({"role": "assistant", "content": DONE}));
        }
        told.push(message);
    }
    told
}
