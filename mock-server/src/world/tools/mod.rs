//! What the agent's tools do. A tool is a file here and an arm in [`World::start_call`].
//!
//! A call goes: its arguments are whole → it looks at what it is about to change → rules and, perhaps, a question
//! → it acts → its part is completed. Each → is an effect or an answer, so other sessions go on meanwhile.

mod read;
mod write;

use super::turn::CallState;
use super::{World, session::merge};
use serde_json::{Value, json};

/// What a call found out before it acts.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// Read a file.
    Read(read::ReadPlan),
    /// Write a file.
    Write(write::WritePlan),
}

impl World {
    /// The arguments are whole, and all that was on its way is done.
    pub(crate) fn start_call(&mut self, session: &str, call: usize) {
        let Some(run) = self.run_mut(session) else { return };
        let Some(starting) = run.calls.get(call) else { return };
        match starting.tool.as_str() {
            "read" => self.start_read(session, call),
            "write" => self.start_write(session, call),
            other => {
                let message =
                    format!("standin does not perform the tool '{other}' yet; it performs: read, write");
                self.fail_call(session, call, &message);
            }
        }
    }

    /// Nobody objects: the call acts.
    pub(crate) fn allow_call(&mut self, session: &str, call: usize, approval: Value) {
        let Some(allowed) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        allowed.approval = approval;
        let Some(plan) = allowed.plan.clone() else { return };
        if self.profile.tool_progress {
            self.progress(session, call, json!({}));
        }
        match plan {
            Plan::Read(plan) => self.read(session, call, &plan),
            Plan::Write(plan) => self.write(session, call, &plan),
        }
    }

