//! `task`: another agent works in a session of its own, and its last words are the result.

use super::{Completed, Plan};
use crate::world::permission::Wish;
use crate::world::prompt::{Prompt, Queued};
use crate::world::run::CallState;
use crate::world::session::NewSession;
use crate::world::{Effect, Purpose, World, template};
use serde_json::{Value, json};

/// Work that may be given away.
#[derive(Debug, Clone)]
pub(crate) struct TaskPlan {
    description: String,
    prompt: String,
    pub(super) agent: String,
    /// Whose rules are handed on.
    pub(super) giver: String,
    /// The session of an earlier task, as the call names it.
    resumed: Option<String>,
    /// The session in which it is done, and the message of its prompt.
    child: Option<(String, String)>,
    /// What that session had cost before.
    spent: f64,
    /// The prompt, while names in it are to be looked up.
    unread: Option<Box<Prompt>>,
}

impl World {
    /// Some servers give the work away before they tell that the call runs.
    pub(super) fn start_task_early(&mut self, session: &str, call: usize) -> bool {
        let agent = self.text_argument(session, call, "subagent_type").unwrap_or_default();
        let asks = self.permissions.asks(&self.who(session), "task", &agent);
        if self.profile.subagent_rules {
            return false;
        }
        if let Err(message) = self.may_give_work(session) {
            self.tell_running(session, call);
            self.fail_call(session, call, &message);
            return true;
        }
        if !asks && self.may_work(session, &agent).is_err() {
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
        let giver = self.agent_at_work(session).to_owned();
        let resumed = text(self, "task_id");
        let plan =
            TaskPlan { description, prompt, agent, giver, resumed, child: None, spent: 0.0, unread: None };
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
            Plan::Task(Box::new(TaskPlan {
                description,
                prompt,
                giver: agent.clone(),
                agent,
                resumed: None,
                child: None,
                spent: 0.0,
                unread: None,
            })),
        );
        self.give_task(session, call);
    }

