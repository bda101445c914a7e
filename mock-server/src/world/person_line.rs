//! A line that the person runs in a session: a prompt and an answer that no model has written.

use super::prompt::Queued;
use super::routes::body_of;
use super::run::{Run, TurnEnd};
use super::session::Message;
use super::tokens::Tokens;
use super::{ApiRequest, Effect, Purpose, ShellEnd, ShellLine, ShellNews, ShellWish, Ticket, World};
use serde_json::{Map, Value, json};

/// The line while it runs.
#[derive(Debug, Default)]
pub(crate) struct PersonLine {
    /// What it has printed.
    output: String,
    /// It could not begin.
    has_failed: bool,
    /// The prompt that is answered when it has ended.
    next: Option<Queued>,
    /// That prompt has opened a turn, and is not answered any more.
    leaves_turn: bool,
    /// Who waits for the end of that turn and is told yes.
    yes: Vec<Ticket>,
}

/// Nobody waits longer than a month.
const PATIENCE_MS: u64 = 30 * 24 * 3_600_000;
const WORDS: &str = "The following tool was executed by the user";
const STOPPED: &str = "\n\n<metadata>\nUser aborted the command\n</metadata>";

impl World {
    /// The shells that are wished for where lines of a folder run.
    pub(super) fn shells(&self, directory: &str) -> Vec<ShellWish> {
        let mut settings = self.settings_in(directory);
        settings.extend(self.settings_of(directory));
        self.shells_by(&settings)
    }

    /// The same where these are the settings that count.
    pub(super) fn shells_by(&self, settings: &Map<String, Value>) -> Vec<ShellWish> {
        let of_settings = settings.get("shell").and_then(Value::as_str).filter(|name| !name.is_empty());
        let of_settings = of_settings.map(|name| ShellWish::Settings(name.to_owned()));
        let of_environment = self.config.shell.clone().map(ShellWish::Environment);
        of_settings.into_iter().chain(of_environment).collect()
    }

    /// `POST /session/{id}/shell`.
    pub(super) fn run_person_line(&mut self, request: &ApiRequest, id: &str) {
        if !self.config.runs_shell {
            return self.not_played(request);
        }
        if self.refuse_while_busy(request.ticket, id) {
            return;
        }
        let body = body_of(request);
        let word = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let (agent, command) = (word("agent"), word("command"));
        let Some(directory) = self.sessions.get(id).map(|owner| owner.directory.clone()) else { return };
        self.emit_status(id, "busy");
        self.forget_reverted(id);
        if self.is_nobody(id, &agent) || self.lacks_agents(&directory) {
            self.emit_idle(id);
            return self.unknown_error(request.ticket);
        }
        let own = self.own_model_of(id, &agent);
        let model = body.get("model").cloned().or(own).unwrap_or_else(|| self.model_of(id));
        let model = json!({"providerID": model["providerID"], "modelID": model["modelID"]});
        let now = self.now_ms;
        let prompt = body["messageID"].as_str().map(str::to_owned);
        let prompt = prompt.unwrap_or_else(|| self.ids.ascending("msg", now));
        let info = json!({
            "id": prompt, "sessionID": id, "role": "user", "time": {"created": now}, "agent": agent, "model": model,
        });
        self.push_message(id, &prompt, info);
        self.add_part(id, &prompt, json!({"type": "text", "text": WORDS, "synthetic": true}));
        let message = self.ids.ascending("msg", now);
        let root = self.worktree_of(&directory);
        let mut info = json!({
            "id": message, "sessionID": id, "role": "assistant", "time": {"created": now}, "parentID": prompt,
            "modelID": model["modelID"], "providerID": model["providerID"], "mode": agent, "agent": agent,
            "path": {"cwd": directory, "root": root}, "cost": 0, "tokens": Tokens::default().wire(),
        });
        if self.lacks_folder(&directory) {
            // The line has failed before that is told.
            info["time"]["completed"] = json!(now);
        }
        self.push_message(id, &message, info);
        let call = self.ids.call(now);
        let state = json!({"status": "running", "input": {"command": command}, "time": {"start": now}});
        self.add_part(id, &message, json!({"type": "tool", "callID": call, "tool": "bash", "state": state}));
        if let Some(owner) = self.sessions.get_mut(id) {
            let line = Some(PersonLine::default());
            owner.run = Some(Run { tickets: vec![request.ticket], prompt, message, line, ..Run::default() });
        }
        let shells = self.shells(&directory);
        let line = ShellLine {
            line: command,
            directory,
            home: self.config.home.clone(),
            server: self.profile.server,
            timeout_ms: PATIENCE_MS,
            shells,
            shell_name: Some(self.profile.server.to_string()),
            screen: None,
        };
        self.effect(Purpose::PersonLine(id.to_owned()), Effect::Run(line));
    }

