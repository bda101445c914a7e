//! A session's title: when the model is asked for one, what it is told, and what becomes of its answer.

use super::aside::Wanted;
use super::media::why_untellable;
use super::session::{Message, Session};
use super::terms::Asked;
use super::{Beside, Effect, Purpose, World};
use crate::javascript::{first_units, units};
use crate::model::{ChatRequest, OwnUse};
use crate::profile::TitleTiming;
use serde_json::{Map, Value, json};

/// How often a server asks for a title before it gives up.
const TRIES_MAX: u32 = 4;
/// A prompt of this length is enough to find a title.
const LONG_PROMPT: usize = 200;
/// What a request tells of prompts, and of the work since the last one.
const PROMPTS_TOLD: usize = 4;
const PROMPT_TOLD: usize = 1000;
const CALLS_TOLD: usize = 2;
const OUTPUT_TOLD: usize = 500;
/// The longest title; a longer one is cut, and ends in dots.
const LONGEST: usize = 100;
const DOTS: &str = "...";

impl World {
    /// The turn of a prompt is over: is there something that a title could tell? What waited meanwhile does not count.
    pub(crate) fn title_after_work(&mut self, session: &str, prompt: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let until = end_of(owner, prompt);
        let history = self.history_until(owner, until);
        let prompts: Vec<&Message> = history.iter().filter(|message| is_prompt(message)).copied().collect();
        let long = prompts.last().is_some_and(|prompt| units(&asked(prompt)) >= LONG_PROMPT);
        let wanted = self.profile.title == TitleTiming::AfterWork
            && owner.title_tries < TRIES_MAX
            && !prompts.is_empty()
            && (prompts.len() >= 2 || long || !work(&history).is_empty());
        if wanted {
            self.ask_for_title(session, until);
        }
    }

    /// Has the session had no other prompt?
    pub(crate) fn is_first_prompt(&self, session: &str) -> bool {
        self.sessions
            .get(session)
            .is_some_and(|owner| self.history(owner).iter().filter(|message| is_prompt(message)).count() == 1)
    }

    /// What counts of the first messages.
    fn history_until<'s>(&self, owner: &'s Session, until: usize) -> Vec<&'s Message> {
        let later = &owner.messages[until..];
        let is_later = |message: &&Message| later.iter().any(|later| later.id() == message.id());
        self.history(owner).into_iter().filter(|message| !is_later(message)).collect()
    }

    /// Asks the model for a title of the first messages, beside whatever else happens.
    pub(crate) fn ask_for_title(&mut self, session: &str, until: usize) {
        let writes_titles = self.agent_for(session, "title").is_some();
        let Some(owner) = self.sessions.get_mut(session) else { return };
        if !writes_titles || !owner.has_default_title || owner.parent.is_some() {
            return;
        }
        owner.title_tries += 1;
        let Some(owner) = self.sessions.get(session) else { return };
        let history = self.history_until(owner, until);
        let mut messages = vec![json!({"role": "system", "content": self.who_is(session, "title")})];
        messages.extend(match self.profile.title {
            TitleTiming::AtFirstPrompt => self.first_prompt(owner, &history),
            TitleTiming::AfterWork => vec![prompts_and_work(&history)],
        });
        if why_untellable(&messages).is_some() {
            return;
        }
        let (provider, model) = self.title_model(&owner.directory);
        let (directory, provider, model) = (owner.directory.as_str(), provider.as_str(), model.as_str());
        let agent = "title";
        let asked = Asked { directory, provider, model, agent, is_small: true, ..Asked::default() };
        let terms = self.terms(&asked);
        let request = ChatRequest {
            messages: self.fit(messages, &asked, &terms),
            tools: Vec::new(),
            stream: true,
            session: None,
            terms,
            definitions: Map::new(),
            helpers: Vec::new(),
            own_use: Some(OwnUse::Title),
        };
        self.ask_aside(Wanted::Title(session.to_owned()), request);
    }

    /// The files before a step. The first one of a session is prepared while the model is asked for a title.
    pub(crate) fn snapshot_before_step(&self, session: &str, directory: &str) -> Effect {
        let run = self.sessions.get(session).and_then(|owner| owner.run.as_ref());
        let is_first = run.is_some_and(|run| !run.has_stepped) && self.is_first_prompt(session);
        let is_its = |purpose: &Purpose| match purpose {
            Purpose::Aside(aside) => matches!(&aside.wanted, Wanted::Title(of) if of == session),
            _ => false,
        };
        let asks = self.profile.title == TitleTiming::AtFirstPrompt && self.waiting.values().any(is_its);
        let mut snapshot = self.snapshot_of(directory);
        if let Effect::Snapshot { beside, .. } = &mut snapshot
            && is_first
            && asks
        {
            *beside = Beside::Title;
        }
        snapshot
    }

    /// All up to the first prompt; of work that is given away, what is asked for.
    fn first_prompt(&self, owner: &Session, history: &[&Message]) -> Vec<Value> {
        let mut messages =
            vec![json!({"role": "user", "content": "Generate a title for this conversation:\n"})];
        let Some(at) = history.iter().position(|message| is_prompt(message)) else { return messages };
        if history[at].parts.iter().all(|part| part["type"] == "subtask") {
            messages.push(json!({"role": "user", "content": asked(history[at])}));
            return messages;
        }
        let last = history.iter().rposition(|message| message.role() == "user");
        let senses = self.title_senses(&owner.directory);
        for (place, message) in history[..=at].iter().enumerate() {
            let reminders =
                if Some(place) == last { self.reminders(owner, history, message) } else { Vec::new() };
            messages.extend(self.told(message, reminders, &owner.directory, &senses));
        }
        messages
    }

    /// The model that writes titles.
    pub(super) fn title_model(&self, directory: &str) -> (String, String) {
        let settings = Value::Object(self.settings_in(directory));
        let own = settings.pointer("/agent/title/model").or_else(|| settings.get("small_model"));
        let named = own.and_then(Value::as_str).and_then(|own| own.split_once('/'));
        let (provider, model) = named.unwrap_or(("fake", "fake"));
        (provider.to_owned(), model.to_owned())
    }

    /// The model has answered.
    pub(crate) fn title_found(&mut self, session: &str, answer: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        if let Some(title) = title_of(answer).filter(|_| owner.has_default_title) {
            owner.title = title;
            owner.has_default_title = false;
            self.emit_session_updated(session);
        }
    }
}

