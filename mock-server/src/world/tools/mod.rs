//! What the agent's tools do. A tool is a file here and an arm in [`World::start_call`].
//!
//! A call goes: its arguments are whole → it looks at what it is about to change → rules and, perhaps, a question
//! → it acts → its part is completed. Each → is an effect or an answer, so other sessions go on meanwhile.

mod arguments;
mod bash;
mod edit;
mod outside;
pub(super) mod place;
mod question;
mod read;
mod search;
mod task;
mod todos;
mod webfetch;
mod write;

use super::turn::CallState;
use super::{Found, World, session::merge};
use place::{Place, inside, resolved};
pub(crate) use question::OpenQuestion;
use serde_json::{Value, json};
pub(crate) use write::WritePlan;

/// What a call found out before it acts.
#[derive(Debug, Clone)]
pub(crate) enum Plan {
    /// Read a file.
    Read(read::ReadPlan),
    /// Run a shell line.
    Shell(Box<bash::ShellPlan>),
    /// Replace words of a file.
    Edit(edit::EditPlan),
    /// Write a file.
    Write(write::WritePlan),
    /// Leave the workspace.
    Leave(outside::LeavePlan),
    /// Ask the person.
    Ask(question::QuestionPlan),
    /// Have another agent do something.
    Task(Box<task::TaskPlan>),
    /// Get a page.
    Fetch(webfetch::FetchPlan),
    /// Look for files or lines.
    Search(Box<search::SearchPlan>),
    /// Write down what is to be done.
    Todos(todos::TodoPlan),
}

impl World {
    /// The arguments are whole: what some tools tell before the call is told to run. Says whether the call has begun
    /// with that, and will be told.
    pub(crate) fn before_call_runs(&mut self, session: &str, call: usize) -> bool {
        let tool = self.run_mut(session).and_then(|run| run.calls.get(call)).map(|call| call.tool.clone());
        match tool.as_deref() {
            Some("question") => self.ask_question(session, call),
            Some("todowrite") => self.tell_todos_early(session, call),
            Some("bash") => return self.start_shell_early(session, call),
            Some("task") => return self.start_task_early(session, call),
            _ => {}
        }
        false
    }

    /// Tells that a call runs, once. What is known of it already stays.
    pub(crate) fn tell_running(&mut self, session: &str, call: usize) {
        let Some(told) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        if std::mem::replace(&mut told.is_told, true) || told.state != CallState::Running {
            return;
        }
        let known = self.call_part(session, call).and_then(|(message, part)| {
            self.part_mut(session, &message, part).map(|part| part["state"].clone())
        });
        self.set_state(session, call, |input, started| {
            let mut state = json!({"status": "running", "input": input, "time": {"start": started}});
            for key in ["title", "metadata"] {
                if let Some(value) = known.as_ref().and_then(|known| known.get(key)) {
                    state[key] = value.clone();
                }
            }
            state
        });
    }

    /// The arguments are whole, and all that was on its way is done.
    pub(crate) fn start_call(&mut self, session: &str, call: usize) {
        let Some(run) = self.run_mut(session) else { return };
        let Some(starting) = run.calls.get(call) else { return };
        match starting.tool.as_str() {
            "bash" => self.start_shell(session, call),
            "edit" => self.start_edit(session, call),
            "glob" => self.start_glob(session, call),
            "grep" => self.start_grep(session, call),
            "read" => self.start_read(session, call),
            "webfetch" => self.start_webfetch(session, call),
            "task" => self.start_task(session, call),
            "write" => self.start_write(session, call),
            "question" => self.start_question(session, call),
            "todowrite" => self.start_todos(session, call),
            other => {
                let known = "bash, edit, glob, grep, question, read, task, todowrite, webfetch, write";
                let message =
                    format!("standin does not perform the tool '{other}' yet; it performs: {known}");
                self.fail_call(session, call, &message);
            }
        }
    }

    /// Nobody objects: the call acts.
    pub(crate) fn allow_call(&mut self, session: &str, call: usize, approval: Value) {
        let Some(allowed) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        let leaves = allowed.approval.get("outsideWorkspace").cloned();
        allowed.approval = approval;
        if let Some(leaves) = leaves {
            allowed.approval["outsideWorkspace"] = leaves;
        }
        let Some(plan) = allowed.plan.clone() else { return };
        if self.profile.tool_progress {
            self.progress(session, call, json!({}));
        }
        match plan {
            Plan::Shell(_) => self.next_shell_wish(session, call),
            Plan::Read(plan) => self.read(session, call, plan),
            Plan::Search(plan) => self.search(session, call, &plan),
            Plan::Fetch(plan) => self.fetch(session, call, plan),
            Plan::Task(_) => self.give_task(session, call),
            Plan::Write(plan) => self.write(session, call, &plan),
            Plan::Leave(plan) => self.leave(session, call, plan),
            Plan::Todos(plan) => self.write_todos(session, call, &plan),
            // Nobody has to allow them: an edit has become a write by then.
            Plan::Ask(_) | Plan::Edit(_) => {}
        }
    }

