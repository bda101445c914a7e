//! Names that a client chooses for itself: of a prompt and its parts, of a handshake. Whoever repeats a recorded request
//! hears its own names and may go on with them, wherever the recorded client's stood.
//!
//! Clients sort messages by their ids, which rise with time. What the server named later than a prompt moves with that
//! prompt's name, so that it stays behind it.

use super::Replay;
use super::course::What;
use crate::performer::Act;
use crate::world::ApiRequest;
use bytes::Bytes;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

/// Shorter ones are words that may stand anywhere.
const LEAST_LEN: usize = 8;
/// `msg_`, twelve digits that rise, fourteen characters of chance.
const TIME_DIGITS: usize = 12;
const CHANCE_LEN: usize = 14;
const RISING: [&str; 2] = ["msg_", "prt_"];

/// The names of the client that is here.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Recorded → the client's.
    own: HashMap<String, String>,
    /// The client's → recorded.
    recorded: HashMap<String, String>,
    /// From this recorded time on names are so much later.
    later: BTreeMap<u64, u64>,
}

impl Names {
    /// The client calls by `own` what was called `recorded`.
    pub(super) fn learn(&mut self, recorded: &str, own: &str) {
        if recorded == own || [recorded, own].iter().any(|name| name.len() < LEAST_LEN || !is_word(name)) {
            return;
        }
        if let (Some(then), Some(now)) = (time_of(recorded), time_of(own))
            && recorded.starts_with("msg_")
        {
            // One that seems to be earlier is left where it is: nothing can stay behind what was told before.
            self.later.insert(then, now.saturating_sub(then));
        }
        self.pair(recorded, own);
    }

    fn pair(&mut self, recorded: &str, own: &str) {
        self.own.insert(recorded.to_owned(), own.to_owned());
        self.recorded.insert(own.to_owned(), recorded.to_owned());
    }

    /// What a client says, in the recorded words; nothing when it says it in them.
    pub(super) fn recorded_words(&self, text: &str) -> Option<String> {
        replaced(text, |word| self.recorded.get(word).cloned())
    }

    /// What was recorded, in the client's words; nothing when they are the same.
    pub(super) fn own_words(&mut self, text: &str) -> Option<String> {
        if self.own.is_empty() {
            return None;
        }
        replaced(text, |word| {
            if let Some(own) = self.own.get(word) {
                return Some(own.clone());
            }
            let own = self.moved(word)?;
            self.pair(word, &own);
            Some(own)
        })
    }

    /// A name that the server gave after a prompt.
    fn moved(&self, word: &str) -> Option<String> {
        let time = time_of(word)?;
        let (_, later) = self.later.range((Bound::Unbounded, Bound::Included(time))).next_back()?;
        let moved = time.checked_add(*later).filter(|moved| *later > 0 && *moved < 1 << (4 * TIME_DIGITS))?;
        let (kind, rest) = word.split_at(RISING[0].len());
        Some(format!("{kind}{moved:0TIME_DIGITS$x}{}", &rest[TIME_DIGITS..]))
    }
}

impl Replay {
    /// Notes what a client calls by names of its own in a request that repeats the recorded cause `index`.
    pub(super) fn learn_names(&mut self, index: usize, sent: &[u8]) {
        let cause = &self.course.causes[index];
        let Some(own) = cause.asks.own_name() else { return };
        let Ok(sent) = serde_json::from_slice::<Value>(sent) else { return };
        let recorded = serde_json::from_slice::<Value>(&cause.body).unwrap_or_default();
        let mut pairs = Vec::new();
        let told = self.told_prompt(index);
        let names = |body: &Value| body.pointer(own)?.as_str().map(str::to_owned);
        let prompt = names(&recorded).or_else(|| told.as_ref().map(|(prompt, _)| prompt.clone()));
        pairs.extend(prompt.zip(names(&sent)));
        let told_parts = told.map(|(_, parts)| parts).unwrap_or_default();
        let (before, now) = (parts_of(&recorded), parts_of(&sent));
        for (at, part) in now.iter().enumerate() {
            let Some(own) = part["id"].as_str() else { continue };
            let named = before.get(at).and_then(|part| part["id"].as_str());
            let same = |told: &&Value| told["type"] == part["type"] && told["text"] == part["text"];
            let named = named.or_else(|| told_parts.iter().find(same).and_then(|told| told["id"].as_str()));
            pairs.extend(named.map(|named| (named.to_owned(), own.to_owned())));
        }
        for (recorded, own) in pairs {
            self.names.learn(&recorded, &own);
        }
    }

