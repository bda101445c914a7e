//! Who can work in a session: the agents of the release and those of the settings, with their rules.
//!
//! * `known` — who was gathered lately, for those who ask the same again.
//! * `rules` — what the settings add to the rules of an agent, and where among them.
//! * `met` — what the world asks of it.

mod known;
mod met;
mod rules;

use super::WorldConfig;
use super::customs::{Customs, in_words};
use super::rules::{self as ruling, Action, Rule, Source, of_config};
use crate::mistakes::Mistake;
use crate::profile::Profile;
use crate::roster::Roster;
use rules::Rulebook;
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};

/// One who can work.
#[derive(Debug, Clone)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// Others give it work; a person does not choose it.
    pub(crate) is_subagent: bool,
    /// A person does choose it; nobody gives it work.
    pub(crate) is_primary: bool,
    pub(crate) is_native: bool,
    is_hidden: bool,
    /// The model that it wants.
    pub(crate) model: Option<Value>,
    pub(crate) rules: Vec<Rule>,
    /// What is told of it beside its rules.
    told: Map<String, Value>,
}

/// Everybody who can work with these settings, once anybody has asked.
#[derive(Debug)]
pub(crate) struct Agents {
    profile: &'static Profile,
    settings: Map<String, Value>,
    places: Places,
    all: OnceLock<Arc<[Agent]>>,
}

/// Where those who work are, as their rules name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// The top of their project: what belongs to none belongs to `/`.
    top: String,
    home: String,
    /// The folders of skills: all may go there.
    skills: Vec<String>,
    /// Permissions that stand in no settings.
    unclaimed: Value,
}

impl Places {
    /// A rule of the settings, unless it stands in none.
    fn claimed(&self, rule: Rule) -> Rule {
        let said = &self.unclaimed[&rule.permission][&rule.pattern];
        if *said == rule.action.word() { Rule { source: Source::Agent, ..rule } } else { rule }
    }

    pub(crate) fn of(config: &WorldConfig, top: &str, customs: &Customs) -> Self {
        Self {
            top: top.to_owned(),
            home: config.home.clone(),
            skills: customs.skills.iter().map(|skill| skill.folder.clone()).collect(),
            unclaimed: customs.unclaimed.clone(),
        }
    }
}

impl Agent {
    /// As the wire has it.
    pub(crate) fn wire(&self) -> Value {
        let mut told = self.told.clone();
        told.insert("permission".to_owned(), self.rules.iter().map(Rule::wire).collect());
        Value::Object(told)
    }

    /// What is told of it under a name, where its settings say something.
    pub(crate) fn setting(&self, name: &str) -> Option<&Value> {
        self.told.get(name)
    }

    /// How many steps it may take in a turn, where its settings say so.
    pub(crate) fn most_steps(&self) -> Option<f64> {
        self.told.get("steps")?.as_f64()
    }

    /// Can a person choose it?
    fn is_choosable(&self) -> bool {
        !self.is_subagent && !self.is_hidden
    }

    fn of(told: Map<String, Value>, rules: Vec<Rule>) -> Self {
        let word = |key: &str| told.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let is = |key: &str| told.get(key) == Some(&Value::Bool(true));
        Self {
            name: word("name"),
            is_subagent: word("mode") == "subagent",
            is_primary: word("mode") == "primary",
            is_native: is("native"),
            is_hidden: is("hidden"),
            model: told.get("model").cloned(),
            rules,
            told,
        }
    }
}

impl Agents {
    /// Those of a profile with these settings, which are whole.
    pub(crate) fn new(profile: &'static Profile, settings: Map<String, Value>, places: Places) -> Self {
        Self { profile, settings, places, all: OnceLock::new() }
    }

    /// Is it the same who is gathered here and there?
    pub(crate) fn are_as(&self, other: &Self) -> bool {
        self.places == other.places && in_words(&self.settings) == in_words(&other.settings)
    }

