//! Programs that agents leave running (`/background-process`): each belongs to a session, says when it is ready, and keeps the
//! end of what it prints. Their numbers are those of no process: who ends one by its number ends nobody.

use super::readiness::Readiness;
use super::{Due, PATIENCE_MS, process_calls::Waiter};
use crate::world::surroundings::{PlaceAsk, PlaceWish};
use crate::world::tools::NO_SHELL;
use crate::world::{ApiRequest, Effect, EffectId, Output, Purpose, ShellEnd, ShellLine, ShellNews, World};
use serde_json::{Value, json};

/// The programs of all sessions, in the order in which they began.
#[derive(Debug, Default)]
pub(in crate::world) struct Processes {
    pub(super) all: Vec<Process>,
    /// How many there have been.
    begun: u64,
}

#[derive(Debug)]
pub(super) struct Process {
    /// The folder of its instance.
    pub(super) directory: String,
    /// As the wire has it.
    pub(super) info: Value,
    pub(super) wish: ProcessWish,
    pub(super) readiness: Readiness,
    pub(super) runs: Option<EffectId>,
    /// What it has printed is told at this.
    pub(super) telling: Option<EffectId>,
    /// That it is gone has been told.
    pub(super) is_told_gone: bool,
}

/// What is to run.
#[derive(Debug, Clone)]
pub(in crate::world) struct ProcessWish {
    pub(super) session: String,
    pub(super) command: String,
    pub(super) folder: String,
    pub(super) description: Option<String>,
    pub(super) ready: Value,
    pub(super) lifetime: &'static str,
    /// Who has it when its session ends.
    pub(super) heir: Option<String>,
}

/// A program that is about to begin.
#[derive(Debug)]
pub(in crate::world) struct Launch {
    pub(super) directory: String,
    pub(super) wish: ProcessWish,
    /// It has run before under this name.
    pub(super) id: Option<String>,
    pub(super) waiter: Waiter,
}

/// What is due of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::world) enum Step {
    /// What it has printed is told.
    Telling,
    /// Nobody waits longer for it to be ready.
    Limit,
    /// Its port is looked at again.
    Probe,
}

/// Above the numbers of the programs in terminals.
const NO_PROCESS: u64 = 6_000_000;
/// So much of what it has printed is kept, from the end.
const KEPT_BYTES: usize = 204_800;
/// What it prints is told no sooner.
const TELLING_MS: u64 = 500;
/// Where time passes only by looking at it nothing can run alongside: a program is looked at for so long, and then thought to go
/// on without a word.
const LOOKED_AT_MS: u64 = 1_000;
/// It goes on when its session ends.
pub(super) const PERSISTENT: &str = "persistent";

impl Process {
    pub(super) fn id(&self) -> &str {
        self.info["id"].as_str().unwrap_or_default()
    }

    pub(super) fn session(&self) -> &str {
        self.info["sessionID"].as_str().unwrap_or_default()
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.info["status"].as_str(), Some("exited" | "failed" | "stopped"))
    }

    pub(super) fn is_persistent(&self) -> bool {
        self.info["lifetime"] == PERSISTENT
    }

    fn print(&mut self, text: &str) {
        let whole = format!("{}{text}", self.info["output"].as_str().unwrap_or_default());
        let mut from = whole.len().saturating_sub(KEPT_BYTES);
        while !whole.is_char_boundary(from) {
            from += 1;
        }
        self.info["output"] = json!(whole[from..]);
    }
}

impl World {
    /// Answers a request about programs. `None` when it is about something else, or there is none of that name.
    pub(in crate::world) fn about_processes(
        &mut self,
        request: &ApiRequest,
        operation: &str,
        segments: &[&str],
    ) -> Option<()> {
        let verb = operation.strip_prefix("backgroundProcess.")?;
        let directory = self.directory_of(request);
        let name = segments.get(1).copied().unwrap_or_default();
        let told = match verb {
            "list" => {
                let here = self.alongside.processes.all.iter();
                let here = here.filter(|process| self.is_process_of(process, &directory));
                here.map(|process| process.info.clone()).collect()
            }
            "stopSession" => {
                self.stop_processes_of(segments.get(2).copied().unwrap_or_default());
                json!(true)
            }
            _ => {
                let process = self.process(name).filter(|it| self.is_process_of(it, &directory))?;
                let id = process.id().to_owned();
                match verb {
                    "get" => process.info.clone(),
                    "logs" => {
                        let info = &process.info;
                        json!({"id": id, "sessionID": info["sessionID"], "output": info["output"]})
                    }
                    "stop" => {
                        self.begin_to_stop(&id);
                        self.stop_at_last(&id);
                        self.process(&id)?.info.clone()
                    }
                    "restart" => {
                        self.restart_process(&id, Waiter::Request(request.ticket));
                        return Some(());
                    }
                    _ => return None,
                }
            }
        };
        self.reply_json(request.ticket, told);
        Some(())
    }

    fn is_process_of(&self, process: &Process, directory: &str) -> bool {
        let worktree = |folder: &str| self.worktree_of(folder);
        process.directory == directory
            || process.is_persistent() && worktree(&process.directory) == worktree(directory)
    }

    pub(super) fn process(&self, id: &str) -> Option<&Process> {
        self.alongside.processes.all.iter().find(|process| process.id() == id)
    }

    pub(super) fn process_mut(&mut self, id: &str) -> Option<&mut Process> {
        self.alongside.processes.all.iter_mut().find(|process| process.id() == id)
    }

    /// Those that a session sees, in order.
    pub(super) fn processes_seen_by<'w>(&'w self, session: &'w str) -> impl Iterator<Item = &'w Process> {
        let all = self.alongside.processes.all.iter();
        all.filter(move |process| process.session() == session || process.is_persistent())
    }