    /// What stands at the place that a call is about is known.
    pub(crate) fn call_read(&mut self, session: &str, call: usize, found: Result<Found, String>) {
        let plan =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.plan.clone());
        match (plan, found) {
            (_, Err(message)) => self.fail_call(session, call, &message),
            (Some(Plan::Read(plan)), Ok(found)) => self.file_read(session, call, plan, found),
            (Some(Plan::Edit(plan)), Ok(found)) => self.file_to_edit(session, call, &plan, &found),
            (Some(Plan::Search(plan)), Ok(found)) => self.searched(session, call, &plan, &found),
            (Some(Plan::Write(plan)), Ok(found)) => self.file_to_write(session, call, plan, found),
            (
                Some(
                    Plan::Leave(_)
                    | Plan::Ask(_)
                    | Plan::Todos(_)
                    | Plan::Shell(_)
                    | Plan::Task(_)
                    | Plan::Fetch(_),
                )
                | None,
                _,
            ) => {}
        }
    }

    /// An argument of a call.
    fn argument(&self, session: &str, call: usize, name: &str) -> Option<&Value> {
        self.sessions.get(session)?.run.as_ref()?.calls.get(call)?.input.get(name)
    }

    /// An argument of a call, if it is a string.
    fn text_argument(&self, session: &str, call: usize, name: &str) -> Option<String> {
        self.argument(session, call, name)?.as_str().map(str::to_owned)
    }

    /// An argument of a call, if it is a whole number.
    fn number_argument(&self, session: &str, call: usize, name: &str) -> Option<usize> {
        usize::try_from(self.argument(session, call, name)?.as_u64()?).ok()
    }

    /// The place that a call names. A call without one fails; one that leads outside asks first.
    fn place_argument(&mut self, session: &str, call: usize) -> Option<Place> {
        let directory = self.sessions.get(session)?.directory.clone();
        let Some(path) = self.text_argument(session, call, "filePath") else {
            self.fail_call(session, call, "standin: the call needs the string 'filePath'");
            return None;
        };
        match inside(&directory, &path) {
            Some(relative) => {
                let whole = resolved(&directory, &path);
                let given = if path.starts_with('/') { path } else { whole.clone() };
                Some(Place { path: whole, given, relative })
            }
            None => {
                self.ask_to_leave(session, call, &directory, path);
                None
            }
        }
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

    /// A rule says no: the call fails, and the agent goes on.
    pub(crate) fn forbid_call(&mut self, session: &str, call: usize, approval: Value, rules: &str) {
        if let Some(forbidden) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            forbidden.approval = approval;
        }
        if self.profile.tool_progress {
            self.progress(session, call, json!({}));
        }
        let message = format!(
            "The user has specified a rule which prevents you from using this specific tool call. Here are some of \
             the relevant rules {rules}"
        );
        self.fail_call(session, call, &message);
    }

    pub(crate) fn fail_call(&mut self, session: &str, call: usize, message: &str) {
        let now = self.now_ms;
        let approval = self.approval_of(session, call);
        let tells_approval = self.profile.tool_progress && !approval.is_null();
        self.set_state(session, call, |input, started| {
            let mut state = json!({"status": "error", "input": input, "error": message});
            if tells_approval {
                state["metadata"] = json!({"approval": approval});
            }
            state["time"] = json!({"start": started, "end": now});
            state
        });
        self.call_done(session, call);
    }

    /// Shows a running call's metadata.
    pub(crate) fn progress(&mut self, session: &str, call: usize, metadata: Value) {
        let approval = if self.profile.tool_progress { self.approval_of(session, call) } else { Value::Null };
        let title =
            self.run_mut(session).and_then(|run| run.calls.get(call)).and_then(|call| call.title.clone());
        self.set_state(session, call, |input, started| {
            let mut shown = metadata;
            tell_approval(&mut shown, approval);
            let mut state = json!({"status": "running", "input": input, "metadata": shown});
            if let Some(title) = title {
                state["title"] = json!(title);
            }
            state["time"] = json!({"start": started});
            state
        });
    }

    /// Ends a call well. `only_told` are fields of the metadata that the event tells and REST does not keep.
    pub(crate) fn complete_call(&mut self, session: &str, call: usize, result: &Completed) {
        let now = self.now_ms;
        let approval = self.approval_of(session, call);
        let mut metadata = result.metadata.clone();
        if self.profile.tool_progress {
            tell_approval(&mut metadata, approval);
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

    /// Tells who allowed a call, where that is told.
    fn add_approval(&mut self, session: &str, call: usize, metadata: &mut Value) {
        if self.profile.tool_progress {
            let approval = self.approval_of(session, call);
            tell_approval(metadata, approval);
        }
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
        // A misuse is counted behind this.
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.misuses = 0;
        }
        self.end_step_if_done(session);
    }
}

/// A call that nobody had to allow tells of no approval.
fn tell_approval(metadata: &mut Value, approval: Value) {
    if !approval.is_null() {
        merge(metadata, json!({"approval": approval}));
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
