//! What the session of another agent must not do: what its giver must not, and what is not for such agents.

use super::task::TaskPlan;
use crate::world::World;
use crate::world::rules::{self, Action, Rule, Source};
use serde_json::Value;

/// What a session of another agent must not do, where a list says so.
const MUST_NOT: [&str; 3] = ["task", "question", "suggest"];
/// What an agent must not do, none that it gives work to can, where that is handed on.
const HANDED_ON: [&str; 7] =
    ["edit", "task", "notebook_edit", "notebook_execute", "write", "agent_manager", "repo_clone"];
/// The same, but only if more is said than that it must not do anything.
const HANDED_ON_BY_NAME: [&str; 2] = ["board_read", "board_post"];
/// The tools that its prompt takes away, in their order.
const TAKEN_AWAY: [&str; 3] = ["question", "todowrite", "task"];

impl World {
    /// The rules of a session for another agent: what its parent must not do, what is not for such agents.
    pub(super) fn rules_for_task(&self, session: &str, plan: &TaskPlan) -> Value {
        let is_handed_on =
            |rule: &Rule| rule.permission == "external_directory" || rule.action == Action::Deny;
        let mut rules: Vec<Rule> = self.rules_of_session(session).into_iter().filter(is_handed_on).collect();
        let unruled = ["todowrite", "task"]
            .into_iter()
            .filter(|name| !self.agents_for(session).is_ruled(&plan.agent, name));
        rules.extend(unruled.map(denial));
        rules.extend(self.primary_tools(session).iter().map(|name| denial(name)));
        if self.profile.subagent_rules {
            rules.extend(MUST_NOT.map(denial));
            rules.extend(self.handed_on(session, &plan.giver));
        }
        let mut told: Vec<Value> = Vec::new();
        for rule in rules.iter().map(Rule::wire) {
            if !told.contains(&rule) {
                told.push(rule);
            }
        }
        Value::Array(told)
    }

    /// The tools that the settings keep for agents that the person speaks to.
    pub(super) fn primary_tools(&self, session: &str) -> Vec<String> {
        let named = self.experiment_in(self.folder_of(session), "primary_tools");
        let named = named.as_array().into_iter().flatten().filter_map(Value::as_str);
        named.map(str::to_owned).collect()
    }

    fn rules_of_session(&self, session: &str) -> Vec<Rule> {
        let permission = self.sessions.get(session).and_then(|owner| owner.permission.as_ref());
        permission.map(rules::of_session).unwrap_or_default()
    }

    /// What its prompt takes away from another agent stands behind all other rules of its session.
    pub(super) fn take_tools_away(&mut self, child: &str, agent: &str) {
        if !self.profile.subagent_rules {
            return;
        }
        let usual = TAKEN_AWAY
            .into_iter()
            .filter(|name| *name != "todowrite" || !self.agents_for(child).is_ruled(agent, name));
        let mut tools: Vec<String> = usual.map(str::to_owned).collect();
        for name in self.primary_tools(child) {
            if !tools.contains(&name) {
                tools.push(name);
            }
        }
        let mut rules = self.rules_of_session(child);
        rules.retain(|rule| !tools.contains(&rule.permission));
        rules.extend(tools.iter().map(|name| denial(name)));
        if let Some(owner) = self.sessions.get_mut(child) {
            owner.permission = Some(rules.iter().map(Rule::wire).collect());
        }
        self.emit_session_updated(child);
    }

    /// What an agent must not do in a session, in its own words and in short.
    fn handed_on(&self, session: &str, giver: &str) -> Vec<Rule> {
        let mut all = self.agent_for(session, giver).map(|giver| giver.rules.clone()).unwrap_or_default();
        all.extend(self.rules_of_session(session));
        let is_denied =
            |rule: &&Rule| rule.action == Action::Deny && HANDED_ON.contains(&rule.permission.as_str());
        let said = all.iter().filter(is_denied).cloned();
        let forbids = |rules: &mut dyn DoubleEndedIterator<Item = &Rule>, name: &str| {
            rules::decide(rules, name, "*").action == Action::Deny
        };
        let short = HANDED_ON.into_iter().filter(|name| forbids(&mut all.iter(), name));
        let by_name = HANDED_ON_BY_NAME.into_iter().filter(|name| {
            forbids(&mut all.iter().filter(|rule| rule.permission != "*"), name)
                && forbids(&mut all.iter(), name)
        });
        said.chain(short.map(denial)).chain(by_name.map(denial)).collect()
    }
}

fn denial(permission: &str) -> Rule {
    Rule::new(permission, "*", Action::Deny, Source::Session)
}