    /// A port that is to say that a program is ready must not be there before.
    pub(super) fn launch(&mut self, launch: Launch) {
        match launch.wish.ready["port"].as_u64() {
            Some(port) => self.ask_place(PlaceAsk::FreePort(Box::new(launch)), PlaceWish::Port(port)),
            None => self.launched(launch, false),
        }
    }

    /// It is known whether the port is taken.
    pub(in crate::world) fn launched(&mut self, launch: Launch, is_taken: bool) {
        let Launch { directory, wish, id, waiter } = launch;
        if is_taken {
            let why = format!("Ready port is already in use: {}", wish.ready["port"]);
            return self.process_fails(&waiter, &why);
        }
        if !self.config.runs_shell {
            return self.process_fails(&waiter, NO_SHELL);
        }
        let now = self.now_ms;
        let id = id.unwrap_or_else(|| self.ids.ascending("bgp", now));
        self.alongside.processes.begun += 1;
        let waits = wish.ready.is_object();
        let mut info = json!({
            "id": id, "sessionID": wish.session, "pid": NO_PROCESS + self.alongside.processes.begun,
            "command": wish.command, "cwd": wish.folder,
        });
        if let Some(description) = &wish.description {
            info["description"] = json!(description);
        }
        let status = if waits { "starting" } else { "running" };
        info["ports"] = json!([]);
        info["status"] = json!(status);
        info["lifetime"] = json!(wish.lifetime);
        info["ready"] = json!(false);
        info["output"] = json!("");
        info["time"] = json!({"started": now, "updated": now});
        let line = ShellLine {
            line: wish.command.clone(),
            directory: wish.folder.clone(),
            home: self.config.home.clone(),
            server: self.profile.server,
            timeout_ms: if self.config.has_screens { PATIENCE_MS } else { LOOKED_AT_MS },
            shells: self.shells(&directory),
            shell_name: None,
            screen: None,
        };
        let runs = self.named_effect(Purpose::Process(id.clone()), Effect::Run(line));
        let readiness = Readiness::of(&wish.ready);
        let process = Process {
            directory,
            info,
            wish,
            readiness,
            runs: Some(runs),
            telling: None,
            is_told_gone: false,
        };
        self.alongside.processes.all.push(process);
        self.tell_process(&id);
        if waits {
            self.wait_until_ready(&id, waiter);
        } else {
            self.process_settled(&waiter, &id);
        }
    }

    /// It prints something, or has ended.
    pub(in crate::world) fn process_says(&mut self, id: &str, news: &ShellNews) {
        match news {
            ShellNews::Printed(text) => self.process_prints(id, text),
            ShellNews::Failed(why) => {
                self.process_prints(id, &format!("\n{why}\n"));
                self.process_ended(id, Some(1), None);
            }
            ShellNews::Ended(ShellEnd::Exited(Some(code))) => self.process_ended(id, Some(*code), None),
            ShellNews::Ended(ShellEnd::TimedOut) => {}
            ShellNews::Ended(_) => self.process_ended(id, None, Some("SIGKILL")),
        }
    }

    fn process_prints(&mut self, id: &str, text: &str) {
        let now = self.now_ms;
        let Some(process) = self.process_mut(id) else { return };
        process.print(text);
        process.info["time"]["updated"] = json!(now);
        if process.readiness.is_said(process.info["output"].as_str().unwrap_or_default()) {
            self.process_is_ready(id);
        }
        if self.process(id).is_some_and(|process| process.telling.is_none()) {
            let due = Purpose::Alongside(Due::Process(id.to_owned(), Step::Telling));
            let telling = self.named_effect(due, Effect::Wait { until_ms: now + TELLING_MS });
            if let Some(process) = self.process_mut(id) {
                process.telling = Some(telling);
            }
        }
    }

    /// Something is due of it.
    pub(in crate::world) fn process_due(&mut self, id: &str, step: Step) {
        match step {
            Step::Telling => {
                if let Some(process) = self.process_mut(id) {
                    process.telling = None;
                }
                self.tell_process(id);
            }
            Step::Limit => self.not_ready_in_time(id),
            Step::Probe => self.look_at_port(id),
        }
    }

    pub(super) fn process_ended(&mut self, id: &str, code: Option<i32>, signal: Option<&str>) {
        let now = self.now_ms;
        let Some(process) = self.process_mut(id).filter(|process| !process.has_ended()) else { return };
        let info = &mut process.info;
        if let Some(code) = code {
            info["exitCode"] = json!(code);
        }
        if let Some(signal) = signal {
            info["signal"] = json!(signal);
        }
        info["ready"] = json!(info["ready"] == true && code == Some(0));
        info["status"] = json!(match code {
            _ if info["status"] == "stopping" => "stopped",
            Some(0) => "exited",
            _ => "failed",
        });
        info["time"]["updated"] = json!(now);
        info["time"]["ended"] = json!(now);
        let waiter = process.readiness.take_waiter();
        process.runs = None;
        self.drop_timers(id);
        self.tell_process(id);
        if let Some(waiter) = waiter {
            self.process_settled(&waiter, id);
        }
    }

    pub(super) fn forget_effect(&mut self, effect: EffectId) {
        if self.waiting.remove(&effect).is_some() {
            self.outputs.push(Output::Drop(effect));
        }
    }

    pub(super) fn tell_process(&mut self, id: &str) {
        let Some(process) = self.process(id) else { return };
        let told = json!({"info": process.info, "scope": self.scope_of(process)});
        let directory = process.directory.clone();
        self.emit(&directory, "background_process.updated", told);
    }

    pub(super) fn scope_of(&self, process: &Process) -> String {
        match process.is_persistent() {
            true => self.worktree_of(&process.directory),
            false => process.directory.clone(),
        }
    }
}
