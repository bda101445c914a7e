//! A prompt, or a command, gives work to another agent: a step of that agent's own, with a call that no model has made.

use super::history::Errand;
use super::run::{Call, CallState};
use super::tokens::Tokens;
use super::tools::Completed;
use super::{World, session::merge};
use crate::profile::FollowUps;
use serde_json::{Value, json};

/// The work in progress.
#[derive(Debug)]
pub(crate) struct Subtask {
    /// It came with a command: the agent is asked to go on with what comes of it.
    is_command: bool,
    /// Agent and model of the prompt.
    asked: Value,
}

const GO_ON: &str = "Summarize the task tool output above and continue with your task.";

impl World {
    /// The work is given away; the session's own agent waits.
    pub(crate) fn begin_subtask(&mut self, session: &str, errand: Errand) {
        let now = self.now_ms;
        let Some(owner) = self.sessions.get(session) else { return };
        let directory = owner.directory.clone();
        let asked = owner.message(&errand.message).map(|asked| asked.info.clone()).unwrap_or_default();
        let part = errand.part;
        let agent = part["agent"].as_str().unwrap_or_default().to_owned();
        let model = part.get("model").filter(|model| model.is_object()).unwrap_or(&asked["model"]).clone();
        if let Some(mistake) = self.lacks_model(session, &model) {
            return self.break_off(session, Some(mistake));
        }
        let message = self.ids.ascending("msg", now);
        let root = self.worktree_of(&directory);
        let mut info = json!({
            "id": message, "sessionID": session, "role": "assistant", "time": {"created": now},
            "parentID": errand.message, "modelID": model["modelID"], "providerID": model["providerID"],
            "mode": agent, "agent": agent, "path": {"cwd": directory, "root": root}, "cost": 0,
            "tokens": Tokens::default().wire(),
        });
        if let Some(variant) = asked["model"].get("variant") {
            info["variant"] = variant.clone();
        }
        self.push_message(session, &message, info);
        let mut input = json!({
            "prompt": part["prompt"], "description": part["description"], "subagent_type": agent,
        });
        let command = part.get("command").filter(|command| command.is_string());
        if let Some(command) = command {
            input["command"] = command.clone();
        }
        let call = self.ids.call(now);
        let state = json!({"status": "running", "input": input, "time": {"start": now}});
        let tool = json!({"type": "tool", "callID": call, "tool": "task", "state": state});
        let place = self.add_part(session, &message, tool);
        let subtask = Subtask {
            is_command: command.is_some(),
            asked: json!({"agent": asked["agent"], "model": asked["model"], "prompt": errand.message}),
        };
        if let Some(run) = self.run_mut(session) {
            run.message = message;
            run.begin_answer();
            run.start_tree.clear();
            if !run.has_stepped {
                run.summed_up = None;
            }
            run.subtask = Some(subtask);
            run.calls.push(Call {
                id: call,
                tool: "task".to_owned(),
                arguments: String::new(),
                part: place,
                state: CallState::Running,
                is_told: true,
                title: None,
                input,
                started_ms: now,
                plan: None,
                approval: Value::Null,
                has_left: false,
                is_to_begin: false,
            });
        }
        if self.is_nobody(session, &agent) {
            return self.break_off(session, None);
        }
        if self.profile.subagent_rules
            && self.agent_for(session, &agent).is_some_and(|agent| agent.is_primary)
        {
            let message = format!("Agent \"{agent}\" is a primary agent and cannot be used as a subagent");
            return self.fail_call(session, 0, &message);
        }
        self.give_work(session, 0, &part, agent);
    }

    /// Is the current step one of another agent?
    pub(crate) fn is_subtask(&self, session: &str) -> bool {
        let run = self.sessions.get(session).and_then(|owner| owner.run.as_ref());
        run.is_some_and(|run| run.subtask.is_some())
    }

    /// The other agent is done, well or not.
    pub(crate) fn subtask_done(&mut self, session: &str, result: Result<&Completed, &str>) {
        let now = self.now_ms;
        let Some(run) = self.run_mut(session) else { return };
        let Some(done) = run.subtask.take() else { return };
        run.has_stepped = true;
        let message = run.message.clone();
        let Some(call) = run.calls.first_mut() else { return };
        call.state = CallState::Done;
        let (place, input, started) = (call.part, call.input.clone(), call.started_ms);
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message)) {
            message.info["finish"] = json!("tool-calls");
            message.info["time"]["completed"] = json!(now);
        }
        self.emit_message(session, &message);
        let time = json!({"start": started, "end": now});
        let known =
            self.part_mut(session, &message, place).and_then(|part| part.pointer("/state/metadata").cloned());
        let state = match result {
            Ok(result) => json!({
                "status": "completed", "input": input, "output": result.output, "title": result.title,
                "metadata": result.metadata, "time": time,
            }),
            Err(why) => {
                let why = format!("Tool execution failed: {why}");
                let mut state = json!({"status": "error", "input": input, "error": why, "time": time});
                if let Some(known) = known {
                    state["metadata"] = known;
                }
                state
            }
        };
        self.change_part(session, &message, place, json!({"state": state}));
        if done.is_command {
            self.ask_to_go_on(session, &done.asked);
        }
        self.emit_status(session, "busy");
        self.take_follow_ups(session);
        self.next_step(session);
    }

    fn ask_to_go_on(&mut self, session: &str, asked: &Value) {
        let message = self.ids.ascending("msg", self.now_ms);
        let mut info = json!({
            "id": message, "sessionID": session, "role": "user", "time": {"created": self.now_ms},
        });
        merge(&mut info, json!({"agent": asked["agent"], "model": asked["model"]}));
        self.push_message(session, &message, info);
        self.add_part(session, &message, json!({"type": "text", "text": GO_ON, "synthetic": true}));
        let is_own = self.profile.follow_ups == FollowUps::OwnTurns;
        let Some(run) = self.run_mut(session) else { return };
        // A turn that has its prompt to itself does not see this one.
        if !is_own {
            run.prompt = message;
        }
    }
}
