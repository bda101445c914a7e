//! What an agent is reminded of when another one has worked before it, and when it is only to plan.

use super::World;
use super::planning::saved_plan;
use super::rules::Action;
use super::session::{Message, Session};
use super::surroundings::{PlaceAsk, PlaceWish};
use super::tools::place::resolved;
use crate::profile::PlanWords;
use serde_json::json;

/// A text that the model is told with a prompt, and that is kept nowhere.
#[derive(Debug, Clone)]
pub(crate) struct Reminder {
    pub(crate) text: String,
    /// The part of the prompt that it stands before; none, when it stands behind all.
    pub(crate) before: Option<String>,
}

/// The agent that only plans.
pub(super) const PLANNER: &str = "plan";
/// Where it writes plans, in the project's folder.
pub(super) const PLANS: &str = ".kilo/plans";

impl World {
    /// A step begins: an agent that follows another one is told, and that stays with the prompt.
    pub(crate) fn remind_of_change(&mut self, session: &str) {
        if !self.profile.tells_agent_changes {
            return;
        }
        let Some(owner) = self.sessions.get(session) else { return };
        let Some(run) = owner.run.as_ref() else { return };
        let history = self.history(owner);
        let Some(prompt) = history.iter().rfind(|message| message.role() == "user") else { return };
        let before = history.iter().rfind(|message| message.id() != prompt.id());
        let prior = before.and_then(|message| message.info["agent"].as_str()).unwrap_or_default().trim();
        let current =
            owner.message(&run.prompt).and_then(|asked| asked.info["agent"].as_str()).unwrap_or_default();
        if prior.is_empty() || prior.eq_ignore_ascii_case(current) {
            return;
        }
        let text = format!(
            "\n\n<system-reminder>\nThe active agent has changed from {prior} to {current}.\nThis supersedes earlier \
             agent-switch reminders. Your instructions and permissions are those of the {current} agent as given in \
             the current system prompt; earlier turns reflect the previous agent, not your current capabilities.\n{}\n\
             </system-reminder>\n",
            self.capability(session, current)
        );
        if prompt.parts.iter().any(|part| part["text"] == text) {
            return;
        }
        let prompt = prompt.id().to_owned();
        let place = self.add_part(session, &prompt, json!({"type": "text", "text": text, "synthetic": true}));
        let id =
            self.part_mut(session, &prompt, place).and_then(|part| part["id"].as_str().map(str::to_owned));
        if let Some(run) = self.run_mut(session) {
            run.reminder = id;
        }
    }

    /// A step begins: the planner's plans have a folder, before there is any.
    pub(crate) fn make_room_for_plans(&mut self, session: &str) {
        let Some(owner) = self.sessions.get(session) else { return };
        let asked = owner.run.as_ref().and_then(|run| owner.message(&run.prompt));
        let plans = asked.is_some_and(|prompt| prompt.info["agent"] == PLANNER);
        let worktree = self.worktree_of(&owner.directory);
        let is_ours = self.in_repository(&owner.directory).is_some();
        if plans && is_ours && matches!(self.profile.plan, PlanWords::WithFile { .. }) {
            self.ask_place(PlaceAsk::Nobody, PlaceWish::MakeFolder(format!("{worktree}/{PLANS}")));
        }
    }

    fn capability(&self, session: &str, agent: &str) -> &'static str {
        if !self.agent_for(session, agent).is_some_and(|agent| agent.is_native) {
            return "Use the tools according to this agent's configured permissions; the permission system reports what \
                    is allowed.";
        }
        if self.agents_for(session).says(agent, "edit", "*") == Action::Deny {
            "This agent cannot modify files or run mutating commands. If a request needs implementation, suggest \
             switching to an agent that can."
        } else {
            "This agent may modify files and run commands within its configured permissions."
        }
    }

    /// What is told with the prompt of the current step, beside.
    pub(crate) fn reminders(&self, owner: &Session, history: &[&Message], prompt: &Message) -> Vec<Reminder> {
        let asked = owner.run.as_ref().and_then(|run| owner.message(&run.prompt)).unwrap_or(prompt);
        let agent = asked.info["agent"].as_str().unwrap_or_default();
        let before = owner.run.as_ref().and_then(|run| run.reminder.clone());
        let reminder = |text: String| Reminder { text, before: before.clone() };
        match self.profile.plan {
            PlanWords::WithFile { words, file, end, end_of_agent } if agent == PLANNER => {
                let created = owner.created_ms.to_string();
                let project = self.worktree_of(&owner.directory);
                let saved = saved_plan(history).map(|plan| resolved(&project, plan));
                // One line is about a plan that is saved, another about one that is not.
                let other = if saved.is_some() { "${created}" } else { "${saved}" };
                let file: String = file.split_inclusive('\n').filter(|line| !line.contains(other)).collect();
                let file = file.replace("${saved}", &saved.unwrap_or_default());
                let file = file.replace("${workspace}", &project).replace("${created}", &created);
                let file =
                    file.replace("${end}", if self.config.standing.is_agents() { end_of_agent } else { end });
                vec![reminder(words.to_owned()), reminder(file)]
            }
            PlanWords::WithEnd { words, .. } if agent == PLANNER => vec![reminder(words.to_owned())],
            PlanWords::WithEnd { end, .. } if agent == self.profile.agent => {
                let was_planned = history
                    .iter()
                    .any(|message| message.role() != "user" && message.info["agent"] == PLANNER);
                if was_planned { vec![reminder(end.to_owned())] } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }
}
