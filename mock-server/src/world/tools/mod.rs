//! What the agent's tools do. A tool is a file here and an arm in [`World::start_call`].
//!
//! A call goes: its arguments are whole → it looks at what it is about to change → rules and, perhaps, a question
//! → it acts → its part is completed. Each → is an effect or an answer, so other sessions go on meanwhile.

mod apply_patch;
mod arguments;
mod bash;
mod begin;
mod bounds;
mod completed;
mod edit;
mod formatters;
mod outside;
pub(in crate::world) mod place;
mod plan;
mod question;
mod read;
mod search;
mod served;
mod skill;
mod task;
mod task_model;
mod task_rules;
mod todos;
mod webfetch;
mod write;

use super::alongside::{BACKGROUND, CANCEL, SCHEDULE, SUGGEST};
use super::goal::REPORT;
use super::permission::{forbidden, rejected};
use super::planning::PLAN_EXIT;
use super::recall::RECALL;
use super::run::CallState;
use super::structured::STRUCTURED;
use super::{Found, World, boards, session::merge};
pub(crate) use arguments::{told_of_arguments, wrong_arguments};
pub(super) use bash::NO_SHELL;
pub(crate) use completed::Completed;
pub use formatters::Formatter;
pub(super) use formatters::FormatterAsk;
pub(crate) use formatters::Formatting;
use outside::Kind;
use place::{Place, inside, relative, resolved};
pub(crate) use plan::Plan;
pub(crate) use question::OpenQuestion;
pub(super) use question::told_fields;
pub(super) use read::{is_sound, picture_kind};
use serde_json::{Value, json};
pub use skill::Skill;
pub(super) use task::resumable;
pub(crate) use write::{WritePlan, with_mark, without_mark};

impl World {
    /// The arguments are whole, and all that was on its way is done.
    pub(crate) fn start_call(&mut self, session: &str, call: usize) {
        let Some(run) = self.run_mut(session) else { return };
        let Some(starting) = run.calls.get(call) else { return };
        match starting.tool.as_str() {
            "apply_patch" => self.start_patch(session, call),
            "bash" => self.start_shell(session, call),
            "edit" => self.start_edit(session, call),
            "glob" => self.start_glob(session, call),
            "grep" => self.start_grep(session, call),
            "read" => self.start_read(session, call),
            "webfetch" => self.start_webfetch(session, call),
            "task" => self.start_task(session, call),
            "write" => self.start_write(session, call),
            "question" => self.start_question(session, call),
            PLAN_EXIT => self.start_plan_exit(session, call),
            "todowrite" => self.start_todos(session, call),
            SUGGEST => self.start_suggestion(session, call),
            BACKGROUND => self.start_process_call(session, call),
            SCHEDULE => self.start_schedule(session, call),
            CANCEL => self.start_cancel(session, call),
            boards::POST => self.start_post(session, call),
            boards::READ => self.start_board_read(session, call),
            RECALL => self.start_recall(session, call),
            STRUCTURED => self.take_structured(session, call),
            "skill" => self.start_skill(session, call),
            REPORT => self.start_goal_report(session, call),
            other => {
                let other = other.to_owned();
                if let Some(plan) = self.served_plan(session, &other) {
                    return self.start_served(session, call, &other, plan);
                }
                let known = "apply_patch, background_process, bash, board_post, board_read, cancel_wakeup, edit, glob, \
                             grep, kilo_local_recall, question, read, \
                             schedule_wakeup, skill, suggest, task, todowrite, webfetch, write";
                let why = format!("standin does not perform the tool '{other}' yet; it performs: {known}");
                self.fail_call(session, call, &why);
            }
        }
    }