    /// The file that a call is about is known.
    pub(crate) fn call_read(&mut self, session: &str, call: usize, content: Result<Option<String>, String>) {
        let plan =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone());
        match (plan, content) {
            (_, Err(message)) => self.fail_call(session, call, &message),
            (Some(Plan::Read(plan)), Ok(content)) => self.file_read(session, call, &plan, content),
            (Some(Plan::Write(plan)), Ok(before)) => self.file_to_write(session, call, plan, before),
            (None, _) => {}
        }
    }

    /// An argument of a call, if it is a string.
    fn text_argument(&self, session: &str, call: usize, name: &str) -> Option<String> {
        let run = self.sessions.get(session)?.run.as_ref()?;
        run.calls.get(call)?.input.get(name)?.as_str().map(str::to_owned)
    }

    /// The path that a call names, absolute and relative to the session's directory; a call that leads outside fails.
    fn path_argument(&mut self, session: &str, call: usize) -> Option<(String, String)> {
        let directory = self.sessions.get(session)?.directory.clone();
        let Some(path) = self.text_argument(session, call, "filePath") else {
            self.fail_call(session, call, "standin: the call needs the string 'filePath'");
            return None;
        };
        let Some(relative) = inside(&directory, &path) else {
            let message = format!("standin keeps to the workspace {directory}: {path} is outside");
            self.fail_call(session, call, &message);
            return None;
        };
        Some((format!("{directory}/{relative}"), relative))
    }

    fn set_plan(&mut self, session: &str, call: usize, plan: Plan) {
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            call.plan = Some(plan);
        }
    }

    /// The person said no: the call fails, and the turn ends with its step.
    pub(crate) fn reject_call(&mut self, session: &str, call: usize) {
        if let Some(run) = self.run_mut(session) {
            run.rejected = true;
        }
        self.fail_call(session, call, "The user rejected permission to use this specific tool call.");
    }

    pub(crate) fn fail_call(&mut self, session: &str, call: usize, message: &str) {
        let now = self.now_ms;
        self.set_state(session, call, |input, started| {
            json!({"status": "error", "input": input, "error": message, "time": {"start": started, "end": now}})
        });
        self.call_done(session, call);
    }

    /// Shows a running call's metadata.
    pub(crate) fn progress(&mut self, session: &str, call: usize, metadata: Value) {
        let approval = self.approval_of(session, call);
        self.set_state(session, call, |input, started| {
            let mut shown = metadata;
            merge(&mut shown, json!({"approval": approval}));
            json!({"status": "running", "input": input, "metadata": shown, "time": {"start": started}})
        });
    }

    /// Ends a call well. `only_told` are fields of the metadata that the event tells and REST does not keep.
    pub(crate) fn complete_call(&mut self, session: &str, call: usize, result: &Completed) {
        let now = self.now_ms;
        let approval = self.approval_of(session, call);
        let mut metadata = result.metadata.clone();
        if self.profile.tool_progress {
            merge(&mut metadata, json!({"approval": approval}));
        }
        let mut told = metadata.clone();
        merge(&mut told, result.only_told.clone());
        for shown in [told, metadata] {
            let is_last = self.state_is_completed(session, call);
            self.put_state(session, call, |input, started| {
                json!({
                    "status": "completed", "input": input, "output": result.output, "title": result.title,
                    "metadata": shown, "time": {"start": started, "end": now},
                })
            });
            if !is_last {
                self.emit_call(session, call);
            }
        }
        self.call_done(session, call);
    }

    fn state_is_completed(&mut self, session: &str, call: usize) -> bool {
        self.call_part(session, call).is_some_and(|(message, part)| {
            self.part_mut(session, &message, part).is_some_and(|part| part["state"]["status"] == "completed")
        })
    }

    fn approval_of(&mut self, session: &str, call: usize) -> Value {
        self.run_mut(session)
            .and_then(|run| run.calls.get(call))
            .map(|call| call.approval.clone())
            .unwrap_or_default()
    }

    fn call_part(&mut self, session: &str, call: usize) -> Option<(String, usize)> {
        let run = self.run_mut(session)?;
        Some((run.message.clone(), run.calls.get(call)?.part))
    }

    fn set_state(&mut self, session: &str, call: usize, state: impl FnOnce(&Value, u64) -> Value) {
        self.put_state(session, call, state);
        self.emit_call(session, call);
    }

    fn put_state(&mut self, session: &str, call: usize, state: impl FnOnce(&Value, u64) -> Value) {
        let Some(run) = self.run_mut(session) else { return };
        let Some(found) = run.calls.get(call) else { return };
        let (message, part, state) = (run.message.clone(), found.part, state(&found.input, found.started_ms));
        if let Some(part) = self.part_mut(session, &message, part) {
            part["state"] = state;
        }
    }

    fn emit_call(&mut self, session: &str, call: usize) {
        if let Some((message, part)) = self.call_part(session, call) {
            self.emit_part(session, &message, part);
        }
    }

    fn call_done(&mut self, session: &str, call: usize) {
        if let Some(done) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            done.state = CallState::Done;
        }
        self.end_step_if_done(session);
    }
}

/// A call's good end.
#[derive(Debug)]
pub(crate) struct Completed {
    pub(crate) output: String,
    pub(crate) title: String,
    pub(crate) metadata: Value,
    pub(crate) only_told: Value,
}

/// The path relative to the directory, if it stays inside by its spelling.
fn inside(directory: &str, path: &str) -> Option<String> {
    let relative = match path.strip_prefix(directory) {
        Some(rest) => rest.strip_prefix('/')?,
        None if path.starts_with('/') => return None,
        None => path,
    };
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn a_path_stays_inside_by_its_spelling() {
        assert_eq!(inside("/w", "/w/a/../b.txt").as_deref(), Some("b.txt"));
        assert_eq!(inside("/w", "a/./b").as_deref(), Some("a/b"));
        for outside in ["/w/../x", "/wx/a", "../a", "/etc/passwd", "/w", "/w/", "a/../.."] {
            assert_eq!(inside("/w", outside), None, "{outside}");
        }
    }
}
