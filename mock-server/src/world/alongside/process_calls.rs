//! `background_process`: an agent starts a program and leaves it running, looks at it, ends it.

use super::processes::{Launch, PERSISTENT, Process, ProcessWish};
use super::readiness::no_pattern;
use crate::world::permission::Wish;
use crate::world::sandbox::Sandbox;
use crate::world::tools::place::resolved;
use crate::world::tools::{Completed, Plan};
use crate::world::{Ticket, World};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The tool.
pub(in crate::world) const BACKGROUND: &str = "background_process";

/// Who waits until a program is ready.
#[derive(Debug)]
pub(in crate::world) enum Waiter {
    /// A call, and what it says of it.
    Call {
        session: String,
        /// The message of its step: when its turn is over another call may stand in its place.
        message: String,
        call: usize,
        verb: &'static str,
    },
    /// A client.
    Request(Ticket),
}

/// A program that may start.
#[derive(Debug, Clone)]
pub(crate) struct ProcessPlan {
    wish: ProcessWish,
    /// What is still to be asked, in order.
    wishes: VecDeque<Wish<'static>>,
}

impl World {
    /// A program that is ended is told to end before the call is told to run.
    pub(in crate::world) fn begin_process_call(&mut self, session: &str, call: usize) {
        let action = self.text_argument(session, call, "action");
        let Some(id) = self.process_named(session, call) else { return };
        match action.as_deref() {
            Some("stop") => self.begin_to_stop(&id),
            Some("restart") if self.is_sandboxed(session) => {}
            Some("restart") if self.process(&id).is_some_and(Process::has_ended) => {
                // What it was told is kept until the call goes on.
                self.tell_process_gone(&id);
            }
            Some("restart") => self.begin_to_stop(&id),
            _ => {}
        }
    }

    /// The program that a call names, if its session sees it.
    fn process_named(&self, session: &str, call: usize) -> Option<String> {
        let id = self.text_argument(session, call, "id")?;
        let seen = self.processes_seen_by(session).any(|process| process.id() == id);
        seen.then_some(id)
    }

    pub(in crate::world) fn start_process_call(&mut self, session: &str, call: usize) {
        let action = self.text_argument(session, call, "action").unwrap_or_default();
        if action == "list" {
            let told: Vec<String> =
                self.processes_seen_by(session).map(|process| lines(&process.info)).collect();
            let output = match told.is_empty() {
                true => "No background processes are available for this session.".to_owned(),
                false => told.join("\n\n"),
            };
            let metadata = json!({"count": told.len()});
            return self.end_process_call(session, call, "Background processes".to_owned(), output, metadata);
        }
        if matches!(action.as_str(), "start" | "restart") && self.is_sandboxed(session) {
            let why = "Background processes are unavailable while the sandbox is enabled";
            return self.refuse_process(session, call, &action, why);
        }
        if action == "start" {
            return self.plan_process(session, call);
        }
        let Some(id) = self.process_named(session, call) else {
            let id = self.text_argument(session, call, "id").unwrap_or_default();
            let (title, output) =
                ("Background process not found".to_owned(), format!("Background process not found: {id}"));
            return self.end_process_call(session, call, title, output, json!({"processID": id}));
        };
        let verb = match action.as_str() {
            "restart" => {
                let waiter = self.waiting_call(session, call, "restart");
                return self.restart_process(&id, waiter);
            }
            "logs" => "Logs",
            "stop" => {
                self.stop_at_last(&id);
                "stop"
            }
            _ => "status",
        };
        self.process_told(session, call, verb, &id);
    }

