//! What contradicts itself in the files of agents, with its place: seen without any server.

mod rules;

use super::declared::{Declarations, Declared, Spot, Word, is_effort};
use fixtures::ServerKind;
use fixtures::near_names::did_you_mean;
use serde::Serialize;

/// What the servers read of an agent.
const KEYS: [&str; 19] = [
    "color",
    "deprecated",
    "description",
    "disable",
    "displayName",
    "hidden",
    "maxSteps",
    "mode",
    "model",
    "name",
    "options",
    "permission",
    "prompt",
    "reasoningEffort",
    "source",
    "steps",
    "temperature",
    "tools",
    "variant",
];
/// Keys of two words that are written as they are.
const AS_THEY_ARE: [&str; 2] = ["top_p", "top_k"];
const MODES: [&str; 3] = ["all", "primary", "subagent"];
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/// Who says so of itself gives work to others.
const DELEGATES: [&str; 4] = ["orchestrat", "delegat", "coordinat", "dispatch"];

/// One thing that is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which rule found it.
    pub rule: &'static str,
    /// The file, as whoever named the folder would write it.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The agent, where it is about one.
    pub agent: Option<String>,
    /// What is wrong, and how to mend it.
    pub says: String,
}

struct Lint<'a> {
    all: &'a Declarations,
    server: ServerKind,
    found: Vec<Finding>,
}

/// All findings, by place. `known` are the agents that the release brings.
pub(super) fn findings(all: &Declarations, server: ServerKind, known: &[String]) -> Vec<Finding> {
    let mut lint = Lint { all, server, found: Vec::new() };
    lint.files();
    for agent in all.agents.values().filter(|agent| !agent.is_disabled) {
        lint.entry(agent);
        lint.rules(agent, known);
        lint.delegation(agent);
        lint.effort(agent);
    }
    lint.index();
    let mut found = lint.found;
    found.sort_by(|a, b| (&a.file, a.line, a.rule).cmp(&(&b.file, b.line, b.rule)));
    found.dedup();
    found
}

