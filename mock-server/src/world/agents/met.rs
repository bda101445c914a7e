//! What the world asks about agents: is there one, what does it want, who works by default.

use super::super::{ApiRequest, Ticket, World};
use super::Agent;
use crate::world::rules::Action;
use serde_json::{Value, json};

/// What is told of a helper that has no description.
const ON_DEMAND: &str = "This subagent should only be called manually by the user.";

/// What is told of an agent that there is not.
fn not_found(name: &str, known: &[Agent]) -> Value {
    let names: Vec<&str> =
        known.iter().filter(|agent| !agent.is_hidden).map(|agent| agent.name.as_str()).collect();
    let message = format!("Agent not found: \"{name}\". Available agents: {}", names.join(", "));
    json!({"name": "UnknownError", "data": {"message": message}})
}

impl World {
    /// `GET /agent`.
    pub(in super::super) fn list_agents(&mut self, request: &ApiRequest) {
        let all = self.agents_in(&self.directory_of(request)).all().iter().map(Agent::wire).collect();
        self.reply_json(request.ticket, Value::Array(all));
    }

    /// The agent that works in a session.
    pub(crate) fn agent_at_work(&self, session: &str) -> &str {
        let owner = self.sessions.get(session);
        let step = owner.and_then(|owner| owner.message(&owner.run.as_ref()?.message));
        step.and_then(|step| step.info["agent"].as_str()).unwrap_or_else(|| self.agent_of(session))
    }

    /// Who works in a session by what was prompted last.
    pub(crate) fn agent_of(&self, session: &str) -> &str {
        let said = self.sessions.get(session).and_then(|owner| owner.agent.as_deref());
        said.unwrap_or_else(|| self.default_agent(session))
    }

    /// Is it known who works in a session?
    pub(crate) fn has_agent(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|owner| owner.agent.is_some())
    }

    /// One of those who can work in a session.
    pub(crate) fn agent_for(&self, session: &str, name: &str) -> Option<&Agent> {
        self.agents_for(session).named(name)
    }

    /// The agent that works in a session where nobody says who.
    pub(crate) fn default_agent(&self, session: &str) -> &str {
        self.agents_for(session).default()
    }

    /// Who may be given work by an agent, as the model is told: by the rules of the agent, whatever its session's are.
    pub(crate) fn helpers_of(&self, session: &str, agent: &str) -> Vec<String> {
        let agents = self.agents_for(session);
        let may_help =
            |other: &&Agent| !other.is_primary && agents.says(agent, "task", &other.name) != Action::Deny;
        let mut helpers: Vec<&Agent> = agents.all().iter().filter(may_help).collect();
        helpers.sort_by_key(|helper| helper.name.as_str());
        let told = |helper: &Agent| {
            let does = helper.setting("description").and_then(Value::as_str);
            format!("{}: {}", helper.name, does.unwrap_or(ON_DEMAND))
        };
        helpers.into_iter().map(told).collect()
    }

    /// An agent may be called by another name than its own.
    pub(crate) fn own_name(&self, session: &str, name: String) -> String {
        self.agent_for(session, &name).map_or(name, |agent| agent.name.clone())
    }

    /// Is there nobody of that name? That is told in the session.
    pub(crate) fn is_nobody(&mut self, session: &str, name: &str) -> bool {
        if self.agent_for(session, name).is_some() {
            return false;
        }
        let error = not_found(name, self.agents_for(session).all());
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        true
    }

    /// What the model of a message costs, as the configuration has it.
    pub(crate) fn prices(&self, session: &str, message: &str) -> Value {
        let message = self.sessions.get(session).and_then(|owner| owner.message(message));
        let word = |key: &str| message.and_then(|message| message.info[key].as_str()).unwrap_or_default();
        let (provider, model) = (word("providerID"), word("modelID"));
        let config = self.settings_for(session);
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

#[cfg(test)]
mod tests {
    use super::super::{Agents, Places};
    use super::*;
    use crate::profile::Profile;
    use fixtures::ServerKind;

    #[test]
    fn who_is_not_there_is_told_beside_those_who_are_and_show_themselves() {
        let settings = json!({"agent": {"plan": {"disable": true}, "ghost": {"hidden": true}}});
        let settings = settings.as_object().cloned().unwrap();
        let agents = Agents::new(Profile::of(ServerKind::Opencode), settings, Places::default());
        let error = not_found("nobody", agents.all());
        assert_eq!(
            error["data"]["message"],
            "Agent not found: \"nobody\". Available agents: build, explore, general"
        );
    }
}
