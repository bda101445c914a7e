//! Terminals over REST (`/pty`, `/api/pty`): a program that runs beside the sessions until it ends or somebody ends it.
//! What it prints is seen by those who are let in (`terminal_door.rs`); where time is logical nobody can look into one, and
//! a shell that waits for somebody who types just waits.

use super::PATIENCE_MS;
use super::terminal_door::DoorTicket;
use super::{
    ApiRequest, Effect, EffectId, OnScreen, Output, Purpose, ReplyBody, ShellEnd, ShellLine, ShellNews, World,
};
use crate::world::routes::body_of;
use crate::world::surroundings::{PlaceAsk, PlaceWish};
use crate::world::tools::place::resolved;
use serde_json::{Value, json};

/// The terminals of all directories, the oldest first.
#[derive(Debug, Default)]
pub(in crate::world) struct Terminals {
    all: Vec<Terminal>,
    /// How many there have been.
    opened: u64,
    /// What lets people in who bring no password.
    pub(super) tickets: Vec<DoorTicket>,
}

#[derive(Debug)]
pub(super) struct Terminal {
    directory: String,
    /// The next generation has opened it.
    is_next: bool,
    /// As the wire has it.
    info: Value,
    /// What runs in it, if anything has to.
    runs: Option<EffectId>,
}

/// Somebody wants a terminal.
#[derive(Debug)]
pub(in crate::world) struct TerminalWish {
    request: ApiRequest,
    directory: String,
    folder: String,
}

/// Programs get numbers that no machine gives: who ends one by its number ends nobody.
const NO_PROCESS: u64 = 5_000_000;
/// So many that have ended are kept in each directory.
const ENDED_MAX: usize = 25;
/// The rows and columns of a terminal that nobody has drawn; Kilo's server does as it is told at the beginning, too.
const SIZE: (u16, u16) = (24, 80);
/// The shells that are told to begin as at a login.
const AT_LOGIN: &[&str] = &["bash", "dash", "fish", "ksh", "sh", "zsh"];

impl Terminal {
    fn id(&self) -> &str {
        self.info["id"].as_str().unwrap_or_default()
    }

    fn is_running(&self) -> bool {
        self.info["status"] == "running"
    }

    /// Each generation may have its own; one that has ended is there for the next generation only.
    fn is_there_for(&self, next: bool, shares: bool) -> bool {
        (shares || self.is_next == next) && (next || self.is_running())
    }
}

