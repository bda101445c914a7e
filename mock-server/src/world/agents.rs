//! Who can work in a session: the agents of the release and those of the configuration, with their rules.

use super::rules::{self, Action, Rule, Source};
use super::{Ticket, World};
use crate::profile::Profile;
use crate::roster::Roster;
use serde_json::{Map, Value, json};

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
}

/// What is told of an agent that there is not.
fn not_found(name: &str, known: &[Agent]) -> Value {
    let names: Vec<&str> =
        known.iter().filter(|agent| !agent.is_hidden).map(|agent| agent.name.as_str()).collect();
    let message = format!("Agent not found: \"{name}\". Available agents: {}", names.join(", "));
    json!({"name": "UnknownError", "data": {"message": message}})
}

impl World {
    fn agents(&self) -> &[Agent] {
        self.agents.get_or_init(|| gathered(self.profile, &self.all_settings()))
    }

    pub(crate) fn agent(&self, name: &str) -> Option<&Agent> {
        let name = newer_name(self.profile, name);
        self.agents().iter().find(|agent| agent.name == name)
    }

    /// The rules of an agent are known from now on.
    pub(crate) fn meet_agent(&mut self, name: &str) {
        if !self.permissions.knows(name)
            && let Some(agent) = self.agent(name).cloned()
        {
            self.permissions.meet(name.to_owned(), agent.rules);
        }
    }

    /// Is there nobody of that name? That is told in the session.
    pub(crate) fn is_nobody(&mut self, session: &str, name: &str) -> bool {
        if self.permissions.knows(name) {
            return false;
        }
        if self.agent(name).is_some() {
            self.meet_agent(name);
            return false;
        }
        let error = not_found(name, self.agents());
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        true
    }

    /// Is there no such model? That is told in the session.
    pub(crate) fn lacks_model(&mut self, session: &str, model: &Value) -> bool {
        let word = |key: &str| model[key].as_str().unwrap_or_default();
        let (provider, name) = (word("providerID"), word("modelID"));
        let of_person = || {
            let providers = self.config.config.get("provider")?;
            providers.get(provider)?.get("models")?.get(name)
        };
        if (provider, name) == ("fake", "fake") || of_person().is_some() {
            return false;
        }
        let message = format!("Model not found: {provider}/{name}.");
        let error = json!({"name": "UnknownError", "data": {"message": message}});
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        true
    }

    /// What the model of a message costs, as the configuration has it.
    pub(crate) fn prices(&self, session: &str, message: &str) -> Value {
        let message = self.sessions.get(session).and_then(|owner| owner.message(message));
        let word = |key: &str| message.and_then(|message| message.info[key].as_str()).unwrap_or_default();
        let (provider, model) = (word("providerID"), word("modelID"));
        let config = self.all_settings();
        let models = config.get("provider").and_then(|all| all.get(provider)?.get("models"));
        models.and_then(|models| models.get(model)?.get("cost")).cloned().unwrap_or_default()
    }

    /// A mistake of the server, for whoever waits.
    pub(crate) fn unknown_error_to(&mut self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.unknown_error(ticket);
        }
    }
}

/// The agents that a configuration speaks of; a mode is one that a person chooses.
pub(crate) fn wanted(config: &Map<String, Value>) -> Map<String, Value> {
    let section = |key: &str| config.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut all = section("agent");
    for (name, mut mode) in section("mode") {
        mode["mode"] = json!("primary");
        super::config::merge(&mut all, &json!({name: mode}));
    }
    all
}

/// The one who works by default was once called so on all servers.
pub(crate) fn newer_name<'a>(profile: &Profile, name: &'a str) -> &'a str {
    if name == "build" { profile.agent } else { name }
}

/// Is this one of the release?
pub(crate) fn is_of_release(profile: &Profile, name: &str) -> bool {
    Roster::of(profile.server).agents.iter().any(|told| told["name"] == name)
}

