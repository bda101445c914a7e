//! A command: a template becomes a prompt. What was said with it is put in, lines of it are run, files and agents that
//! it names are added.

use super::prompt::{Executed, Prompt};
use super::routes::body_of;
use super::session::Message;
use super::skill_lines;
use super::template::{LINE, NAME, file_part, filled_in, hints, place_of};
use super::{ApiRequest, Effect, Found, Purpose, ShellLine, ShellNews, Ticket, World};
use crate::roster::Roster;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// A command on its way to be a prompt.
#[derive(Debug)]
pub(crate) struct Calling {
    session: String,
    ticket: Option<Ticket>,
    executed: Executed,
    /// As it is written down.
    known: Value,
    /// What the client wants.
    wish: Value,
    text: String,
    /// The lines that are still to be run.
    lines: VecDeque<String>,
    outputs: VecDeque<String>,
    printed: String,
    /// The names that are still to be looked up.
    names: VecDeque<String>,
    files: Vec<Value>,
    agents: Vec<Value>,
}

/// A command that is no template: see `goal`.
const GOAL: &str = "goal";
/// Those that take over what another agent has done; they want a session in which nothing has been said.
const RESUMING: [&str; 2] = ["resume-claude", "resume-codex"];
const NOT_NEW: &str = "Start a new Kilo session, then run the resume command again.";
/// Behind the name of a skill: it is meant, whatever command has its name.
const AS_SKILL: &str = ":skill";
/// The command after which a project counts as initialized.
const INIT: &str = "init";
/// Names that the client knows by itself.
const OF_CLIENT: [&str; 2] = ["compact", "summarize"];
/// The command that is counted apart.
const REVIEW: &str = "review";
/// How long a line of a template may run.
const PATIENCE_MS: u64 = 30 * 24 * 3_600_000;

impl World {
    /// `POST /session/{id}/command`.
    pub(super) fn command(&mut self, request: &ApiRequest, id: &str) {
        if self.stumbles_over_folder(id, Some(request.ticket)) {
            return;
        }
        let body = self.operations.known_body("session.command", body_of(request));
        let name = body["command"].as_str().unwrap_or_default().to_owned();
        if self.profile.names_commands && name == GOAL {
            return self.call_goal(request, id);
        }
        if self.profile.names_commands && RESUMING.contains(&name.as_str()) {
            return self.resume_other(request.ticket, id);
        }
        self.call_command(id, Some(request.ticket), None, &name, body);
    }

    /// `POST /session/{id}/init`.
    pub(super) fn init(&mut self, request: &ApiRequest, id: &str) {
        if self.stumbles_over_folder(id, Some(request.ticket)) {
            return;
        }
        let body = body_of(request);
        let word = |key: &str| body[key].as_str().unwrap_or_default();
        let model = format!("{}/{}", word("providerID"), word("modelID"));
        let wish = json!({"messageID": body["messageID"], "model": model, "arguments": ""});
        self.call_command(id, None, Some(request.ticket), INIT, wish);
    }

    fn call_command(
        &mut self,
        session: &str,
        ticket: Option<Ticket>,
        yes: Option<Ticket>,
        name: &str,
        wish: Value,
    ) {
        let Some(directory) = self.sessions.get(session).map(|owner| owner.directory.clone()) else { return };
        let commands = self.commands(&directory);
        let named = commands.iter().find(|(known, _)| known == name).map(|(_, told)| told.clone());
        let Some(known) = named.or_else(|| self.skill_by_kind(&directory, name)) else {
            let mut names: Vec<&str> = commands.iter().map(|(name, _)| name.as_str()).collect();
            if self.profile.names_commands {
                names.extend(OF_CLIENT);
                names.sort_unstable();
            }
            let message = format!("Command not found: \"{name}\". Available commands: {}", names.join(", "));
            let error = json!({"name": "UnknownError", "data": {"message": message}});
            self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
            return self.unknown_error_to(ticket.or(yes));
        };
        let arguments = wish["arguments"].as_str().unwrap_or_default().to_owned();
        let template = known["template"].as_str().unwrap_or_default();
        let is_distrusted = known["source"] == "skill" && known["trusted"] == false;
        let text = filled_in(template, &arguments);
        let text = if is_distrusted { skill_lines::without_any(&text) } else { text };
        let lines = LINE.captures_iter(&text).map(|found| found[1].to_owned()).collect();
        let calling = Calling {
            session: session.to_owned(),
            ticket: ticket.or(yes),
            executed: Executed {
                name: name.to_owned(),
                arguments,
                ticket: ticket.or(yes),
                is_yes: yes.is_some(),
            },
            known,
            wish,
            text,
            lines,
            outputs: VecDeque::new(),
            printed: String::new(),
            names: VecDeque::new(),
            files: Vec::new(),
            agents: Vec::new(),
        };
        self.run_command_lines(calling);
    }

    /// What another agent has done is nowhere on this machine, so there is nothing to take over.
    fn resume_other(&mut self, ticket: Ticket, session: &str) {
        if self.sessions.get(session).is_some_and(|owner| !owner.messages.is_empty()) {
            let error = json!({"name": "UnknownError", "data": {"message": NOT_NEW}});
            self.emit_session(session, "session.error", json!({"sessionID": session, "error": error}));
        }
        self.plain_bad_request(ticket);
    }