/// The first line that says something, without what the model has thought.
fn title_of(answer: &str) -> Option<String> {
    let mut said = String::new();
    let mut rest = answer;
    while let Some((before, thought)) = rest.split_once("<think>") {
        let Some((_, after)) = thought.split_once("</think>") else { break };
        said.push_str(before);
        rest = after.trim_start();
    }
    said.push_str(rest);
    let title = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    let is_long = units(title) > LONGEST;
    Some(if is_long { cut(title) } else { title.to_owned() })
}

/// The beginning of a title, and dots. Of a letter of two units of which only the first fits, the servers' database makes
/// one letter with the dot behind it.
fn cut(title: &str) -> String {
    let begin = first_units(title, LONGEST - DOTS.len());
    let half = title[begin.len()..].chars().next().filter(|_| units(begin) < LONGEST - DOTS.len());
    let mut both = [0; 2];
    let joined = half.and_then(|letter| {
        let high = u32::from(letter.encode_utf16(&mut both)[0] & 0x3ff);
        char::from_u32(0x1_0000 + (high << 10) + u32::from(b'.'))
    });
    let (joined, dots) = joined.map_or((String::new(), DOTS), |joined| (joined.to_string(), &DOTS[1..]));
    format!("{begin}{joined}{dots}")
}

/// Has a person said something of it?
fn is_prompt(message: &Message) -> bool {
    message.role() == "user" && message.parts.iter().any(|part| part["synthetic"] != true)
}

/// What a person has asked for.
fn asked(message: &Message) -> String {
    let asked = message.parts.iter().filter_map(|part| match part["type"].as_str()? {
        "text" if part["synthetic"] != true && part["ignored"] != true => part["text"].as_str(),
        "subtask" => part["prompt"].as_str(),
        _ => None,
    });
    asked.collect::<Vec<&str>>().join("\n").trim().to_owned()
}

/// Where the conversation about a prompt ends: before the prompt that follows it.
fn end_of(owner: &Session, prompt: &str) -> usize {
    let at = owner.messages.iter().position(|message| message.id() == prompt).map_or(0, |at| at + 1);
    let next = owner.messages[at..].iter().position(is_prompt);
    next.map_or(owner.messages.len(), |next| at + next)
}

/// The calls since the last prompt that ended well.
fn work<'m>(history: &[&'m Message]) -> Vec<&'m Value> {
    let after_prompt = history.iter().rposition(|message| is_prompt(message)).unwrap_or_default();
    let parts = history.iter().skip(after_prompt).flat_map(|message| &message.parts);
    parts.filter(|part| part.pointer("/state/status").is_some_and(|status| status == "completed")).collect()
}

/// The wording is the server's: scripted models know the request by it.
fn prompts_and_work(history: &[&Message]) -> Value {
    let mut lines = vec![
        "Generate a title for this conversation:".to_owned(),
        String::new(),
        "Title the task, not the reference. When the context is only a link, an issue or ticket number, or a \
         filename, describe the work in general terms instead of restating the reference. Use issue numbers, URLs, \
         or tracker IDs only when the task is specifically about them."
            .to_owned(),
        String::new(),
        "User messages, oldest to newest:".to_owned(),
    ];
    let prompts: Vec<&Message> = history.iter().filter(|message| is_prompt(message)).copied().collect();
    let told = prompts[prompts.len().saturating_sub(PROMPTS_TOLD)..].iter().zip(1..);
    lines.extend(told.map(|(prompt, n)| format!("{n}. {}", first_units(&asked(prompt), PROMPT_TOLD))));
    let calls: Vec<String> = work(history).into_iter().take(CALLS_TOLD).map(call_in_words).collect();
    if !calls.is_empty() {
        lines.extend([String::new(), "Work done so far:".to_owned()]);
        lines.extend(calls);
    }
    json!({"role": "user", "content": lines.join("\n")})
}

fn call_in_words(part: &Value) -> String {
    let words = |pointer| part.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let call = format!("- {}: {}", words("/tool"), words("/state/title"));
    match first_units(words("/state/output"), OUTPUT_TOLD).trim() {
        "" => call,
        output => format!("{call}\n{output}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        let long = "é".repeat(101);
        for (answer, title) in [
            ("\n  Fix the bug \nmore", Some("Fix the bug".to_owned())),
            ("<think>what\nis it</think>\n\nA title", Some("A title".to_owned())),
            ("<think>a</think>B <think>c</think> D", Some("B D".to_owned())),
            ("<think>never done", Some("<think>never done".to_owned())),
            (" \n", None),
            (long.as_str(), Some("é".repeat(97) + "...")),
            (format!("a{}", "😀".repeat(60)).as_str(), Some(format!("a{}...", "😀".repeat(48)))),
            ("😀".repeat(60).as_str(), Some("😀".repeat(48) + "\u{1f42e}..")),
        ] {
            assert_eq!(title_of(answer), title, "{answer}");
        }
    }
}