impl Lint<'_> {
    fn say(&mut self, rule: &'static str, at: &Spot, agent: Option<&Declared>, says: String) {
        let agent = agent.map(|agent| agent.name.clone());
        self.found.push(Finding { rule, file: at.file.clone(), line: at.line, agent, says });
    }

    fn files(&mut self) {
        let all = self.all;
        for (file, why) in &all.unreadable {
            let at = Spot { file: file.clone(), line: why.line };
            self.say("unreadable", &at, None, format!("can't be read: {}", why.why));
        }
        for (at, why) in &all.wrong_words {
            self.say("rule-word", at, None, format!("{why}; say allow, ask or deny"));
        }
        for (agent, at, wrong) in &all.wrong_forms {
            let follows = match (wrong.is_of_model, self.server) {
                (true, _) => "the agent has no model, and whatever is asked of it fails",
                (false, ServerKind::Kilo) => "Kilo leaves the whole agent out",
                (false, ServerKind::Opencode) => "OpenCode refuses all settings, and has no agents at all",
            };
            let says = format!("{}: {follows}", wrong.why);
            self.say("wrong-form", at, all.agents.get(agent), says);
        }
        for said in &all.rules {
            self.permission_name(said, None);
        }
    }

    /// Two files are one too many. An entry of the settings beside a file is one when both say the same: what the settings say
    /// of it never counts. Settings over settings are layers, and meant so.
    fn declared_twice(&mut self, agent: &Declared) {
        let mut places: Vec<&Spot> = agent.places.iter().collect();
        places.dedup_by_key(|at| at.file.as_str());
        let Some(second) = places.pop().filter(|at| at.file.ends_with(".md")) else { return };
        let Some(first) = places.first() else { return };
        let own: Vec<&str> = keys_in(agent, &second.file).chain(["prompt"]).collect();
        let both: Vec<&str> = keys_in(agent, &first.file).filter(|key| own.contains(key)).collect();
        if both.is_empty() && !first.file.ends_with(".md") {
            return;
        }
        let said = if both.is_empty() { String::new() } else { format!(" (`{}`)", both.join("`, `")) };
        let (name, place) = (&agent.name, format!("{}:{}", first.file, first.line));
        let says = format!("'{name}' is declared in {place} already; this one wins key by key{said}");
        self.say("declared-twice", second, Some(agent), says);
    }

    fn entry(&mut self, agent: &Declared) {
        self.declared_twice(agent);
        for (key, at) in &agent.keys {
            let plain = |key: &str| key.replace(['_', '-'], "").to_ascii_lowercase();
            let known = KEYS.contains(&key.as_str()) || AS_THEY_ARE.contains(&key.as_str());
            if known || is_effort(key) {
                continue;
            }
            let same = KEYS.iter().chain(&AS_THEY_ARE).find(|known| plain(known) == plain(key));
            let near = same.map(|it| format!("write '{it}'")).or_else(|| did_you_mean(key, &KEYS));
            if let Some(near) = near {
                self.say(
                    "unknown-key",
                    at,
                    Some(agent),
                    format!("no server reads the key '{key}' of an agent: {near}"),
                );
            }
        }
        if let Some((mode, at)) = &agent.mode
            && !MODES.contains(&mode.as_str())
        {
            let says = format!("the mode '{mode}' is none; there are: {}", MODES.join(", "));
            self.say("mode", at, Some(agent), says);
        }
    }

    fn delegation(&mut self, agent: &Declared) {
        let all = self.all;
        let is_child = agent.mode.as_ref().is_some_and(|(mode, _)| mode == "subagent");
        let denied = all.about(agent, "task").find(|said| said.is_about_all() && said.word == Word::Deny);
        let denies = all.about(agent, "task").all(|said| said.word == Word::Deny);
        let words = format!("{} {}", agent.name, agent.words).to_lowercase();
        let delegates = DELEGATES.iter().find(|word| words.contains(*word));
        if let (Some(denied), true, false, Some(word)) = (denied, denies, is_child, delegates) {
            let says = format!(
                "may give work to nobody (`{}`), but its own words speak of it (\"{word}…\"). Put an allow for those \
                 that it may call behind the deny",
                denied.quoted()
            );
            self.say("orchestrator-cannot-delegate", &denied.at, Some(agent), says);
        }
        let allows = all.about(agent, "task").find(|said| said.word != Word::Deny);
        if let (ServerKind::Kilo, true, Some(allowed)) = (self.server, is_child, allows) {
            let says = format!(
                "Kilo takes the task tool away from every agent that was given work, whatever its rules say, so `{}` \
                 does nothing",
                allowed.quoted()
            );
            self.say("child-never-delegates", &allowed.at, Some(agent), says);
        }
    }

    fn effort(&mut self, agent: &Declared) {
        let Some(effort) = &agent.effort else { return };
        if effort.key != "reasoningEffort" {
            let says = format!("'{}' never reaches the model: write 'reasoningEffort'", effort.key);
            self.say("effort-spelling", &effort.at, Some(agent), says);
        }
        if !EFFORTS.contains(&effort.word.as_str()) {
            let says = format!("the effort '{}' is none; there are: {}", effort.word, EFFORTS.join(", "));
            self.say("effort-value", &effort.at, Some(agent), says);
        }
    }

    /// The index and the agents are the same set, and only what an agent says itself reaches its model.
    fn index(&mut self) {
        let all = self.all;
        let Some(file) = &all.index_file else { return };
        for (name, effort) in &all.index {
            match all.agents.get(name) {
                None => {
                    let says = format!("the index names an agent '{name}' that has no file");
                    self.say("index-without-agent", &effort.at, None, says);
                }
                Some(agent) if agent.effort.as_ref().is_none_or(|own| own.word != effort.word) => {
                    let says = format!(
                        "no server reads this file: write `reasoningEffort: {}` into {}",
                        effort.word, agent.at.file
                    );
                    self.say("index-not-read", &effort.at, Some(agent), says);
                }
                Some(_) => {}
            }
            if !EFFORTS.contains(&effort.word.as_str()) {
                let says = format!("the effort '{}' is none; there are: {}", effort.word, EFFORTS.join(", "));
                self.say("effort-value", &effort.at, None, says);
            }
        }
        for agent in all.agents.values().filter(|agent| !all.index.contains_key(&agent.name)) {
            let says = format!("'{}' has no effort in {file}", agent.name);
            self.say("agent-without-index", &agent.at, Some(agent), says);
        }
    }
}

/// What one file says of an agent.
fn keys_in<'a>(agent: &'a Declared, file: &'a str) -> impl Iterator<Item = &'a str> {
    agent.keys.iter().filter(move |(_, at)| at.file == file).map(|(key, _)| key.as_str())
}

#[cfg(test)]
mod tests;