    /// The name that the server gave to the prompt of a cause whose client left that to it, and the prompt's parts.
    fn told_prompt(&self, index: usize) -> Option<(String, Vec<Value>)> {
        let session = self.course.causes[index].asks.session()?;
        let is_cause = |what: &What| matches!(what, What::Cause(cause) if *cause == index);
        let begin = self.course.moments.iter().position(|moment| is_cause(&moment.what))?;
        let sent = |at: usize| Some(&self.course.moments[at].what.sent()?.event);
        let is_here = |event: &&Value| text(event, "/properties/sessionID") == session;
        let before: HashSet<&str> = (0..begin).filter_map(sent).filter_map(prompt_of).collect();
        let mut later = (begin..self.course.moments.len()).filter_map(sent).filter(is_here);
        let prompt = later.by_ref().filter_map(prompt_of).find(|prompt| !before.contains(prompt))?;
        let parts = later.filter(|event| event["type"] == "message.part.updated");
        let parts = parts.map(|event| &event["properties"]["part"]);
        Some((prompt.to_owned(), parts.filter(|part| part["messageID"] == prompt).cloned().collect()))
    }

    /// A request in the recorded words.
    pub(super) fn in_recorded_words(&self, mut request: ApiRequest) -> ApiRequest {
        let to_recorded = |text: &mut String| {
            if let Some(recorded) = self.names.recorded_words(text) {
                *text = recorded;
            }
        };
        to_recorded(&mut request.path);
        request.query.iter_mut().for_each(|(_, value)| to_recorded(value));
        if let Some(body) =
            std::str::from_utf8(&request.body).ok().and_then(|body| self.names.recorded_words(body))
        {
            request.body = body.into();
        }
        request
    }

    /// What is sent, in the words of the client.
    pub(super) fn in_own_words(&mut self, mut acts: Vec<Act>) -> Vec<Act> {
        for act in &mut acts {
            let bytes = match act {
                Act::Reply(_, reply) => &mut reply.body,
                Act::Send(_, frame) => &mut frame.bytes,
                _ => continue,
            };
            if let Some(own) = std::str::from_utf8(bytes).ok().and_then(|text| self.names.own_words(text)) {
                *bytes = Bytes::from(own);
            }
        }
        acts
    }
}

/// The person's message that an event tells of.
fn prompt_of(event: &Value) -> Option<&str> {
    let is_prompt = event["type"] == "message.updated" && text(event, "/properties/info/role") == "user";
    is_prompt.then(|| text(event, "/properties/info/id"))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn parts_of(body: &Value) -> &[Value] {
    body["parts"].as_array().map_or(&[], Vec::as_slice)
}

fn time_of(name: &str) -> Option<u64> {
    let rest = RISING.iter().find_map(|kind| name.strip_prefix(kind))?;
    let is_whole = rest.len() == TIME_DIGITS + CHANCE_LEN && rest.is_ascii();
    is_whole.then(|| u64::from_str_radix(&rest[..TIME_DIGITS], 16).ok())?
}

fn is_word(name: &str) -> bool {
    name.chars().all(is_of_word)
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// The text with other words, if there is any.
fn replaced(text: &str, mut other: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let (mut made, mut kept) = (String::new(), 0);
    let mut rest = 0;
    while let Some(mut begin) = text[rest..].find(is_of_word).map(|at| rest + at) {
        // In JSON the first letter after a backslash belongs to that.
        begin += usize::from(text[..begin].ends_with('\\'));
        let end = text[begin..].find(|character| !is_of_word(character)).map_or(text.len(), |at| begin + at);
        if end - begin >= LEAST_LEN
            && let Some(word) = other(&text[begin..end])
        {
            made += &text[kept..begin];
            made += &word;
            kept = end;
        }
        rest = end;
    }
    (kept > 0).then(|| made + &text[kept..])
}

#[cfg(test)]
mod tests;
