//! `bash`: a shell line. What it may do is asked for by its simple commands, and by the folders outside that it names;
//! its output is told while it grows.

mod commands;
mod folders;
mod output;
mod prefixes;

use super::{Completed, Plan};
use crate::world::permission::Wish;
use crate::world::run::CallState;
use crate::world::{Effect, Purpose, ShellEnd, ShellLine, ShellNews, World};
use commands::Line;
use output::Output;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A line that may run.
#[derive(Debug, Clone)]
pub(crate) struct ShellPlan {
    line: String,
    description: Option<String>,
    /// Where it runs.
    directory: String,
    timeout_ms: u64,
    /// What is still to be asked, in order.
    wishes: VecDeque<Wish<'static>>,
    /// What the person or a rule has allowed leads out of the workspace.
    leaves: bool,
    output: Output,
    /// Nobody has to be asked any more.
    runs: bool,
}

/// Why nothing runs in a folder that somebody else has made.
pub(in crate::world) const NO_SHELL: &str = "standin runs commands only in a folder that it made itself: leave \
                                             --workspace out, or allow it with --allow-shell";

/// How long a line may run where the call does not say.
const PATIENCE_MS: u64 = 120_000;

/// How long a server loads the grammar of shell lines; the real ones were seen to take 80 ms and more.
const GRAMMAR_MS: u64 = 25;

