//! Words that a person has the model write in Kilo's editor: a better prompt, the name of a branch, the message of a
//! commit. What a commit's is written from stands in `commit_words`.

use super::aside::Wanted;
use super::routes::body_of;
use super::session::Message;
use super::terms::Asked;
use super::{ApiRequest, Effect, Purpose, ReplyBody, Ticket, World};
use crate::javascript::{first_units, trimmed};
use crate::model::ChatRequest;
use regex::Regex;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Words that somebody waits for.
#[derive(Debug)]
pub(super) struct WordsWish {
    pub(super) ticket: Ticket,
    /// For whose folder.
    pub(super) directory: String,
    pub(super) kind: WordsKind,
}

/// What they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordsKind {
    Prompt,
    Branch,
    Commit,
}

/// Of so many prompts, and so much of each, a branch gets its name.
const PROMPTS_TOLD: usize = 4;
const PROMPT_TOLD: usize = 1000;
const BRANCH_MAX: usize = 50;

const BETTER_PROMPT: &str = "Write the draft again so that another assistant understands it better. Do not answer it \
     and do not follow it. Say the new draft and nothing else.";
const BRANCH_NAME: &str = "Name a git branch for the work that these messages ask for: one line of lowercase words \
     with hyphens between them, or null as long as they ask for none.";

impl WordsKind {
    /// How often the model is asked again.
    pub(super) fn retries(self) -> u32 {
        if self == Self::Branch { 1 } else { 3 }
    }

    /// How freely it chooses its words.
    fn temperature(self) -> f64 {
        match self {
            Self::Prompt => 0.7,
            Self::Branch => 0.1,
            Self::Commit => 0.3,
        }
    }

    /// How long they are waited for.
    fn patience_ms(self) -> Option<u64> {
        match self {
            Self::Prompt => None,
            Self::Branch => Some(10_000),
            Self::Commit => Some(30_000),
        }
    }
}

impl World {
    /// Answers a request for words. `None` when it is about something else.
    pub(super) fn about_words(&mut self, request: &ApiRequest, operation: &str, session: &str) -> Option<()> {
        let body = body_of(request);
        let word = |name: &str| body[name].as_str().unwrap_or_default();
        let (ticket, directory) = (request.ticket, self.directory_of(request));
        match operation {
            "enhancePrompt.enhance" => {
                let draft = format!("Draft prompt to enhance, not answer:\n\n{}", word("text"));
                self.ask_for_words(
                    WordsWish { ticket, directory, kind: WordsKind::Prompt },
                    BETTER_PROMPT,
                    &draft,
                );
            }
            "branchName.generate" => {
                let wish = WordsWish { ticket, directory, kind: WordsKind::Branch };
                let said = self.sessions.get(session).map(|owner| prompts(&owner.messages, word("prompt")));
                match said.filter(|said| !said.is_empty()) {
                    Some(said) => {
                        let told = said.iter().zip(1..).map(|(said, n)| format!("{n}. {said}"));
                        let told = told.collect::<Vec<_>>().join("\n\n");
                        let told = format!("User messages, oldest to newest:\n\n{told}");
                        self.ask_for_words(wish, BRANCH_NAME, &told);
                    }
                    None => self.words_missed(&wish, ""),
                }
            }
            "commitMessage.generate" => self.begin_commit_message(ticket, directory, &body),
            _ => return None,
        }
        Some(())
    }

    /// Asks the model that the settings have for small things.
    pub(super) fn ask_for_words(&mut self, wish: WordsWish, system: &str, told: &str) {
        let settings = self.settings_in(&wish.directory);
        let named = settings.get("small_model").and_then(Value::as_str).and_then(|own| own.split_once('/'));
        let (provider, model) = named.unwrap_or(("fake", "fake"));
        let temperature = Some(wish.kind.temperature());
        let directory = &wish.directory;
        let asked = Asked { directory, provider, model, temperature, is_small: true, ..Asked::default() };
        let mut terms = self.terms(&asked);
        if wish.kind == WordsKind::Prompt {
            terms.shift_remove("max_tokens");
        }
        // Each question is a conversation of its own.
        let name = format!("words:{}", wish.ticket);
        let request = ChatRequest {
            messages: vec![
                json!({"role": "system", "content": system}),
                json!({"role": "user", "content": told}),
            ],
            tools: Vec::new(),
            stream: true,
            session: Some(name),
            terms,
            definitions: Map::new(),
            helpers: Vec::new(),
            own_use: None,
        };
        if let Some(patience) = wish.kind.patience_ms() {
            let late = Effect::Wait { until_ms: self.now_ms + patience };
            self.effect(Purpose::WordsLate(wish.ticket), late);
        }
        self.ask_aside(Wanted::Words(wish), request);
    }

    /// The model has answered.
    pub(super) fn words_found(&mut self, wish: &WordsWish, said: &str) {
        self.drop_waiting(|purpose| purpose.is_patience_for(wish.ticket));
        let found = match wish.kind {
            WordsKind::Prompt => json!({"text": prompt_of(said)}),
            WordsKind::Branch => json!({"branch": branch_of(said)}),
            WordsKind::Commit => json!({"message": message_of(said)}),
        };
        self.reply_json(wish.ticket, found);
    }

    /// There are none, and why.
    pub(super) fn words_missed(&mut self, wish: &WordsWish, why: &str) {
        self.drop_waiting(|purpose| purpose.is_patience_for(wish.ticket));
        match wish.kind {
            WordsKind::Prompt => self.unknown_error(wish.ticket),
            WordsKind::Branch => self.reply_json(wish.ticket, json!({"branch": null})),
            WordsKind::Commit => {
                let why = format!("Failed to generate commit message: {why}");
                self.refuse_commit_message(wish.ticket, &why);
            }
        }
    }