    /// Nobody objects: the other agent gets its session and its prompt.
    pub(super) fn give_task(&mut self, session: &str, call: usize) {
        let Some(plan) = self.task_plan(session, call) else { return };
        if let Err(message) = self.may_work(session, &plan.agent) {
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
        let (model, variant) = self.model_for_task(session, &plan.agent);
        let told = self.told_of_task(session, &child);
        self.progress(session, call, told);
        let tools = self.profile.subagent_rules.then(|| self.tools_taken_away(session, &plan.agent));
        let prompt = Prompt {
            agent: Some(plan.agent.clone()),
            model: Some(model),
            variant,
            tools,
            parts: vec![json!({"type": "text", "text": plan.prompt})],
            ..Prompt::default()
        };
        let spent = self.spent_in(&child);
        let reads = template::NAME.is_match(&plan.prompt);
        let unread = reads.then(|| Box::new(prompt.clone()));
        let plan = TaskPlan { child: Some((child.clone(), String::new())), spent, unread, ..plan };
        self.set_plan(session, call, Plan::Task(Box::new(plan.clone())));
        if reads {
            return self.effect(Purpose::TaskStart(session.to_owned(), call), Effect::Yield);
        }
        let message = self.store_prompt(&child, prompt);
        self.task_written(session, call, message);
    }

    /// The other agent's prompt is stored.
    pub(crate) fn task_written(&mut self, session: &str, call: usize, message: String) {
        let Some(TaskPlan { child: Some((child, _)), agent, .. }) = self.task_plan(session, call) else {
            return;
        };
        self.take_tools_away(&child, &agent);
        if let Some(Some(Plan::Task(plan))) =
            self.run_mut(session).and_then(|run| run.calls.get_mut(call)).map(|call| call.plan.as_mut())
        {
            plan.child = Some((child, message));
            plan.unread = None;
        }
        self.effect(Purpose::TaskStart(session.to_owned(), call), Effect::Yield);
    }

    /// Can work be given to an agent of this name?
    fn may_work(&self, session: &str, agent: &str) -> Result<(), String> {
        match self.agent_for(session, agent) {
            Some(known) if known.is_primary && self.profile.refuses_primary => {
                Err(format!("Agent \"{agent}\" is a primary agent and cannot be used as a subagent"))
            }
            Some(_) => Ok(()),
            None => Err(format!("Unknown agent type: {agent} is not a valid agent type")),
        }
    }

    /// Who was given work may give it on as deep as the settings say, before any rule is looked at.
    fn may_give_work(&self, session: &str) -> Result<(), String> {
        const USUAL: u64 = 1;
        let parent = |id: &str| self.sessions.get(id).and_then(|owner| owner.parent.clone());
        let above = std::iter::successors(parent(session), |id| parent(id));
        let allowed =
            self.settings_for(session).get("subagent_depth").and_then(Value::as_u64).unwrap_or(USUAL);
        match u64::try_from(above.count()) {
            Ok(depth) if depth < allowed => Ok(()),
            _ => Err(format!(
                "Subagent depth limit reached ({allowed}). Increase \"subagent_depth\" to allow nested subagents."
            )),
        }
    }

    fn is_child(&self, session: &str, parent: &str) -> bool {
        self.sessions.get(session).and_then(|child| child.parent.as_deref()) == Some(parent)
    }

    /// A new session for a task.
    fn session_for_task(&mut self, session: &str, plan: &TaskPlan) -> Option<String> {
        let directory = self.sessions.get(session)?.directory.clone();
        let wish = NewSession {
            title: Some(format!("{} (@{} subagent)", plan.description, plan.agent)),
            parent: Some(session.to_owned()),
            agent: Some(plan.agent.clone()),
            permission: Some(self.rules_for_task(session, plan)),
            ..NewSession::default()
        };
        Some(self.create_session(&directory, wish))
    }

    fn tools_taken_away(&self, session: &str, agent: &str) -> Value {
        let mut tools = json!({"question": false, "task": false});
        if !self.agents_for(session).is_ruled(agent, "todowrite") {
            tools["todowrite"] = json!(false);
        }
        for name in self.primary_tools(session) {
            tools[name] = json!(false);
        }
        tools
    }

    pub(crate) fn begin_task(&mut self, session: &str, call: usize) {
        let Some(TaskPlan { child: Some((child, message)), unread, .. }) = self.task_plan(session, call)
        else {
            return;
        };
        self.work_is(&child, "running");
        if let Some(prompt) = unread {
            return self.read_work(&child, *prompt, (session, call));
        }
        self.begin_turn(&child, Queued::of_call(message, session, call));
    }

    /// The other agent is idle; `answer` is its last message.
    pub(crate) fn task_done(&mut self, session: &str, call: usize, answer: &Value) {
        let Some(TaskPlan { description, child: Some((child, _)), spent, .. }) =
            self.task_plan(session, call)
        else {
            return;
        };
        self.charge(session, &child, spent);
        self.stop_processes_of(&child);
        self.work_is(&child, "completed");
        let parts = answer["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(message) = self.failure_of_task(&child, answer, parts) {
            self.work_is(&child, "error");
            self.fail_call(session, call, &message);
            return;
        }
        let said = parts.iter().rfind(|part| part["type"] == "text").and_then(|part| part["text"].as_str());
        let said = said.unwrap_or_default();
        let output = format!(
            "<task id=\"{child}\" state=\"completed\">\n<task_result>\n{said}\n</task_result>\n</task>"
        );
        let mut metadata = self.told_of_task(session, &child);
        metadata["truncated"] = json!(false);
        let result = Completed { output, title: description, metadata, ..Completed::default() };
        self.complete_told_call(session, call, result);
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
        self.work_is(child, "cancelled");
        let spent = self.task_plan(session, call).map(|plan| plan.spent);
        self.charge(session, child, spent.unwrap_or_default());
        self.stop_processes_of(child);
        let now = self.now_ms;
        let mut metadata = self.told_of_task(session, child);
        self.add_approval(session, call, &mut metadata);
        self.set_state(session, call, |input, started| {
            json!({
                "status": "error", "input": input, "error": "Task cancelled", "metadata": metadata,
                "time": {"start": started, "end": now},
            })
        });
    }

    fn failure_of_task(&self, child: &str, answer: &Value, parts: &[Value]) -> Option<String> {
        let error = answer.pointer("/info/error").map(|error| {
            let message = error.pointer("/data/message").and_then(Value::as_str);
            message.or_else(|| error["name"].as_str()).unwrap_or_default().to_owned()
        });
        if self.profile.subagent_rules {
            return error.map(|why| format!("{why}\n{}", resumable(child)));
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

    /// What the call tells of the other session.
    fn told_of_task(&self, session: &str, child: &str) -> Value {
        let agent = self.agent_of(child).to_owned();
        let (model, variant) = self.model_for_task(session, &agent);
        let mut told = json!({"parentSessionId": session, "sessionId": child, "model": model});
        if let Some(variant) = variant.filter(|_| self.profile.subagent_rules) {
            told["variant"] = json!(variant);
        }
        told
    }

    fn task_plan(&mut self, session: &str, call: usize) -> Option<TaskPlan> {
        match &self.run_mut(session)?.calls.get(call)?.plan {
            Some(Plan::Task(plan)) => Some(plan.as_ref().clone()),
            _ => None,
        }
    }
}

/// How the agent can take up again what another one has not done.
pub(in crate::world) fn resumable(child: &str) -> String {
    format!(
        "This subagent session can be resumed: call the task tool again with task_id=\"{child}\" and a prompt describing \
         how to continue or recover. Its prior context is preserved."
    )
}