    /// All, in the order in which they are told.
    pub(crate) fn all(&self) -> &[Agent] {
        self.all.get_or_init(|| known::known(self))
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Agent> {
        let name = self.renamed(name);
        self.all().iter().find(|agent| agent.name == name)
    }

    /// The rules of one of them; nobody has none.
    pub(crate) fn rules_of(&self, agent: &str) -> &[Rule] {
        self.named(agent).map(|agent| agent.rules.as_slice()).unwrap_or_default()
    }

    /// What the rules of an agent alone say.
    pub(crate) fn says(&self, agent: &str, permission: &str, pattern: &str) -> Action {
        ruling::decide(self.rules_of(agent).iter(), permission, pattern).action
    }

    /// May an agent do this to everything by its own rules, with a question or without?
    pub(crate) fn may(&self, agent: &str, permission: &str) -> bool {
        self.says(agent, permission, "*") != Action::Deny
    }

    /// Has an agent a rule about this permission and no other?
    pub(crate) fn is_ruled(&self, agent: &str, permission: &str) -> bool {
        self.rules_of(agent).iter().any(|rule| rule.permission == permission)
    }

    /// The one who works by default.
    pub(crate) fn default(&self) -> &str {
        let own = || {
            let own = self.named(self.profile.agent).filter(|agent| agent.is_choosable());
            own.or_else(|| self.all().iter().find(|agent| agent.is_choosable()))
        };
        match self.wanted_by_default() {
            // Nobody has to look who there is.
            None if !self.settings.contains_key("agent") => self.profile.agent,
            None => own().map_or(self.profile.agent, |agent| agent.name.as_str()),
            Some(wanted) => {
                let wanted = self.named(wanted).filter(|agent| agent.is_choosable());
                wanted.or_else(own).map_or(self.profile.agent, |agent| agent.name.as_str())
            }
        }
    }

    /// Why the one whom the settings want by default can't work by default, if there is a reason.
    pub(crate) fn lacks_default(&self) -> Option<(Mistake, String)> {
        let said = self.settings.get("default_agent").and_then(Value::as_str)?;
        let (mistake, why) = match self.named(said) {
            None => (Mistake::DefaultMissing, "not found"),
            Some(agent) if agent.is_subagent => (Mistake::DefaultSubagent, "is a subagent"),
            Some(agent) if agent.is_hidden => (Mistake::DefaultHidden, "is hidden"),
            Some(_) => return None,
        };
        Some((mistake, format!("Error: default agent \"{said}\" {why}")))
    }

    fn wanted_by_default(&self) -> Option<&str> {
        let wanted = self.settings.get("default_agent").and_then(Value::as_str)?;
        Some(self.renamed(wanted))
    }

    /// The name of the agent that the settings call so.
    fn renamed<'a>(&self, name: &'a str) -> &'a str {
        match self.profile.other_name {
            Some((other, own)) if name == other => own,
            _ => name,
        }
    }

    /// Those of the release, then those that only the settings know; by name, but for the one who works by default.
    fn gathered(&self) -> Vec<Agent> {
        let roster = Roster::of(self.profile.server);
        let book = Rulebook::of(self.profile, roster, &self.settings, &self.places);
        let mut agents: Vec<Agent> = Vec::new();
        for told in book.told.iter().filter_map(Value::as_object) {
            agents.push(Agent::of(told.clone(), book.of_release(told)));
        }
        for (name, wanted) in self.settings.get("agent").and_then(Value::as_object).into_iter().flatten() {
            let name = self.renamed(name);
            if wanted["disable"] == true {
                agents.retain(|agent| agent.name != name);
                continue;
            }
            let known = agents.iter().position(|agent| agent.name == name);
            let (told, mut rules) = match known {
                Some(at) => {
                    let known = agents.remove(at);
                    (known.told, known.rules)
                }
                None => {
                    let told = json!({"name": name, "mode": "all", "native": false, "options": {}});
                    (told.as_object().cloned().unwrap_or_default(), book.of_everybody())
                }
            };
            let is_native = told.get("native") == Some(&Value::Bool(true));
            let mut own =
                wanted.as_object().map(|wanted| of_config(wanted, &self.places.home)).unwrap_or_default();
            own.iter_mut().for_each(|rule| rule.source = Source::Agent);
            book.add(name, is_native, &mut rules, own);
            agents.push(Agent::of(self.changed(told, wanted), rules));
        }
        for agent in &mut agents {
            book.close(&agent.name, &mut agent.rules);
        }
        let first = self.wanted_by_default().unwrap_or(self.profile.agent);
        agents.sort_by(|a, b| (a.name != first).cmp(&(b.name != first)).then_with(|| a.name.cmp(&b.name)));
        agents
    }

    /// What is told of an agent that the settings speak of: all that there is to tell, known or not.
    fn changed(&self, mut told: Map<String, Value>, wanted: &Value) -> Map<String, Value> {
        for key in
            ["variant", "prompt", "description", "temperature", "mode", "color", "hidden", "name", "steps"]
                .into_iter()
                .chain(["displayName", "source"])
        {
            if let Some(value) = wanted.get(key) {
                told.insert(key.to_owned(), value.clone());
            }
        }
        if let Some(top_p) = wanted.get("top_p") {
            told.insert("topP".to_owned(), top_p.clone());
        }
        if let Some((provider, model)) = wanted["model"].as_str().and_then(|model| model.split_once('/')) {
            told.insert("model".to_owned(), json!({"providerID": provider, "modelID": model}));
        }
        let mut options = told.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
        super::config::merge(&mut options, &wanted["options"]);
        if self.profile.agent_keys.contains(&"displayName") {
            for key in ["displayName", "source"] {
                if let Some(Value::String(word)) = options.remove(key) {
                    told.entry(key).or_insert(Value::String(word));
                }
            }
        }
        told.insert("options".to_owned(), Value::Object(options));
        let optional = |key: &str| matches!(key, "model" | "deprecated");
        let keys = self.profile.agent_keys.iter().filter(|key| told.contains_key(**key) || !optional(key));
        keys.map(|key| ((*key).to_owned(), told.get(*key).cloned().unwrap_or_default())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::rules::Action;
    use fixtures::ServerKind;

    fn agents(server: ServerKind, settings: &Value) -> Agents {
        let settings = crate::world::settings_form::whole(settings.as_object().cloned().unwrap(), server);
        Agents::new(Profile::of(server), settings, Places::default())
    }

    #[test]
    fn agents_stand_by_name_behind_the_one_who_works_by_default() {
        let settings = json!({"agent": {"painter": {"mode": "primary", "permission": {"bash": "deny"}}, "plan": {"disable": true}}});
        let all = agents(ServerKind::Opencode, &settings);
        let names: Vec<&str> = all.all().iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(names, ["build", "compaction", "explore", "general", "painter", "summary", "title"]);
        let bash = all.named("painter").unwrap().rules.iter().rfind(|rule| rule.permission == "bash");
        assert_eq!(bash.unwrap().action, Action::Deny);
        assert_eq!(all.default(), "build");
    }

    #[test]
    fn the_settings_say_who_works_by_default_if_a_person_can_choose_it() {
        let one = |name: &str, mode: &str| json!({"default_agent": name, "agent": {name: {"mode": mode}}});
        assert_eq!(agents(ServerKind::Kilo, &one("painter", "all")).default(), "painter");
        assert_eq!(agents(ServerKind::Kilo, &one("painter", "subagent")).default(), "code");
        assert_eq!(agents(ServerKind::Kilo, &json!({"default_agent": "build"})).default(), "code");
        let gone = json!({"agent": {"build": {"disable": true}}});
        assert_eq!(agents(ServerKind::Opencode, &gone).default(), "plan");
    }

    #[test]
    fn of_an_agent_that_the_settings_speak_of_everything_is_told() {
        let settings = json!({"agent": {"build": {"prompt": "Build.", "options": {"source": "here"}}, "x": {"model": "a/b/c"}}});
        let all = agents(ServerKind::Kilo, &settings);
        let (code, x) = (all.named("code").unwrap().wire(), all.named("x").unwrap().wire());
        assert_eq!(code["source"], "here");
        assert_eq!(code["options"], json!({}));
        assert_eq!(code["temperature"], Value::Null);
        assert!(code.get("temperature").is_some() && code.get("model").is_none());
        assert_eq!(x["model"], json!({"providerID": "a", "modelID": "b/c"}));
        assert_eq!(x["mode"], "all");
    }
}