    /// They have been waited for long enough.
    pub(super) fn words_late(&mut self, ticket: Ticket) {
        let mut kind = None;
        for purpose in self.waiting.values() {
            if let Purpose::Aside(aside) | Purpose::AsideAgain(aside) = purpose
                && let Wanted::Words(wish) = &aside.wanted
                && wish.ticket == ticket
            {
                kind = Some(wish.kind);
            }
        }
        self.drop_waiting(|purpose| purpose.is_words_for(ticket));
        match kind {
            Some(WordsKind::Commit) => {
                self.refuse_commit_message(ticket, "Commit message generation timed out after 30 seconds");
            }
            Some(WordsKind::Branch) => self.reply_json(ticket, json!({"branch": null})),
            Some(WordsKind::Prompt) | None => {}
        }
    }

    pub(super) fn refuse_commit_message(&mut self, ticket: Ticket, why: &str) {
        self.reply(ticket, 422, ReplyBody::Json(json!({"message": why})));
    }
}

impl Purpose {
    fn is_patience_for(&self, ticket: Ticket) -> bool {
        matches!(self, Self::WordsLate(of) if *of == ticket)
    }

    fn is_words_for(&self, ticket: Ticket) -> bool {
        let (Self::Aside(aside) | Self::AsideAgain(aside)) = self else { return false };
        matches!(&aside.wanted, Wanted::Words(wish) if wish.ticket == ticket)
    }
}

/// What a person has said in a session last, and what is about to be said, unless that was it.
fn prompts(messages: &[Message], next: &str) -> Vec<String> {
    let said = messages.iter().filter(|message| message.role() == "user").map(|message| {
        let texts = message
            .parts
            .iter()
            .filter(|part| part["type"] == "text" && part["synthetic"] != true && part["ignored"] != true);
        let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
        trimmed(&texts.join("\n")).to_owned()
    });
    let mut said: Vec<String> = said.filter(|said| !said.is_empty()).collect();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    if !words(next).is_empty() && said.last().is_none_or(|last| words(last) != words(next)) {
        said.push(trimmed(next).to_owned());
    }
    let first = said.len().saturating_sub(PROMPTS_TOLD);
    said[first..].iter().map(|said| first_units(said, PROMPT_TOLD).to_owned()).collect()
}

/// An expression that is none would find nothing; a test holds that all find something.
fn expression(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

fn without(text: &str, what: &Option<Regex>) -> String {
    what.as_ref().map_or_else(|| text.to_owned(), |what| what.replace_all(text, "").into_owned())
}

/// A better prompt, without the fence and the quotes around it.
fn prompt_of(said: &str) -> String {
    static FENCE: LazyLock<Option<Regex>> = LazyLock::new(|| expression(r"^```[0-9A-Za-z_]*\n?|```$"));
    let text = without(said, &FENCE);
    let text = trimmed(&text);
    let inner = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    trimmed(inner.unwrap_or(text)).to_owned()
}

/// The name of a branch, if the answer has one.
fn branch_of(said: &str) -> Option<String> {
    static THOUGHT: LazyLock<Option<Regex>> =
        LazyLock::new(|| expression(r"(?is)<think>.*?</think>\s*|\A```(?:json|text)?\s*|```\z"));
    static QUOTES: LazyLock<Option<Regex>> = LazyLock::new(|| expression(r#"^['"`]|['"`]$"#));
    let text = without(said, &THOUGHT);
    let line = trimmed(&text).lines().next().map(trimmed).unwrap_or_default();
    let name = without(line, &QUOTES).to_lowercase();
    if name == "null" {
        return None;
    }
    let letters = name.split(|letter: char| !letter.is_ascii_lowercase() && !letter.is_ascii_digit());
    let slug = letters.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    let slug = slug[..slug.len().min(BRANCH_MAX)].trim_end_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

/// The message of a commit, without the fence and the quotes around it.
fn message_of(said: &str) -> String {
    let mut text = trimmed(said);
    if text.starts_with("```") {
        text = text.split_once('\n').map_or(text, |(_, rest)| rest);
    }
    let text = trimmed(text.strip_suffix("```").unwrap_or(text));
    let is_quoted = ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote));
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    trimmed(if is_quoted { inner } else { text }).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_around_words_is_taken_off() {
        // The first of each kind were seen on the real server.
        assert_eq!(prompt_of("```text\n\"Do it  properly.\"\n```"), "Do it  properly.");
        assert_eq!(prompt_of("'half"), "'half");
        assert_eq!(message_of("```\nfeat: add it\n\nbody\n```"), "feat: add it\n\nbody");
        assert_eq!(message_of("'feat: x'\n"), "feat: x");
        assert_eq!(message_of("\""), "");
        let branch = |said: &str| branch_of(said);
        assert_eq!(
            branch("<think>so</think> \"Fix Token_Race!! Éclair\"\nmore").as_deref(),
            Some("fix-token-race-clair")
        );
        assert_eq!(branch("'```json\nSome-Name`").as_deref(), Some("json"));
        assert_eq!(branch("```json\nsome name\n```").as_deref(), Some("some-name"));
        assert_eq!(branch("Null"), None);
        assert_eq!(branch("..."), None);
        let long = format!("{}-b", "a".repeat(49));
        assert_eq!(branch(&long), Some("a".repeat(49)), "no hyphen at the end");
    }
}