impl World {
    /// Answers a request about terminals. `None` when it is about something else.
    pub(in crate::world) fn about_terminals(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        let (is_next, verb) = match operation.strip_prefix("v2.") {
            Some(own) => (true, own),
            None => (false, operation),
        };
        let ticket = request.ticket;
        let directory = self.directory_of(request);
        let id = request.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        match verb {
            "pty.list" => {
                let shares = self.profile.shares_terminals;
                let here =
                    self.alongside.terminals.all.iter().filter(|terminal| terminal.directory == directory);
                let told = here.filter(|terminal| terminal.is_there_for(is_next, shares));
                let list = told.map(|terminal| terminal.info.clone()).collect();
                self.tell_terminals(ticket, is_next, &directory, list);
            }
            "pty.create" => {
                let body = body_of(request);
                let folder = body["cwd"].as_str().filter(|folder| !folder.is_empty());
                let folder = resolved(&directory, folder.unwrap_or(&directory));
                let program = body["command"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
                // What the server was started with does not count here.
                let shells = self.shells_by(&self.settings_of(&directory));
                let wish = PlaceWish::Program { name: program, shells, folder: folder.clone() };
                let ask = TerminalWish { request: request.clone(), directory, folder };
                self.ask_place(PlaceAsk::Terminal(Box::new(ask)), wish);
            }
            "pty.get" => {
                let info = self.terminal(&id, &directory, is_next)?.info.clone();
                self.tell_terminals(ticket, is_next, &directory, info);
            }
            "pty.update" => {
                let title =
                    body_of(request)["title"].as_str().filter(|title| !title.is_empty()).map(str::to_owned);
                let size = size_in(&body_of(request));
                let terminal = self.terminal(&id, &directory, is_next)?;
                if let Some(title) = title {
                    terminal.info["title"] = json!(title);
                }
                let info = terminal.info.clone();
                if let Some((rows, columns)) = size {
                    self.outputs.push(Output::Draw(id, rows, columns));
                }
                self.tell_of_terminal(&directory, is_next, "pty.updated", json!({"info": info}));
                self.tell_terminals(ticket, is_next, &directory, info);
            }
            "pty.remove" => {
                self.terminal(&id, &directory, is_next)?;
                self.close_terminal(&id, is_next);
                if is_next {
                    self.reply(ticket, 204, ReplyBody::Empty);
                } else {
                    self.reply_json(ticket, json!(true));
                }
            }
            _ => return self.at_the_door(request, verb, &directory, is_next),
        }
        Some(())
    }

    /// The terminal of that name.
    pub(super) fn terminal(&mut self, id: &str, directory: &str, is_next: bool) -> Option<&mut Terminal> {
        let shares = self.profile.shares_terminals;
        let mut here =
            self.alongside.terminals.all.iter_mut().filter(|terminal| terminal.directory == directory);
        here.find(|terminal| terminal.id() == id && terminal.is_there_for(is_next, shares))
    }

    pub(super) fn tell_terminals(&mut self, ticket: u64, is_next: bool, directory: &str, told: Value) {
        let body = if is_next { json!({"location": self.location(directory), "data": told}) } else { told };
        self.reply_json(ticket, body);
    }

    /// The machine knows the program, or not.
    pub(in crate::world) fn open_terminal(&mut self, wish: &TerminalWish, program: Option<String>) {
        let TerminalWish { request, directory, folder } = wish;
        let Some(program) = program else { return self.unknown_error(request.ticket) };
        let body = body_of(request);
        let mut arguments: Vec<String> = serde_json::from_value(body["args"].clone()).unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        let is_asked_for = body["command"].as_str().is_some_and(|name| !name.is_empty());
        let is_shell = AT_LOGIN.contains(&name);
        let waits = is_shell && arguments.is_empty();
        if is_shell && (!is_asked_for || self.profile.logs_in_to_shells) {
            arguments.push("-l".to_owned());
        }
        if !waits && !self.config.runs_shell {
            return self.not_played(request);
        }
        let id = self.ids.ascending("pty", self.now_ms);
        let title = body["title"].as_str().filter(|title| !title.is_empty()).map(str::to_owned);
        let title = title.unwrap_or_else(|| format!("Terminal {}", &id[id.len() - 4..]));
        self.alongside.terminals.opened += 1;
        let info = json!({
            "id": id, "title": title, "command": program, "args": arguments, "cwd": folder, "status": "running",
            "pid": NO_PROCESS + self.alongside.terminals.opened,
        });
        let is_next = request.path.starts_with("/api/");
        self.tell_of_terminal(directory, is_next, "pty.created", json!({"info": info}));
        self.tell_terminals(request.ticket, is_next, directory, info.clone());
        let asked = if self.profile.shares_terminals { size_in(&body) } else { None };
        let (rows, columns) = asked.unwrap_or(SIZE);
        let runs = (!waits || self.config.runs_shell && self.config.has_screens).then(|| {
            let set = self.environment_of(&id, &body["env"]);
            let words = std::iter::once(&program).chain(&arguments).map(|word| quoted(word));
            let assigned = set.iter().map(|(name, value)| quoted(&format!("{name}={value}")));
            let line = format!("exec env {}", assigned.chain(words).collect::<Vec<_>>().join(" "));
            let home = self.config.home.clone();
            let line = ShellLine {
                line,
                directory: folder.clone(),
                home,
                server: self.profile.server,
                timeout_ms: PATIENCE_MS,
                shells: Vec::new(),
                shell_name: None,
                screen: Some(OnScreen {
                    id: id.clone(),
                    program: program.clone(),
                    arguments,
                    environment: set,
                    rows,
                    columns,
                }),
            };
            self.named_effect(Purpose::Terminal(id), Effect::Run(line))
        });
        self.alongside.terminals.all.push(Terminal { directory: directory.clone(), is_next, info, runs });
    }

    /// What runs in a terminal tells something; what it prints nobody hears.
    pub(in crate::world) fn terminal_says(&mut self, id: &str, news: &ShellNews) {
        let code = match news {
            ShellNews::Printed(_) => return,
            ShellNews::Ended(ShellEnd::Exited(code)) => code.unwrap_or_default(),
            ShellNews::Ended(_) | ShellNews::Failed(_) => 1,
        };
        let Some(terminal) = self.alongside.terminals.all.iter_mut().find(|terminal| terminal.id() == id)
        else {
            return;
        };
        terminal.info["status"] = json!("exited");
        terminal.info["exitCode"] = json!(code);
        terminal.runs = None;
        let (directory, is_next) = (terminal.directory.clone(), terminal.is_next);
        self.tell_of_terminal(&directory, is_next, "pty.exited", json!({"id": id, "exitCode": code}));
        let here = self.alongside.terminals.all.iter().filter(|terminal| terminal.directory == directory);
        let ended: Vec<String> =
            here.filter(|terminal| !terminal.is_running()).map(|terminal| terminal.id().to_owned()).collect();
        for oldest in &ended[..ended.len().saturating_sub(ENDED_MAX)] {
            self.close_terminal(oldest, is_next);
        }
    }

    fn close_terminal(&mut self, id: &str, is_next: bool) {
        let Some(at) = self.alongside.terminals.all.iter().position(|terminal| terminal.id() == id) else {
            return;
        };
        let closed = self.alongside.terminals.all.remove(at);
        self.end_terminal(&closed);
        self.tell_of_terminal(&closed.directory, is_next, "pty.deleted", json!({"id": id}));
    }

    /// What the next generation tells names no project.
    fn tell_of_terminal(&mut self, directory: &str, is_next: bool, kind: &str, properties: Value) {
        if is_next {
            self.emit_outside_project(directory, kind, properties);
        } else {
            self.emit(directory, kind, properties);
        }
    }

    /// The instance of a directory ends, or that of all; nobody is told of its terminals.
    pub(in crate::world) fn end_terminals(&mut self, directory: &str) {
        let all = std::mem::take(&mut self.alongside.terminals.all);
        let (ended, kept): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|terminal| terminal.directory == directory);
        self.alongside.terminals.all = kept;
        ended.iter().for_each(|terminal| self.end_terminal(terminal));
    }

    fn end_terminal(&mut self, terminal: &Terminal) {
        if let Some(effect) = terminal.runs {
            self.forget_effect(effect);
        }
    }
}

/// The rows and columns that a client wants.
fn size_in(body: &Value) -> Option<(u16, u16)> {
    let number = |name: &str| u16::try_from(body["size"][name].as_u64()?).ok();
    Some((number("rows")?, number("cols")?))
}

/// A word as a shell takes it for itself.
pub(in crate::world) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_one_word_whatever_is_in_it() {
        assert_eq!(quoted("plain"), "'plain'");
        assert_eq!(quoted("it's $HOME; ls"), r"'it'\''s $HOME; ls'");
    }
}