    fn is_sandboxed(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|owner| owner.sandbox.is_some_and(Sandbox::is_on))
    }

    fn waiting_call(&mut self, session: &str, call: usize, verb: &'static str) -> Waiter {
        let message = self.run_mut(session).map(|run| run.message.clone()).unwrap_or_default();
        Waiter::Call { session: session.to_owned(), message, call, verb }
    }

    /// Is the turn of this call still at its step?
    fn still_waits(&mut self, waiter: &Waiter) -> bool {
        let Waiter::Call { session, message, .. } = waiter else { return true };
        self.run_mut(session).is_some_and(|run| run.message == *message)
    }

    fn refuse_process(&mut self, session: &str, call: usize, action: &str, why: &str) {
        let (title, output) =
            ("Invalid background process input".to_owned(), format!("{why} for action: {action}"));
        self.end_process_call(session, call, title, output, json!({}));
    }

    /// What is asked before a program starts.
    fn plan_process(&mut self, session: &str, call: usize) {
        let text = |name| self.text_argument(session, call, name);
        let argument = |name| self.argument(session, call, name).cloned().unwrap_or_default();
        let Some(owner) = self.sessions.get(session) else { return };
        let here = owner.directory.clone();
        let command = text("command").unwrap_or_default().trim().to_owned();
        let (inherits, persists) = (argument("inherit") == true, argument("persistent") == true);
        let heir = owner.parent.clone().filter(|_| inherits);
        let (ready, description) = (argument("ready"), text("description"));
        let folder = text("workdir").map_or_else(|| here.clone(), |workdir| resolved(&here, &workdir));
        if inherits && heir.is_none() {
            return self.refuse_process(session, call, "start", "inherit requires a subagent session");
        }
        let pattern = ready["pattern"].as_str().filter(|pattern| !pattern.is_empty());
        if let Some(why) = pattern.and_then(no_pattern) {
            return self.refuse_process(session, call, "start", &why);
        }
        let mut wishes = VecDeque::new();
        if !self.is_inside(&here, &folder) {
            let pattern = vec![format!("{}/*", folder.trim_end_matches('/'))];
            wishes.push_back(Wish {
                permission: "external_directory",
                patterns: pattern.clone(),
                metadata: json!({"command": command, "access": "unknown"}),
                always: pattern,
            });
        }
        let mut metadata = json!({"command": command});
        if let Some(description) = &description {
            metadata["description"] = json!(description);
        }
        metadata["action"] = json!("start");
        metadata["backgroundProcess"] = json!(true);
        let first = command.split_whitespace().next().unwrap_or_default();
        wishes.push_back(Wish {
            permission: "bash",
            patterns: vec![command.clone()],
            metadata,
            always: vec![format!("{first} *")],
        });
        let lifetime = match () {
            () if persists => PERSISTENT,
            () if heir.is_some() => "parent",
            () => "session",
        };
        let session_name = session.to_owned();
        let wish = ProcessWish { session: session_name, command, folder, description, ready, lifetime, heir };
        self.set_plan(session, call, Plan::Process(Box::new(ProcessPlan { wish, wishes })));
        self.next_process_wish(session, call);
    }

    /// Nobody objects so far.
    pub(in crate::world) fn next_process_wish(&mut self, session: &str, call: usize) {
        let Some(Plan::Process(mut plan)) =
            self.run_mut(session).and_then(|run| run.calls.get(call)?.plan.clone())
        else {
            return;
        };
        let next = plan.wishes.pop_front();
        let wish = plan.wish.clone();
        self.set_plan(session, call, Plan::Process(plan));
        if let Some(next) = next {
            return self.ask_or_allow(session, call, &next);
        }
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone()).unwrap_or_default();
        let waiter = self.waiting_call(session, call, "Started");
        self.launch(Launch { directory, wish, id: None, waiter });
    }

    /// It is ready, has ended, or nobody waits for that any longer.
    pub(super) fn process_settled(&mut self, waiter: &Waiter, id: &str) {
        match waiter {
            Waiter::Call { session, call, verb, .. } if self.still_waits(waiter) => {
                self.process_told(session, *call, verb, id);
            }
            Waiter::Call { .. } => {}
            Waiter::Request(ticket) => {
                let info = self.process(id).map(|process| process.info.clone()).unwrap_or_default();
                self.reply_json(*ticket, info);
            }
        }
    }

    /// It can't start.
    pub(super) fn process_fails(&mut self, waiter: &Waiter, why: &str) {
        match waiter {
            Waiter::Call { session, call, .. } if self.still_waits(waiter) => {
                self.fail_call(session, *call, why);
            }
            Waiter::Call { .. } => {}
            Waiter::Request(ticket) => self.unknown_error(*ticket),
        }
    }

    fn process_told(&mut self, session: &str, call: usize, verb: &str, id: &str) {
        let Some(process) = self.process(id) else { return };
        let info = &process.info;
        let label = info["description"].as_str().or(info["command"].as_str()).unwrap_or_default();
        let title = format!("{verb}: {label}");
        let output = match (verb, info["output"].as_str()) {
            ("Logs", None | Some("")) => "(no output)".to_owned(),
            ("Logs", Some(output)) => output.to_owned(),
            _ => lines(info),
        };
        let metadata = json!({"processID": id, "status": info["status"]});
        self.end_process_call(session, call, title, output, metadata);
    }

    fn end_process_call(
        &mut self,
        session: &str,
        call: usize,
        title: String,
        output: String,
        mut metadata: Value,
    ) {
        metadata["truncated"] = json!(false);
        self.complete_told_call(session, call, Completed { output, title, metadata, ..Completed::default() });
    }
}

/// What an agent is told of a program.
fn lines(info: &Value) -> String {
    let of = |name: &str| match &info[name] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let output = of("output");
    let last = output.trim().lines().rfind(|line| !line.is_empty());
    let known = ["id", "status", "pid", "cwd", "command", "lifetime"];
    let known = known.iter().map(|name| format!("{name}: {}", of(name)));
    let last = last.map(|line| format!("last_output: {line}"));
    known.chain(last).collect::<Vec<_>>().join("\n")
}