    /// The line prints something, or has ended.
    pub(crate) fn person_line_says(&mut self, session: &str, news: ShellNews) {
        let Some(run) = self.run_mut(session) else { return };
        let Some(line) = run.line.as_mut() else { return };
        match news {
            ShellNews::Printed(text) => {
                line.output.push_str(&text);
                let (output, message) = (line.output.clone(), run.message.clone());
                if let Some(part) = self.part_mut(session, &message, 0) {
                    part["state"]["metadata"] = json!({"output": output});
                }
                self.emit_part(session, &message, 0);
            }
            ShellNews::Ended(ShellEnd::Exited(_) | ShellEnd::TimedOut | ShellEnd::Stopped) => {
                self.end_person_line(session);
                self.look_for_checkout(session);
            }
            // Whoever waits gets no more than that.
            ShellNews::Failed(_) => {
                line.has_failed = true;
                self.end_person_line(session);
            }
        }
    }

    /// Is it a line that runs in this session, and no turn?
    pub(crate) fn runs_person_line(&self, session: &str) -> bool {
        let run = self.sessions.get(session).and_then(|owner| owner.run.as_ref());
        run.is_some_and(|run| run.line.is_some())
    }

    /// The person ends the line.
    pub(crate) fn abort_person_line(&mut self, session: &str) {
        self.forget_turn(session);
        self.leave_waiting_prompts(session);
        if let Some(line) = self.run_mut(session).and_then(|run| run.line.as_mut()) {
            line.output.push_str(STOPPED);
        }
        self.end_person_line(session);
        if self.profile.turn_events {
            self.emit_session(session, "session.drain.interrupted", json!({"sessionID": session}));
        }
    }

    /// What waits for the end of an aborted line is told that end, and nobody answers it.
    fn leave_waiting_prompts(&mut self, session: &str) {
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let waiting: Vec<Queued> = owner.queue.drain(..).collect();
        if !waiting.is_empty() {
            self.emit_queue(session);
        }
        let Some(run) = self.run_mut(session) else { return };
        let next = run.line.as_mut().and_then(|line| {
            line.leaves_turn = line.next.is_some();
            line.next.take()
        });
        next.into_iter().chain(waiting).for_each(|queued| run.take_waiting(queued));
    }

    fn end_person_line(&mut self, session: &str) {
        let now = self.now_ms;
        let Some(run) = self.run_mut(session) else { return };
        let PersonLine { output, has_failed, next, leaves_turn, yes } = run.line.take().unwrap_or_default();
        let message = run.message.clone();
        if let Some(message) = self.sessions.get_mut(session).and_then(|owner| owner.message_mut(&message)) {
            message.info["time"]["completed"] = json!(now);
        }
        self.emit_message(session, &message);
        if let Some(part) = self.part_mut(session, &message, 0) {
            let state = &part["state"];
            part["state"] = json!({
                "status": "completed", "input": state["input"], "output": output, "title": "",
                "metadata": {"output": output}, "time": {"start": state["time"]["start"], "end": now},
            });
        }
        self.emit_part(session, &message, 0);
        if self.is_gone(session) {
            if let Some(run) = self.run_mut(session) {
                next.into_iter().for_each(|queued| run.take_waiting(queued));
                run.yes.extend(yes);
            }
            return self.bury(session);
        }
        if leaves_turn {
            self.emit_turn_close(session, TurnEnd::Completed);
        }
        let Some(owner) = self.sessions.get_mut(session) else { return };
        let Some(run) = owner.run.take() else { return };
        let answer = owner.message(&message).map(Message::wire).unwrap_or_else(|| Value::Null);
        if next.is_none() {
            self.emit_idle(session);
        }
        for ticket in run.tickets {
            match has_failed {
                true => self.unknown_error(ticket),
                false => self.reply_json(ticket, answer.clone()),
            }
        }
        for command in run.commands {
            self.executed(session, command, &message);
        }
        if let Some(next) = next {
            self.begin_opened_turn(session, next);
        }
        match self.run_mut(session) {
            Some(run) => run.yes.extend(yes),
            None => yes.into_iter().for_each(|ticket| self.reply_json(ticket, json!(true))),
        }
    }

    /// The same for a prompt of the server's own, whose sender is told yes when its turn is over.
    pub(crate) fn wait_for_person_line_and_say_yes(&mut self, session: &str, queued: Queued, ticket: Ticket) {
        if let Some(queued) = self.wait_for_person_line(session, queued)
            && let Some(owner) = self.sessions.get_mut(session)
        {
            owner.queue.push_back(queued);
        }
        if let Some(line) = self.run_mut(session).and_then(|run| run.line.as_mut()) {
            line.yes.push(ticket);
        }
    }

    /// While a line runs the first prompt opens its turn, which begins when the line has ended.
    pub(crate) fn wait_for_person_line(&mut self, session: &str, queued: Queued) -> Option<Queued> {
        let Some(line) = self.run_mut(session).and_then(|run| run.line.as_mut()) else { return Some(queued) };
        if line.next.is_some() {
            return Some(queued);
        }
        line.next = Some(queued);
        self.open_turn(session);
        None
    }
}
