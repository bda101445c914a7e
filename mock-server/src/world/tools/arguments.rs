//! What the servers do with a call that can't be made: a tool that is not offered, arguments that are no JSON or wrong.

mod taken;

pub(crate) use taken::wrong as wrong_arguments;

use crate::profile::MisuseWords;
use crate::world::World;
use crate::world::run::CallState;
use serde_json::json;

/// So many calls in a row with arguments that can't be taken end a turn, where a server counts them.
const MISUSES_MAX: u32 = 3;

impl World {
    /// A call that can't be made fails as soon as it has been told to run. Says whether so.
    pub(crate) fn refuse_misuse(&mut self, session: &str, call: usize) -> bool {
        let Some(called) = self.run_mut(session).and_then(|run| run.calls.get(call)) else { return false };
        let (tool, input) = (called.tool.clone(), called.input.clone());
        if tool == INVALID && self.has_invalid(session) {
            self.tell_running(session, call);
            self.start_invalid(session, call);
            return true;
        }
        if !self.offered(session).contains(&tool) {
            let message = self.unavailable(session, self.missing(&tool));
            self.tell_running(session, call);
            self.fail_call(session, call, &message);
            return true;
        }
        let words = if input.is_object() {
            taken::wrong(&tool, &input, self.profile.misuse)
        } else {
            self.wrap_input(session, call);
            match self.profile.misuse {
                MisuseWords::First => format!("SchemaError(Expected object, got {input})"),
                MisuseWords::All => format!("input: Expected object, got {input}"),
            }
        };
        let vain = match tool.as_str() {
            "apply_patch" => self.vain_patch(session, call),
            "edit" => self.vain_edit(session, call),
            _ => None,
        };
        if let (true, Some(message)) = (words.is_empty(), &vain) {
            self.tell_running(session, call);
            self.fail_call(session, call, message);
        }
        if words.is_empty() {
            return vain.is_some();
        }
        let message = told_of_arguments(&tool, &words);
        let before = self.sessions.get(session).map_or(0, |owner| owner.misuses);
        self.tell_running(session, call);
        self.fail_call(session, call, &message);
        self.count_misuse(session, &tool, before + 1);
        true
    }

