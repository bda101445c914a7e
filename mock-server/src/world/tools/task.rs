//! `task`: another agent works in a session of its own, and its last words are the result.

use super::{Completed, Plan};
use crate::world::permission::Wish;
use crate::world::prompt::{Prompt, Queued};
use crate::world::run::CallState;
use crate::world::session::NewSession;
use crate::world::{Effect, Purpose, World};
use serde_json::{Value, json};

/// Work that may be given away.
#[derive(Debug, Clone)]
pub(crate) struct TaskPlan {
    description: String,
    prompt: String,
    agent: String,
    /// The session of an earlier task, as the call names it.
    resumed: Option<String>,
    /// The session in which it is done, and the message of its prompt.
    child: Option<(String, String)>,
}

/// What a session of another agent must not do, where a fixed list says so.
const MUST_NOT: [&str; 4] = ["task", "question", "suggest", "repo_clone"];

impl World {
    /// Some servers give the work away before they tell that the call runs.
    pub(super) fn start_task_early(&mut self, session: &str, call: usize) -> bool {
        let agent = self.text_argument(session, call, "subagent_type").unwrap_or_default();
        let asks = self.permissions.asks(&self.who(session), "task", &agent);
        if self.profile.subagent_rules {
            return false;
        }
        self.meet_agent(&agent);
        if !asks && self.may_work(&agent).is_err() {
            self.tell_running(session, call);
            self.start_task(session, call);
            return true;
        }
        self.start_task(session, call);
        self.tell_running(session, call);
        true
    }

    pub(super) fn start_task(&mut self, session: &str, call: usize) {
        let text = |world: &Self, name| world.text_argument(session, call, name);
        let (Some(description), Some(prompt), Some(agent)) =
            (text(self, "description"), text(self, "prompt"), text(self, "subagent_type"))
        else {
            return;
        };
        let metadata = json!({"description": description, "subagent_type": agent});
        let patterns = vec![agent.clone()];
        let plan = TaskPlan { description, prompt, agent, resumed: text(self, "task_id"), child: None };
        self.set_plan(session, call, Plan::Task(Box::new(plan)));
        let wish = Wish { permission: "task", patterns, metadata, always: vec!["*".to_owned()] };
        self.ask_or_allow(session, call, &wish);
    }

    /// A prompt gives the work, and nobody has to allow it.
    pub(crate) fn give_work(&mut self, session: &str, call: usize, part: &Value, agent: String) {
        let word = |key: &str| part[key].as_str().unwrap_or_default().to_owned();
        let (description, prompt) = (word("description"), word("prompt"));
        self.set_plan(
            session,
            call,
            Plan::Task(Box::new(TaskPlan { description, prompt, agent, resumed: None, child: None })),
        );
        self.give_task(session, call);
    }