/// Commands whose arguments are places.
const NAME_PLACES: &[&str] =
    &["cd", "chdir", "popd", "pushd", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"];
/// Commands that only go somewhere; nobody is asked about them.
const GO: &[&str] = &["cd", "chdir", "popd", "pushd"];

impl World {
    /// Once the grammar is loaded some servers are quick to ask: before the call is told to run. Says whether so.
    pub(super) fn start_shell_early(&mut self, session: &str, call: usize) -> bool {
        if !self.profile.quick_shell || self.grammar_from_ms.is_none_or(|from_ms| self.now_ms < from_ms) {
            return false;
        }
        if self.text_argument(session, call, "command").is_some_and(|line| line.is_empty()) {
            // It is told to run, and fails a moment later.
            self.progress(session, call, json!({"output": ""}));
            self.tell_running(session, call);
            self.effect(Purpose::CallStart(session.to_owned(), call), Effect::Yield);
            return true;
        }
        self.start_shell(session, call);
        true
    }

    /// Takes the line apart, and looks which of the places that it names are folders.
    pub(super) fn start_shell(&mut self, session: &str, call: usize) {
        // It takes a line apart for longer than anything else is told late.
        self.tell_late(session);
        let Some(line) = self.text_argument(session, call, "command") else { return };
        let Some(here) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        if !self.config.runs_shell {
            self.fail_call(session, call, NO_SHELL);
            return;
        }
        let timeout = self.argument(session, call, "timeout").and_then(|timeout| timeout.as_f64());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "milliseconds, not negative"
        )]
        let timeout_ms = timeout.map_or(PATIENCE_MS, |timeout| timeout as u64);
        let workdir = self.text_argument(session, call, "workdir").filter(|workdir| !workdir.is_empty());
        let directory = workdir.map_or_else(|| here.clone(), |workdir| super::resolved(&here, &workdir));
        if self.loads_grammar(session, call) {
            return;
        }
        if line.is_empty() {
            if self.told_metadata(session, call).is_null() {
                self.progress(session, call, json!({"output": ""}));
            }
            self.fail_call(session, call, "The argument 'file' cannot be empty. Received ''");
            return;
        }
        let parsed = commands::parse(&line);
        let outside = folders::named(&parsed, &directory, &self.config.home);
        let outside: Vec<String> =
            outside.into_iter().filter(|place| !self.is_inside(&here, place)).collect();
        let plan = ShellPlan {
            line,
            description: self.text_argument(session, call, "description"),
            directory,
            timeout_ms,
            wishes: VecDeque::new(),
            leaves: false,
            output: Output::default(),
            runs: false,
        };
        self.set_plan(session, call, Plan::Shell(Box::new(plan)));
        if outside.is_empty() {
            self.shell_looked(session, call, &[]);
        } else {
            self.tell_running(session, call);
            self.effect(Purpose::CallLooked(session.to_owned(), call), Effect::Look { paths: outside });
        }
    }

    /// By when the grammar is there.
    pub(crate) fn lines_begin_by(&self) -> Option<u64> {
        self.grammar_from_ms
    }

    /// Until the grammar is there no line is taken apart, and nobody is asked; other calls of the step go on.
    fn loads_grammar(&mut self, session: &str, call: usize) -> bool {
        let loaded_ms = self.now_ms + GRAMMAR_MS;
        let until_ms = *self.grammar_from_ms.get_or_insert(loaded_ms);
        let loads = self.now_ms < until_ms;
        if loads {
            self.effect(Purpose::CallStart(session.to_owned(), call), Effect::Wait { until_ms });
        }
        loads
    }

    /// It is known which places outside are folders: what is to be asked follows.
    pub(crate) fn shell_looked(&mut self, session: &str, call: usize, looked: &[(String, bool)]) {
        let Some(plan) = self.shell_plan(session, call) else { return };
        let Some(here) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let parsed = commands::parse(&plan.line);
        let mut folders: Vec<String> = Vec::new();
        for (path, is_folder) in looked {
            let folder = if *is_folder { path.clone() } else { folders::above(path) };
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        if !self.is_inside(&here, &plan.directory) && !folders.contains(&plan.directory) {
            folders.push(plan.directory.clone());
        }
        let mut wishes = VecDeque::new();
        if !folders.is_empty() {
            wishes.push_back(self.wish_to_leave(&plan, &parsed, &folders, &here));
        }
        wishes.extend(self.wish_to_run(&plan, &parsed));
        self.change_shell(session, call, |plan| plan.wishes = wishes);
        self.next_shell_wish(session, call);
        self.tell_running(session, call);
    }

    fn wish_to_leave(
        &self,
        plan: &ShellPlan,
        parsed: &Line,
        folders: &[String],
        here: &str,
    ) -> Wish<'static> {
        let patterns: Vec<String> =
            folders.iter().map(|folder| format!("{}/*", folder.trim_end_matches('/'))).collect();
        let mut metadata = self.shell_metadata(plan, plan.line.clone());
        metadata["directories"] = json!(folders);
        metadata["patterns"] = json!(patterns);
        if self.profile.describes_shell {
            if folders::only_reads(parsed) && self.is_inside(here, &plan.directory) {
                metadata["access"] = json!("read");
            }
            if parsed.has_heredoc {
                metadata["heredoc"] = json!(true);
            }
        }
        Wish { permission: "external_directory", patterns: patterns.clone(), metadata, always: patterns }
    }

    /// `None` where the line runs no command that anybody is asked about.
    fn wish_to_run(&self, plan: &ShellPlan, parsed: &Line) -> Option<Wish<'static>> {
        let (mut patterns, mut always) = (Vec::new(), Vec::new());
        let add = |list: &mut Vec<String>, text: String| {
            if !list.contains(&text) {
                list.push(text);
            }
        };
        for command in &parsed.commands {
            let asks = command.words.first().is_some_and(|name| !GO.contains(&name.as_str()));
            if asks {
                let text = if self.profile.describes_shell { &command.masked } else { &command.text };
                add(&mut patterns, text.clone());
                add(&mut always, format!("{} *", prefixes::prefix(&command.words).join(" ")));
            }
        }
        if self.profile.describes_shell {
            parsed.unclear.iter().for_each(|text| add(&mut patterns, text.clone()));
        }
        let mut metadata = self.shell_metadata(plan, plan.line.clone());
        if self.profile.describes_shell && parsed.has_heredoc {
            metadata["heredoc"] = json!(true);
        }
        (!patterns.is_empty()).then_some(Wish { permission: "bash", patterns, metadata, always })
    }

    fn shell_metadata(&self, plan: &ShellPlan, line: String) -> Value {
        let mut metadata = json!({"command": line});
        if self.profile.describes_shell
            && let Some(description) = &plan.description
        {
            metadata["description"] = json!(description);
        }
        metadata
    }

    /// Asks what is to be asked next; when nothing is, the line runs.
    pub(super) fn next_shell_wish(&mut self, session: &str, call: usize) {
        let mut next = None;
        self.change_shell(session, call, |plan| {
            next = plan.wishes.pop_front();
            plan.leaves |= next.as_ref().is_some_and(|wish| wish.permission == "external_directory");
        });
        match next {
            Some(wish) => self.ask_or_allow(session, call, &wish),
            None => self.run_shell(session, call),
        }
    }

    fn run_shell(&mut self, session: &str, call: usize) {
        let Some(plan) = self.shell_plan(session, call) else { return };
        self.change_shell(session, call, |plan| plan.runs = true);
        self.progress(session, call, json!({"output": ""}));
        let shells = self.shells(&plan.directory);
        let line = ShellLine {
            line: plan.line,
            directory: plan.directory,
            home: self.config.home.clone(),
            server: self.profile.server,
            timeout_ms: plan.timeout_ms,
            shells,
            shell_name: None,
            screen: None,
        };
        self.effect(Purpose::Shell(session.to_owned(), call), Effect::Run(line));
    }

    /// The line prints something, or has ended.
    pub(crate) fn shell_says(&mut self, session: &str, call: usize, news: ShellNews) {
        match news {
            ShellNews::Printed(text) => {
                let mut shown = String::new();
                self.change_shell(session, call, |plan| shown = plan.output.add(&text).to_owned());
                self.progress(session, call, json!({"output": shown}));
            }
            ShellNews::Ended(end) => {
                let Some(result) = self.shell_result(session, call, &end) else { return };
                self.tell_output(session, call, &result.output);
                self.complete_call(session, call, result);
                self.look_for_checkout(session);
            }
            ShellNews::Failed(message) => self.fail_call(session, call, &message),
        }
    }

    /// What a line that has ended says; also when the person has ended it.
    pub(crate) fn shell_result(&mut self, session: &str, call: usize, end: &ShellEnd) -> Option<Completed> {
        let plan = self.shell_plan(session, call)?;
        let note = match end {
            ShellEnd::Exited(_) => None,
            ShellEnd::TimedOut => Some(format!(
                "shell tool terminated command after exceeding timeout {} ms. If this command is expected to take \
                 longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.",
                plan.timeout_ms
            )),
            ShellEnd::Stopped => Some("User aborted the command".to_owned()),
        };
        let code = if let ShellEnd::Exited(code) = end { json!(code) } else { Value::Null };
        let cut = plan.output.cut(self.bounds(session));
        let kept = cut.is_cut.then(|| self.keep_output(session, call));
        let mut text = cut.text;
        if let Some(kept) = &kept {
            text = format!("...output truncated...\n\nFull output saved to: {kept}\n\n{text}");
        }
        let output = output::with_note(text, note);
        let mut metadata = json!({"output": plan.output.shown_at_end(&output), "exit": code});
        if self.profile.describes_shell {
            metadata["description"] = json!(plan.description.as_ref().unwrap_or(&plan.line));
        }
        metadata["truncated"] = json!(cut.is_cut);
        if let Some(kept) = kept {
            metadata["outputPath"] = json!(kept);
        }
        let titled = plan.description.filter(|_| self.profile.describes_shell);
        Some(Completed { output, title: titled.unwrap_or(plan.line), metadata, ..Completed::default() })
    }

    fn keep_output(&mut self, session: &str, call: usize) -> String {
        let mut all = String::new();
        self.change_shell(session, call, |plan| all = plan.output.take());
        self.keep_whole(all)
    }

    /// The person has ended the turn while a line runs: its call ends well, with what it has printed.
    pub(crate) fn stop_shell(&mut self, session: &str, call: usize) -> bool {
        let runs = self.run_mut(session).and_then(|run| run.calls.get(call)).is_some_and(|call| {
            call.state == CallState::Running && matches!(&call.plan, Some(Plan::Shell(plan)) if plan.runs)
        });
        if !runs {
            return false;
        }
        if let Some(result) = self.shell_result(session, call, &ShellEnd::Stopped) {
            self.complete_call(session, call, result);
        }
        true
    }

    fn shell_plan(&mut self, session: &str, call: usize) -> Option<ShellPlan> {
        match &self.run_mut(session)?.calls.get(call)?.plan {
            Some(Plan::Shell(plan)) => Some(plan.as_ref().clone()),
            _ => None,
        }
    }

    fn change_shell(&mut self, session: &str, call: usize, change: impl FnOnce(&mut ShellPlan)) {
        let call = self.run_mut(session).and_then(|run| run.calls.get_mut(call));
        if let Some(Plan::Shell(plan)) = call.and_then(|call| call.plan.as_mut()) {
            change(plan);
        }
    }
}