    /// By which rule the call acts, or may not; that it was let out of the workspace before stays said.
    fn keep_approval(&mut self, session: &str, call: usize, approval: Value) {
        let Some(judged) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) else { return };
        let before = std::mem::replace(&mut judged.approval, approval);
        if judged.approval.get("outsideWorkspace").is_none() && before.get("outsideWorkspace").is_some() {
            for key in ["outsideWorkspace", "outsideWorkspacePath"] {
                if let Some(leaves) = before.get(key) {
                    judged.approval[key] = leaves.clone();
                }
            }
        }
    }

    /// Nobody objects: the call acts.
    pub(crate) fn allow_call(&mut self, session: &str, call: usize, approval: Value) {
        self.keep_approval(session, call, approval);
        let plan = self.run_mut(session).and_then(|run| run.calls.get(call)?.plan.clone());
        let Some(plan) = plan else { return };
        if self.profile.tool_progress {
            self.progress(session, call, json!({}));
        }
        match plan {
            Plan::Shell(_) => self.next_shell_wish(session, call),
            Plan::Process(_) => self.next_process_wish(session, call),
            Plan::Read(plan) => self.read(session, call, *plan),
            Plan::Search(plan) => self.search(session, call, &plan),
            Plan::Fetch(plan) => self.fetch(session, call, plan),
            Plan::Served(plan) => self.pass_on(session, call, &plan),
            Plan::Task(_) => self.give_task(session, call),
            Plan::Patch(plan) => self.apply_patch(session, call, *plan),
            Plan::Write(plan) => self.write(session, call, &plan),
            Plan::Leave(plan) => self.leave(session, call, *plan),
            Plan::Skill(plan) => self.load_skill(session, call, &plan),
            Plan::Todos(plan) => self.write_todos(session, call, &plan),
            Plan::Report(plan) => self.report_goal(session, call, &plan),
            Plan::Post(plan) => self.post(session, call, &plan),
            Plan::BoardRead(plan) => self.read_board(session, call, &plan),
            // Nobody has to allow them: an edit has become a write by then.
            Plan::Ask(_) | Plan::Edit(_) | Plan::Suggest => {}
        }
    }

    /// What stands at the place that a call is about is known.
    pub(crate) fn call_read(&mut self, session: &str, call: usize, found: Result<Found, String>) {
        let plan = self.run_mut(session).and_then(|run| run.calls.get(call)?.plan.clone());
        match (plan, found) {
            (_, Err(message)) => self.fail_call(session, call, &message),
            (Some(Plan::Edit(plan)), Ok(found)) => self.file_to_edit(session, call, &plan, &found),
            (Some(Plan::Patch(plan)), Ok(found)) => self.file_to_patch(session, call, *plan, &found),
            (Some(Plan::Search(plan)), Ok(found)) => self.searched(session, call, &plan, &found),
            (Some(Plan::Skill(plan)), Ok(found)) => self.skill_files_found(session, call, &plan, &found),
            (Some(Plan::Write(plan)), Ok(found)) => self.file_to_write(session, call, plan, found),
            (
                Some(
                    Plan::Leave(_)
                    | Plan::Read(_)
                    | Plan::Ask(_)
                    | Plan::Todos(_)
                    | Plan::Report(_)
                    | Plan::Shell(_)
                    | Plan::Task(_)
                    | Plan::Served(_)
                    | Plan::Fetch(_)
                    | Plan::Suggest
                    | Plan::Post(_)
                    | Plan::BoardRead(_)
                    | Plan::Process(_),
                )
                | None,
                _,
            ) => {}
        }
    }

    /// An argument of a call.
    pub(in crate::world) fn argument(&self, session: &str, call: usize, name: &str) -> Option<&Value> {
        self.sessions.get(session)?.run.as_ref()?.calls.get(call)?.input.get(name)
    }

    /// An argument of a call, if it is a string.
    pub(in crate::world) fn text_argument(&self, session: &str, call: usize, name: &str) -> Option<String> {
        self.argument(session, call, name)?.as_str().map(str::to_owned)
    }

    /// An argument of a call, if it is a whole number.
    fn number_argument(&self, session: &str, call: usize, name: &str) -> Option<usize> {
        usize::try_from(self.argument(session, call, name)?.as_u64()?).ok()
    }

    /// The place that a call names.
    fn place_argument(&self, session: &str, call: usize) -> Option<Place> {
        let directory = &self.sessions.get(session)?.directory;
        let path = self.text_argument(session, call, "filePath")?;
        Some(Place::named(directory, &self.worktree_of(directory), &path))
    }

    /// The place that a call wants to change; one that leads outside is asked for first.
    fn place_to_change(&mut self, session: &str, call: usize) -> Option<Place> {
        let place = self.place_argument(session, call)?;
        self.may_go(session, call, &place.given, &place.path, Kind::File).then_some(place)
    }

    pub(in crate::world) fn set_plan(&mut self, session: &str, call: usize, plan: Plan) {
        if let Some(call) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            call.plan = Some(plan);
        }
    }

    /// The person said no: the call fails, and the turn ends with its step; but the agent goes on if it is told why, or
    /// works for another one where that counts.
    pub(crate) fn reject_call(&mut self, session: &str, call: usize, message: Option<&str>) {
        let works_for_another = self.sessions.get(session).is_some_and(|owner| owner.parent.is_some());
        let goes_on = works_for_another && self.profile.rejected_children_go_on;
        let is_told_why = message.is_some_and(|message| !message.is_empty());
        if !goes_on && !is_told_why {
            self.stop_after_no(session);
        }
        self.fail_call(session, call, &rejected(message));
    }

    /// The turn ends with its step, unless the settings let it go on.
    pub(in crate::world) fn stop_after_no(&mut self, session: &str) {
        let goes_on = self.experiment_in(self.folder_of(session), "continue_loop_on_deny") == true;
        if let Some(run) = self.run_mut(session).filter(|_| !goes_on) {
            run.rejected = true;
        }
    }

    /// A rule says no: the call fails, and the agent goes on.
    pub(crate) fn forbid_call(&mut self, session: &str, call: usize, approval: Value, rules: &str) {
        self.keep_approval(session, call, approval);
        if self.profile.tool_progress {
            self.progress(session, call, json!({}));
        }
        let message = forbidden(rules);
        self.fail_call(session, call, &message);
    }

    pub(crate) fn fail_call(&mut self, session: &str, call: usize, message: &str) {
        if self.is_subtask(session) {
            return self.subtask_done(session, Err(message));
        }
        // One that fails before anything else is told to run all the same.
        self.tell_running(session, call);
        if self.withhold_failure(session, call, message) {
            return;
        }
        let now = self.now_ms;
        let approval = self.approval_of(session, call);
        let tells_approval = self.profile.tool_progress && !approval.is_null();
        // What was told of it while it ran stays.
        let mut metadata = self.told_metadata(session, call);
        if tells_approval {
            tell_approval(&mut metadata, approval);
        }
        self.set_state(session, call, |input, started| {
            let mut state = json!({"status": "error", "input": input, "error": message});
            if !metadata.is_null() {
                state["metadata"] = metadata;
            }
            state["time"] = json!({"start": started, "end": now});
            state
        });
        self.call_done(session, call);
    }

    fn told_metadata(&mut self, session: &str, call: usize) -> Value {
        let Some((message, part)) = self.call_part(session, call) else { return Value::Null };
        self.part_mut(session, &message, part)
            .map(|part| part["state"]["metadata"].clone())
            .unwrap_or_default()
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
    pub(crate) fn complete_call(&mut self, session: &str, call: usize, mut result: Completed) {
        if self.is_subtask(session) {
            return self.subtask_done(session, Ok(&result));
        }
        result.omit_mere_names();
        if self.withhold_result(session, call, &result) {
            return;
        }
        let now = self.now_ms;
        self.bounded(session, call, &mut result);
        let approval = self.approval_of(session, call);
        let mut metadata = result.metadata.clone();
        self.hint_at_board(session, call, &mut metadata);
        if self.profile.tool_progress {
            tell_approval(&mut metadata, approval);
        }
        let mut told = metadata.clone();
        merge(&mut told, result.only_told.clone());
        let attachments = self.attached(session, call, &result.attachments);
        for shown in [told, metadata] {
            let is_last = self.state_is_completed(session, call);
            self.put_state(session, call, |input, started| {
                let mut state = json!({
                    "status": "completed", "input": input, "output": result.output, "title": result.title,
                    "metadata": shown, "time": {"start": started, "end": now},
                });
                if !attachments.is_empty() {
                    state["attachments"] = json!(attachments);
                }
                state
            });
            if !is_last {
                self.emit_call(session, call);
            }
        }
        self.call_done(session, call);
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

    pub(in crate::world) fn call_part(&mut self, session: &str, call: usize) -> Option<(String, usize)> {
        let run = self.run_mut(session)?;
        Some((run.message.clone(), run.calls.get(call)?.part))
    }

    fn set_state(&mut self, session: &str, call: usize, state: impl FnOnce(&Value, u64) -> Value) {
        self.put_state(session, call, state);
        self.emit_call(session, call);
    }

    pub(in crate::world) fn put_state(
        &mut self,
        session: &str,
        call: usize,
        state: impl FnOnce(&Value, u64) -> Value,
    ) {
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

    pub(crate) fn call_done(&mut self, session: &str, call: usize) {
        if let Some(done) = self.run_mut(session).and_then(|run| run.calls.get_mut(call)) {
            done.state = CallState::Done;
        }
        // A misuse is counted behind this.
        if let Some(owner) = self.sessions.get_mut(session) {
            owner.misuses = 0;
        }
        self.start_waiting_edit(session, call, true);
        self.end_step_if_done(session);
    }
}

/// An absolute path without detours.
pub(crate) fn whole_path(path: &str) -> String {
    resolved("/", path)
}

/// A call that nobody had to allow tells of no approval.
fn tell_approval(metadata: &mut Value, approval: Value) {
    if !approval.is_null() {
        merge(metadata, json!({"approval": approval}));
    }
}
