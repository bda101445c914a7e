//! Somebody who does anything at any time, but one thing after the other: what two things at once lead to is chance.

use super::agent::{WORDS, Word, agent};
use super::steps::STEPS;
use fixtures::ServerKind;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

/// A session as far as the person knows it.
#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    /// The word for its id.
    pub(super) name: String,
    /// Words for messages that were there once, the latest last.
    pub(super) messages: Vec<String>,
    /// Words for a message and for a part of it.
    pub(super) parts: Vec<(String, String)>,
    pub(super) has_prompted: bool,
    /// The name of the session that it goes with.
    pub(super) parent: Option<String>,
    /// Who works there, or what is allowed, is not what the agent's words reckon with.
    pub(super) is_odd: bool,
    /// Its events are told to others.
    pub(super) is_elsewhere: bool,
}

/// Somebody with a seed.
pub(super) struct Person {
    pub(super) server: ServerKind,
    pub(super) sessions: Vec<Session>,
    pub(super) steps: Vec<String>,
    /// What was said, by its place among the words.
    said: Vec<bool>,
    /// Names of sessions that are deleted.
    pub(super) gone: Vec<String>,
    /// Words that the agent asks about no more.
    pub(super) allowed: Vec<&'static str>,
    random: ChaCha8Rng,
    words: usize,
}

impl Person {
    pub(super) fn new(seed: u64, server: ServerKind) -> Self {
        Self {
            server,
            sessions: Vec::new(),
            steps: Vec::new(),
            said: vec![false; WORDS.len()],
            gone: Vec::new(),
            allowed: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
            words: 0,
        }
    }

    /// The scenario of a walk.
    pub(super) fn walk(mut self, steps: usize) -> String {
        self.begins_a_session();
        while self.steps.len() < steps {
            let all: u32 = STEPS.iter().map(|(_, weight)| weight).sum();
            let mut left = u32::try_from(self.below(all as usize)).unwrap_or_default();
            for (step, weight) in STEPS {
                if left < *weight {
                    step(&mut self);
                    break;
                }
                left -= weight;
            }
        }
        // The turn for everything else.
        if let Some(last) = WORDS.last() {
            let session = self.begins_a_session();
            self.says(session, last, &json!({}));
        }
        let said = self.said;
        let agent =
            agent(|word| WORDS.iter().zip(&said).any(|(known, said)| *said && known.word == word.word));
        let steps: String = self.steps.iter().map(|step| format!("  {step},\n")).collect();
        format!(
            "about = \"A random walk.\"\ntitle = \"A walk's title\"\n{agent}\n[user]\nsteps = [\n{steps}]\n"
        )
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.random.next_u64() % (end.max(1) as u64)).unwrap_or_default()
    }

    /// So many times of a hundred.
    pub(super) fn rarely(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn pick<T: Clone>(&mut self, among: &[T]) -> Option<T> {
        let at = self.below(among.len());
        among.get(at).cloned()
    }

    /// Any session; there is always one. Mostly one of the latest: something is to happen there.
    pub(super) fn alive(&mut self) -> usize {
        if self.sessions.is_empty() {
            return self.begins_a_session();
        }
        let known = self.sessions.len();
        if self.rarely(40) { self.below(known) } else { known - 1 - self.below(known.min(2)) }
    }

    pub(super) fn name(&self, session: usize) -> String {
        self.sessions.get(session).map(|session| format!("${{{}}}", session.name)).unwrap_or_default()
    }

    /// Any message that was there once, as a placeholder.
    pub(super) fn message_of(&mut self, session: usize) -> Option<String> {
        let known = self.sessions.get(session)?.messages.clone();
        self.pick(&known).map(|word| format!("${{{word}}}"))
    }

    /// A new name for what is saved.
    pub(super) fn word(&mut self, what: &str) -> String {
        self.words += 1;
        format!("{what}{}", self.words)
    }

    /// The turn of a word is needed.
    pub(super) fn needs(&mut self, word: &str) {
        if let Some(at) = WORDS.iter().position(|known| known.word == word) {
            self.said[at] = true;
        }
    }

    /// A request; what is saved of its answer is surely there.
    pub(super) fn request(&mut self, line: &str, json: Option<&Value>, save: &[(&str, &str)]) {
        self.sends(line, json, save, "");
    }

    /// A request whose answer comes when the turn is over.
    pub(super) fn request_beside(&mut self, line: &str, json: &Value) {
        self.sends(line, Some(json), &[], ", background = true");
    }

    fn sends(&mut self, line: &str, json: Option<&Value>, save: &[(&str, &str)], more: &str) {
        let body = json.map(|json| format!(", json = {}", inline(json))).unwrap_or_default();
        let saved: Vec<String> =
            save.iter().map(|(word, pointer)| format!("{word} = \"{pointer}\"")).collect();
        let save =
            if saved.is_empty() { String::new() } else { format!(", save = {{ {} }}", saved.join(", ")) };
        self.steps.push(format!("{{ request = \"{line}\"{body}{save}{more} }}"));
    }

    /// Waits for an event, and keeps a name for what stands in it.
    pub(super) fn awaits(&mut self, event: &str, containing: &str, save: Option<(&str, &str)>) {
        let save =
            save.map(|(word, pointer)| format!(", save = {{ {word} = \"{pointer}\" }}")).unwrap_or_default();
        let containing =
            if containing.is_empty() { String::new() } else { format!(", containing = {containing:?}") };
        self.steps.push(format!("{{ wait_for = {{ event = \"{event}\"{containing}{save} }} }}"));
    }

    /// Waits until what a turn leaves behind is done: no event ends it on both servers.
    pub(super) fn rests(&mut self, seconds: &str) {
        let json = json!({"agent": "general", "command": format!("sleep {seconds}")});
        self.sends("POST /session/${pause}/shell", Some(&json), &[], ", session = \"pause\"");
        // Whatever else became idle meanwhile is behind.
        self.awaits("session.idle", "${pause}", None);
    }
}

/// The words for a prompt.
pub(super) fn please(word: &Word) -> String {
    if word.word.is_empty() { "whatever".to_owned() } else { format!("please {}", word.word) }
}

/// JSON as TOML writes it in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{key:?} = {}", inline(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.to_string(),
    }
}