    /// Arguments that are JSON and no object are told as the value of one.
    fn wrap_input(&mut self, session: &str, call: usize) {
        if let Some(called) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            called.input = json!({"value": called.input.take()});
        }
    }

    /// Some servers lose patience with a model that goes on like this.
    fn count_misuse(&mut self, session: &str, tool: &str, count: u32) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        owner.misuses = count;
        if self.profile.misuse != MisuseWords::All || count < MISUSES_MAX {
            return;
        }
        owner.misuses = 0;
        let message = format!(
            "Stopped after {MISUSES_MAX} consecutive invalid-argument failures for the \"{tool}\" tool. The model kept \
             re-issuing malformed input, so the turn was aborted to avoid burning tokens."
        );
        let error = json!({"name": "APIError", "data": {"message": message, "isRetryable": false}});
        self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        if let Some(run) = self.run_mut(session) {
            run.stopped = Some(error.clone());
            let message = run.message.clone();
            if let Some(message) =
                self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message))
            {
                message.info["error"] = error;
            }
        }
    }

    /// A tool whose name is written in capitals is meant all the same.
    fn mend_name(&mut self, session: &str, call: usize) {
        let Some(called) = self.run_mut(session).and_then(|run| run.calls.get(call)) else { return };
        let given = called.tool.clone();
        let trimmed = if self.profile.misuse == MisuseWords::First { &given } else { given.trim() };
        let meant = trimmed.to_lowercase();
        let offered = self.offered(session);
        if meant == given || offered.contains(&given) || !offered.contains(&meant) {
            return;
        }
        self.rename_tool(session, call, &meant);
    }

    fn rename_tool(&mut self, session: &str, call: usize, tool: &str) {
        let Some((part_of, part)) = self.call_part(session, call) else { return };
        if let Some(part) = self.part_mut(session, &part_of, part) {
            part["tool"] = json!(tool);
        }
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            tool.clone_into(&mut call.tool);
        }
    }

    /// A tool that is not offered, where such a call becomes one of the tool for calls that can't be made.
    pub(crate) fn redirect_misuse(&mut self, session: &str, call: usize) {
        self.mend_name(session, call);
        let Some(tool) =
            self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone())
        else {
            return;
        };
        if !self.has_invalid(session) || self.offered(session).contains(&tool) {
            return;
        }
        let message = self.unavailable(session, &tool);
        self.make_invalid(session, call, &message);
    }

    fn make_invalid(&mut self, session: &str, call: usize, message: &str) {
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            call.input = json!({"tool": call.tool, "error": message});
        }
        self.rename_tool(session, call, INVALID);
    }

    /// The answer is over, and the arguments of some calls are no JSON.
    pub(crate) fn refuse_broken_arguments(&mut self, session: &str) {
        let now = self.now_ms;
        let count = self.run_mut(session).map_or(0, |run| run.calls.len());
        for at in 0..count {
            let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(at)) else { return };
            if call.state != CallState::Written {
                continue;
            }
            // Nothing at all is an object without fields.
            if call.arguments.trim().is_empty() {
                self.arguments_whole(session, at, json!({}));
                continue;
            }
            self.mend_name(session, at);
            let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(at)) else { return };
            let why = crate::no_json::why(&call.arguments).unwrap_or_default();
            let message = format!(
                "Invalid input for tool {}: JSON parsing failed: Text: {}.\nError message: {why}",
                call.tool, call.arguments
            );
            call.state = CallState::Running;
            call.started_ms = now;
            call.input = json!({"value": call.arguments});
            if self.has_invalid(session) {
                self.make_invalid(session, at, &message);
                self.tell_running(session, at);
                self.start_invalid(session, at);
            } else {
                let is_missed = self.profile.misuse == MisuseWords::First;
                let message = if is_missed { self.unavailable(session, INVALID) } else { message };
                self.tell_running(session, at);
                self.fail_call(session, at, &message);
            }
        }
    }

    fn start_invalid(&mut self, session: &str, call: usize) {
        let Some(error) = self.text_argument(session, call, "error") else { return };
        let result = super::Completed {
            output: format!("The arguments provided to the tool are invalid: {error}"),
            title: "Invalid Tool".to_owned(),
            metadata: json!({"truncated": false}),
            ..super::Completed::default()
        };
        self.complete_call(session, call, result);
    }

    fn unavailable(&self, session: &str, tool: &str) -> String {
        let mut offered = self.offered(session);
        if self.profile.misuse != MisuseWords::First {
            offered.retain(|name| name != INVALID);
        }
        offered.sort();
        let offered = offered.join(", ");
        format!("Model tried to call unavailable tool '{tool}'. Available tools: {offered}.")
    }

    /// What a call may name: the tools that are offered, and the one for calls that can't be made.
    fn offered(&self, session: &str) -> Vec<String> {
        let mut offered = self.offered_tools(session);
        if self.has_invalid(session) {
            offered.push(INVALID.to_owned());
        }
        offered
    }

    /// Is there a tool for calls that can't be made? Rules may deny it like any other.
    fn has_invalid(&self, session: &str) -> bool {
        self.profile.misuse == MisuseWords::First && self.may_use(session, INVALID)
    }

    /// Which tool a call that can't be made lacks: its own, or the one that it should have become.
    fn missing<'t>(&self, tool: &'t str) -> &'t str {
        if self.profile.misuse == MisuseWords::First { INVALID } else { tool }
    }
}

/// What is told of arguments that can't be taken.
pub(crate) fn told_of_arguments(tool: &str, words: &str) -> String {
    format!(
        "The {tool} tool was called with invalid arguments: {words}.\nPlease rewrite the input so it satisfies the \
         expected schema."
    )
}

/// The tool that a call which can't be made becomes.
const INVALID: &str = "invalid";