    /// A skill that is called as one, as menus do.
    fn skill_by_kind(&self, directory: &str, name: &str) -> Option<Value> {
        let name = name.strip_suffix(AS_SKILL).filter(|_| self.profile.names_commands)?;
        let of_release = Roster::of(self.profile.server).commands.iter();
        let of_release = of_release.filter(|told| told["source"] == "skill" && told["name"] == name);
        let own = self
            .skill_commands(directory)
            .into_iter()
            .filter(|(known, _)| known == name)
            .map(|(_, told)| told);
        of_release.cloned().chain(own).next()
    }

    /// `GET /command`.
    pub(super) fn list_commands(&mut self, request: &ApiRequest) {
        let commands = self.commands(&self.directory_of(request));
        self.reply_json(request.ticket, commands.into_iter().map(|(_, told)| told).collect());
    }

    /// Those of the release, then those of the settings; the skills are last.
    pub(super) fn commands(&self, directory: &str) -> Vec<(String, Value)> {
        let roster = Roster::of(self.profile.server);
        let named = |told: &Value| (told["name"].as_str().unwrap_or_default().to_owned(), told.clone());
        let (skills, own): (Vec<_>, Vec<_>) =
            roster.commands.iter().map(named).partition(|(_, told)| told["source"] == "skill");
        let mut commands: Vec<(String, Value)> = own;
        for (name, wanted) in
            self.settings_in(directory).get("command").and_then(Value::as_object).into_iter().flatten()
        {
            let told = of_settings(name, wanted, self.profile.command_keys);
            match commands.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = told,
                None => commands.push((name.clone(), told)),
            }
        }
        let taken =
            |commands: &[(String, Value)], name: &str| commands.iter().any(|(known, _)| known == name);
        let skills = skills.into_iter().chain(self.skill_commands(directory));
        let skills: Vec<_> = skills.filter(|(name, _)| !taken(&commands, name)).collect();
        commands.extend(skills);
        let worktree = self.worktree_of(directory);
        for (_, told) in &mut commands {
            let moved = told["template"].as_str().map(|text| text.replace(&roster.workspace, &worktree));
            if let Some(moved) = moved {
                told["template"] = json!(moved);
            }
        }
        commands
    }

    /// Runs the lines one after the other, in the server's own folder.
    fn run_command_lines(&mut self, mut calling: Calling) {
        if let Some(line) = calling.lines.pop_front().filter(|_| self.config.runs_shell) {
            let line = ShellLine {
                line: format!("exec 2>/dev/null\n{line}"),
                directory: self.config.directory.clone(),
                home: self.config.home.clone(),
                server: self.profile.server,
                timeout_ms: PATIENCE_MS,
                shells: self.shells(&self.config.directory),
                shell_name: None,
                screen: None,
            };
            return self.effect(Purpose::CommandLine(Box::new(calling)), Effect::Run(line));
        }
        let mut outputs = std::mem::take(&mut calling.outputs);
        let text = LINE
            .replace_all(&calling.text, |_: &regex::Captures<'_>| outputs.pop_front().unwrap_or_default());
        calling.text = text.trim().to_owned();
        let mut names: VecDeque<String> = VecDeque::new();
        for found in NAME.captures_iter(&calling.text) {
            if !found[1].is_empty() && !names.contains(&found[1].to_owned()) {
                names.push_back(found[1].to_owned());
            }
        }
        calling.names = names;
        self.look_up_names(calling);
    }

    /// A line of a template prints something, or has ended.
    pub(crate) fn command_line_says(
        &mut self,
        mut calling: Calling,
        news: &ShellNews,
    ) -> Option<Box<Calling>> {
        if let ShellNews::Printed(text) = news {
            calling.printed.push_str(text);
            return Some(Box::new(calling));
        }
        let printed = std::mem::take(&mut calling.printed);
        calling.outputs.push_back(printed);
        self.run_command_lines(calling);
        None
    }

    fn look_up_names(&mut self, calling: Calling) {
        let Some(name) = calling.names.front() else { return self.send_command(calling) };
        let Some(directory) = self.sessions.get(&calling.session).map(|owner| owner.directory.clone()) else {
            return self.unknown_error_to(calling.ticket);
        };
        let path = place_of(name, &directory, &self.config.home);
        self.effect(Purpose::CommandName(Box::new(calling)), Effect::Read { path });
    }

    /// It is known what stands at the place that a name may mean; else it may be an agent's.
    pub(crate) fn name_looked_up(&mut self, mut calling: Calling, found: Result<Found, String>) {
        let Some(name) = calling.names.pop_front() else { return };
        let directory = self.sessions.get(&calling.session).map(|owner| owner.directory.clone());
        let path = place_of(&name, &directory.unwrap_or_default(), &self.config.home);
        let mime = match found {
            Ok(Found::File(_)) => Some("text/plain"),
            Ok(Found::Folder(_) | Found::Tree(_)) => Some("application/x-directory"),
            Ok(Found::Nothing { .. }) | Err(_) => None,
        };
        match mime {
            Some(mime) => {
                calling.files.push(file_part(&name, &path, mime));
            }
            None if self.agent_for(&calling.session, &name).is_some() => {
                calling.agents.push(json!({"type": "agent", "name": name}))
            }
            None => {}
        }
        self.look_up_names(calling);
    }

    fn send_command(&mut self, calling: Calling) {
        let Calling { session, ticket, executed, known, wish, text, files, agents, .. } = calling;
        let word = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
        let agent = word(&known, "agent").or_else(|| word(&wish, "agent"));
        if agent.is_none() && self.agents_for(&session).lacks_default().is_some() {
            return self.unknown_error_to(ticket);
        }
        let agent = agent.unwrap_or_else(|| self.default_agent(&session).to_owned());
        let chosen = |value: &Value| {
            let said = value["model"].as_str().filter(|said| !said.is_empty())?;
            let (provider, model) = said.split_once('/').unwrap_or((said, ""));
            Some(json!({"providerID": provider, "modelID": model}))
        };
        let own = known.get("agent").and_then(|_| self.own_model_of(&session, &agent));
        let model =
            chosen(&known).or(own).or_else(|| chosen(&wish)).unwrap_or_else(|| self.model_of(&session));
        if self.lacks_model(&session, &model).is_some() || self.is_nobody(&session, &agent) {
            return self.unknown_error_to(ticket);
        }
        let agent = self.own_name(&session, agent);
        let is_subagent = self.agent_for(&session, &agent).is_some_and(|agent| agent.is_subagent);
        let is_task = (is_subagent && known["subtask"] != false) || known["subtask"] == true;
        let mut first = json!({"type": "text", "text": text});
        if self.profile.names_commands {
            let title = format!("/{} {}", executed.name, executed.arguments);
            first["metadata"] = json!({"kilo": {"injected": {"title": title.trim()}}});
            if executed.name == REVIEW {
                for (key, value) in [("mode", REVIEW), ("feature", "code_reviews"), ("command", REVIEW)] {
                    first["metadata"][key] = json!(value);
                }
            }
        }
        let sent = wish["parts"].as_array().cloned().unwrap_or_default();
        let parts = if is_task {
            vec![json!({
                "type": "subtask", "agent": agent, "description": known["description"].as_str().unwrap_or_default(),
                "command": executed.name,
                "model": {"providerID": model["providerID"], "modelID": model["modelID"]}, "prompt": text,
            })]
        } else {
            let is_sent = |file: &Value| sent.iter().any(|sent| sent["url"] == file["url"]);
            let files = files.into_iter().filter(|file| !is_sent(file));
            std::iter::once(first).chain(files).chain(agents).chain(sent.clone()).collect()
        };
        let (asker, mut asked) = if is_task {
            let asker = word(&wish, "agent").unwrap_or_else(|| self.default_agent(&session).to_owned());
            (asker, chosen(&wish).unwrap_or_else(|| self.model_of(&session)))
        } else {
            (agent, model)
        };
        // The variant of the prompt before is not taken over.
        if let Some(fields) = asked.as_object_mut() {
            fields.shift_remove("variant");
        }
        let prompt = Prompt {
            message: word(&wish, "messageID"),
            agent: Some(asker),
            model: Some(asked),
            // The model of a stand-in has no variants, and some ask for one that it has.
            variant: word(&wish, "variant").filter(|_| is_task || !self.profile.names_commands),
            kept: json!({}),
            parts,
            command: Some(executed),
            ..Prompt::default()
        };
        self.prompt(&session, prompt);
    }

    /// The commands of a turn that is being ended are told before the end is.
    pub(super) fn tell_executed(&mut self, session: &str) {
        let Some(run) = self.run_mut(session) else { return };
        let (commands, answer) = (std::mem::take(&mut run.commands), run.message.clone());
        commands.into_iter().for_each(|command| self.executed(session, command, &answer));
    }

    /// The turn of a command is over.
    pub(crate) fn executed(&mut self, session: &str, command: Executed, answer: &str) {
        let owner = self.sessions.get(session);
        let answer = owner.and_then(|owner| owner.message(answer)).map(Message::wire).unwrap_or_default();
        let properties = json!({
            "name": command.name, "sessionID": session, "arguments": command.arguments,
            "messageID": answer["info"]["id"],
        });
        self.emit_session(session, "command.executed", properties);
        if command.name == INIT {
            self.mark_initialized(session);
        }
        if let Some(ticket) = command.ticket {
            let reply = if command.is_yes { json!(true) } else { answer };
            self.reply_json(ticket, reply);
        }
    }
}

/// A command of the settings, as it is told.
fn of_settings(name: &str, wanted: &Value, keys: &[&str]) -> Value {
    let template = wanted["template"].as_str().unwrap_or_default();
    let hints = hints(template);
    let told = keys.iter().map(|key| {
        let value = match *key {
            "name" => json!(name),
            "source" => json!("command"),
            "hints" => json!(hints),
            key => wanted[key].clone(),
        };
        ((*key).to_owned(), value)
    });
    Value::Object(told.collect())
}