    /// Nobody objects: the other agent gets its session and its prompt.
    pub(super) fn give_task(&mut self, session: &str, call: usize) {
        let Some(plan) = self.task_plan(session, call) else { return };
        self.meet_agent(&plan.agent);
        if let Err(message) = self.may_work(&plan.agent) {
            self.fail_call(session, call, &message);
            return;
        }
        let resumed = plan.resumed.clone().filter(|id| self.sessions.contains_key(id));
        let child = match resumed {
            Some(child) if self.profile.subagent_rules && !self.is_child(&child, session) => {
                let message = format!("Cannot resume session {child}: not a child of the current session");
                self.fail_call(session, call, &message);
                return;
            }
            Some(child) => {
                if self.profile.subagent_rules {
                    self.emit_session_updated(&child);
                }
                child
            }
            None => match self.session_for_task(session, &plan) {
                Some(child) => child,
                None => return,
            },
        };
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            call.title = Some(plan.description.clone());
        }
        self.progress(session, call, told(session, &child));
        let tools = self.profile.subagent_rules.then(|| self.tools_taken_away(&plan.agent));
        let prompt = Prompt {
            agent: Some(plan.agent.clone()),
            tools,
            parts: vec![json!({"type": "text", "text": plan.prompt})],
            ..Prompt::default()
        };
        let message = self.store_prompt(&child, prompt);
        if self.profile.subagent_rules {
            // What the prompt takes away stands behind all other rules.
            let mut last = vec![MUST_NOT[2], MUST_NOT[3], MUST_NOT[1]];
            if !self.permissions.is_ruled(&plan.agent, "todowrite") {
                last.push("todowrite");
            }
            last.push(MUST_NOT[0]);
            if let Some(owner) = self.sessions.get_mut(&child) {
                owner.permission = Some(denials(&last));
            }
            self.emit_session_updated(&child);
        }
        let plan = TaskPlan { child: Some((child, message)), ..plan };
        self.set_plan(session, call, Plan::Task(Box::new(plan)));
        self.effect(Purpose::TaskStart(session.to_owned(), call), Effect::Yield);
    }

    /// Can work be given to an agent of this name?
    fn may_work(&self, agent: &str) -> Result<(), String> {
        let configured = self.config.config.get("agent").and_then(|agents| agents.get(agent));
        let mode = configured.and_then(|agent| agent["mode"].as_str());
        let own = self.profile.primary_agents;
        let is_primary = mode.map_or(own.contains(&agent), |mode| mode == "primary" && !own.is_empty());
        if is_primary {
            return Err(format!("Agent \"{agent}\" is a primary agent and cannot be used as a subagent"));
        }
        if !self.permissions.knows(agent) {
            return Err(format!("Unknown agent type: {agent} is not a valid agent type"));
        }
        Ok(())
    }

    fn is_child(&self, session: &str, parent: &str) -> bool {
        self.sessions.get(session).and_then(|child| child.parent.as_deref()) == Some(parent)
    }

    /// A new session for a task.
    fn session_for_task(&mut self, session: &str, plan: &TaskPlan) -> Option<String> {
        let directory = self.sessions.get(session)?.directory.clone();
        let child = self.create_session_quietly(
            &directory,
            NewSession {
                title: Some(format!("{} (@{} subagent)", plan.description, plan.agent)),
                parent: Some(session.to_owned()),
                agent: Some(plan.agent.clone()),
                permission: Some(self.rules_for_task(&plan.agent)),
                ..NewSession::default()
            },
        );
        if self.profile.subagent_rules {
            let status = json!({
                "sessionID": child, "directory": directory, "enabled": false, "available": true, "version": 0,
            });
            self.emit_outside_project(&directory, "sandbox.status.changed", status);
        }
        self.emit_created(&child);
        Some(child)
    }

    fn tools_taken_away(&self, agent: &str) -> Value {
        let mut tools = json!({"question": false, "task": false});
        if !self.permissions.is_ruled(agent, "todowrite") {
            tools["todowrite"] = json!(false);
        }
        tools
    }

    pub(crate) fn begin_task(&mut self, session: &str, call: usize) {
        let Some((child, message)) = self.task_plan(session, call).and_then(|plan| plan.child) else {
            return;
        };
        self.begin_turn(&child, Queued { ticket: None, message, command: None });
        if let Some(run) = self.run_mut(&child) {
            run.for_call = Some((session.to_owned(), call));
        }
    }

    /// The other agent is idle; `answer` is its last message.
    pub(crate) fn task_done(&mut self, session: &str, call: usize, answer: &Value) {
        let Some(TaskPlan { description, child: Some((child, _)), .. }) = self.task_plan(session, call)
        else {
            return;
        };
        let parts = answer["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(message) = self.failure_of_task(&child, answer, parts) {
            self.fail_call(session, call, &message);
            return;
        }
        let said = parts.iter().rfind(|part| part["type"] == "text").and_then(|part| part["text"].as_str());
        let said = said.unwrap_or_default();
        let output = format!(
            "<task id=\"{child}\" state=\"completed\">\n<task_result>\n{said}\n</task_result>\n</task>"
        );
        if self.tells_output(session) && !self.is_subtask(session) {
            self.progress(session, call, json!({"output": output}));
        }
        let mut metadata = told(session, &child);
        metadata["truncated"] = json!(false);
        let result = Completed { output, title: description, metadata, ..Completed::default() };
        self.complete_call(session, call, result);
    }

    /// The calls of a turn that another agent works for, and its sessions.
    pub(crate) fn working_children(&mut self, session: &str) -> Vec<(usize, String)> {
        let Some(run) = self.run_mut(session) else { return Vec::new() };
        let children: Vec<(usize, String)> = run
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.state == CallState::Running)
            .filter_map(|(at, call)| match &call.plan {
                Some(Plan::Task(plan)) => Some((at, plan.child.as_ref()?.0.clone())),
                _ => None,
            })
            .collect();
        children.into_iter().filter(|(_, child)| self.run_mut(child).is_some()).collect()
    }

    /// The person ends the turn: nobody waits for the other agent any more.
    pub(crate) fn cancel_task(&mut self, session: &str, call: usize, child: &str) {
        if let Some(run) = self.run_mut(child) {
            run.for_call = None;
        }
        let now = self.now_ms;
        let mut metadata = told(session, child);
        self.add_approval(session, call, &mut metadata);
        self.set_state(session, call, |input, started| {
            json!({
                "status": "error", "input": input, "error": "Task cancelled", "metadata": metadata,
                "time": {"start": started, "end": now},
            })
        });
        self.call_done(session, call);
    }

    fn failure_of_task(&self, child: &str, answer: &Value, parts: &[Value]) -> Option<String> {
        let error = answer.pointer("/info/error").map(|error| {
            let message = error.pointer("/data/message").and_then(Value::as_str);
            message.or_else(|| error["name"].as_str()).unwrap_or_default().to_owned()
        });
        if self.profile.subagent_rules {
            return error;
        }
        let failed = || {
            let is_failed = |part: &&Value| {
                part["type"] == "tool"
                    && part.pointer("/state/status").is_some_and(|status| status == "error")
            };
            parts.iter().rfind(is_failed)?.pointer("/state/error")?.as_str().map(str::to_owned)
        };
        error.or_else(failed).map(|why| format!("Subagent failed (task_id: {child}): {why}"))
    }

    fn rules_for_task(&self, agent: &str) -> Value {
        if self.profile.subagent_rules {
            let unruled = (!self.permissions.is_ruled(agent, "todowrite")).then_some("todowrite");
            return denials(&unruled.into_iter().chain(MUST_NOT).collect::<Vec<&str>>());
        }
        let unruled =
            ["todowrite", "task"].into_iter().filter(|name| !self.permissions.is_ruled(agent, name));
        denials(&unruled.collect::<Vec<&str>>())
    }

    fn task_plan(&mut self, session: &str, call: usize) -> Option<TaskPlan> {
        match &self.run_mut(session)?.calls.get(call)?.plan {
            Some(Plan::Task(plan)) => Some(plan.as_ref().clone()),
            _ => None,
        }
    }
}

fn told(session: &str, child: &str) -> Value {
    json!({"parentSessionId": session, "sessionId": child, "model": {"modelID": "fake", "providerID": "fake"}})
}

fn denials(permissions: &[&str]) -> Value {
    permissions.iter().map(|name| json!({"permission": name, "pattern": "*", "action": "deny"})).collect()
}