/// Those of the release, then those that only the configuration knows; by name, but for the one who works by default.
fn gathered(profile: &Profile, config: &Map<String, Value>) -> Vec<Agent> {
    let of_config = rules::of_config(config);
    let mut agents: Vec<Agent> =
        Roster::of(profile.server).agents.iter().map(|told| of_release(told, &of_config)).collect();
    let of_person = wanted(config);
    for (name, wanted) in &of_person {
        let name = newer_name(profile, name);
        if wanted["disable"] == true {
            agents.retain(|agent| agent.name != name);
            continue;
        }
        let own = wanted.as_object().map(rules::of_config).unwrap_or_default();
        match agents.iter_mut().find(|agent| agent.name == name) {
            Some(agent) => {
                agent.rules.extend(own);
                if let Some(mode) = wanted["mode"].as_str() {
                    (agent.is_subagent, agent.is_primary) = (mode == "subagent", mode == "primary");
                }
            }
            None => agents.push(hired(name, wanted, profile, of_config.iter().cloned().chain(own))),
        }
    }
    agents.sort_by(|a, b| {
        let by_default = |agent: &Agent| agent.name != profile.agent;
        by_default(a).cmp(&by_default(b)).then_with(|| a.name.cmp(&b.name))
    });
    agents
}

fn of_release(told: &Value, of_config: &[Rule]) -> Agent {
    let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let rule = |rule: &Value| {
        let action = Action::of(&word(rule, "action")).unwrap_or(Action::Ask);
        // One that is alone about everything of a kind was written as a word.
        let others = |other: &&Value| other["permission"] == rule["permission"] && other["pattern"] != "*";
        if rule["pattern"] == "*"
            && !told["permission"].as_array().into_iter().flatten().any(|one| others(&one))
        {
            return Rule::plain(&word(rule, "permission"), action, Source::Agent);
        }
        Rule::new(&word(rule, "permission"), &word(rule, "pattern"), action, Source::Agent)
    };
    let own: Vec<Rule> = told["permission"].as_array().into_iter().flatten().map(rule).collect();
    let forbids_all = |rule: &&Rule| rule.permission == "*" && rule.action == Action::Deny;
    // Some write their rules a second time, behind those of the configuration.
    let is_guarded = own.iter().filter(forbids_all).count() > 1;
    let configured = of_config.iter().cloned();
    let rules = if is_guarded {
        configured.chain(own).collect()
    } else {
        own.into_iter().chain(configured).collect()
    };
    Agent {
        name: word(told, "name"),
        is_subagent: told["mode"] == "subagent",
        is_primary: told["mode"] == "primary",
        is_native: told["native"] == true,
        is_hidden: told["hidden"] == true,
        model: None,
        rules,
    }
}

fn hired(name: &str, wanted: &Value, profile: &Profile, more: impl Iterator<Item = Rule>) -> Agent {
    let model = wanted["model"].as_str().and_then(|model| model.split_once('/'));
    Agent {
        name: name.to_owned(),
        is_subagent: wanted["mode"] == "subagent",
        is_primary: wanted["mode"] == "primary",
        is_native: false,
        is_hidden: wanted["hidden"] == true,
        model: model.map(|(provider, model)| json!({"providerID": provider, "modelID": model})),
        rules: rules::of_words(profile.rules).chain(more).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixtures::ServerKind;

    #[test]
    fn agents_stand_by_name_behind_the_one_who_works_by_default() {
        let config = json!({"agent": {"painter": {"mode": "primary", "permission": {"bash": "deny"}}, "plan": {"disable": true}}});
        let agents = gathered(Profile::of(ServerKind::Opencode), config.as_object().unwrap());
        let error = not_found("nobody", &agents);
        assert_eq!(
            error["data"]["message"],
            "Agent not found: \"nobody\". Available agents: build, explore, general, painter"
        );
        let painter = agents.iter().find(|agent| agent.name == "painter").unwrap();
        assert_eq!(painter.rules.last().unwrap().action, Action::Deny);
    }
}
