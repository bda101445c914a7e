//! Formatters: programs of the settings that make what the agent has written as a project likes it. They run where the
//! agent's shell lines do, one after the other, before anybody is told of the change.

use super::WritePlan;
use crate::world::alongside::{PATIENCE_MS, quoted};
use crate::world::surroundings::{PlaceAsk, PlaceWish};
use crate::world::{ApiRequest, Effect, Purpose, ShellLine, ShellNews, Ticket, World};
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;

/// A formatter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Formatter {
    /// What it is called.
    pub name: String,
    /// How the names of its files end.
    pub extensions: Vec<String>,
    /// Its program and what that is told; none when it is not there.
    pub command: Option<Vec<String>>,
    /// What stands in its environment beside the usual.
    pub environment: Vec<(String, String)>,
}

/// A file that was written and that formatters may look at.
#[derive(Debug)]
pub(crate) struct Formatting {
    session: String,
    path: String,
    has_mark: bool,
    then: Then,
    /// What is still to be run.
    left: VecDeque<String>,
}

/// Who has written the file.
#[derive(Debug)]
pub(crate) enum Then {
    /// A call of the running turn.
    Call(usize),
    /// One whose turn is over.
    Late(Box<WritePlan>),
}

/// Who wants to know of formatters.
#[derive(Debug)]
pub(in crate::world) enum FormatterAsk {
    /// A client asks which there are.
    Client(Ticket),
    /// A file was written.
    Written(Formatting),
}

impl World {
    /// `GET /formatter`: none, unless the settings want some.
    pub(in crate::world) fn list_formatters(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        self.ask_for_formatters(&directory, FormatterAsk::Client(request.ticket));
    }

    /// A file is written: those come that care for such files.
    pub(crate) fn format_file(&mut self, session: &str, plan: (&str, bool), then: Then) {
        let (path, has_mark) = (plan.0.to_owned(), plan.1);
        let written = Formatting { session: session.to_owned(), path, has_mark, then, left: VecDeque::new() };
        if !self.config.runs_shell {
            return self.formatted(written, None);
        }
        let directory = self.sessions.get(session).map(|owner| owner.directory.clone());
        self.ask_for_formatters(&directory.unwrap_or_default(), FormatterAsk::Written(written));
    }

    fn ask_for_formatters(&mut self, directory: &str, ask: FormatterAsk) {
        let settings = self.settings_in(directory).shift_remove("formatter").unwrap_or_default();
        if settings == false || settings.is_null() {
            return self.formatters_told(ask, &[]);
        }
        let (folder, project) = (directory.to_owned(), self.worktree_of(directory));
        let wish = PlaceWish::Formatters { folder, project, settings };
        self.ask_place(PlaceAsk::Formatters(Box::new(ask)), wish);
    }

    /// It is known which formatters there are.
    pub(in crate::world) fn formatters_told(&mut self, ask: FormatterAsk, all: &[Formatter]) {
        match ask {
            FormatterAsk::Client(ticket) => {
                let told = all.iter().map(|one| {
                    json!({"name": one.name, "extensions": one.extensions, "enabled": one.command.is_some()})
                });
                self.reply_json(ticket, told.collect());
            }
            FormatterAsk::Written(mut written) => {
                written.left = all.iter().filter_map(|one| one.line_for(&written.path)).collect();
                if written.left.is_empty() { self.formatted(written, None) } else { self.format_on(written) }
            }
        }
    }

    /// The next one runs, in the folder of the session; behind the last the file is read.
    fn format_on(&mut self, mut written: Formatting) {
        let Some(line) = written.left.pop_front() else {
            let wish = PlaceWish::Formatted { path: written.path.clone(), has_mark: written.has_mark };
            return self.ask_place(PlaceAsk::Formatted(Box::new(written)), wish);
        };
        let directory = self.sessions.get(&written.session).map(|owner| owner.directory.clone());
        let line = ShellLine {
            line,
            directory: directory.unwrap_or_default(),
            home: self.config.home.clone(),
            server: self.profile.server,
            timeout_ms: PATIENCE_MS,
            shells: Vec::new(),
            shell_name: None,
            screen: None,
        };
        self.effect(Purpose::FormatterLine(Box::new(written)), Effect::Run(line));
    }

    /// A formatter says something, which nobody reads, or has ended, which is as good as any other end.
    pub(in crate::world) fn formatter_says(
        &mut self,
        written: Box<Formatting>,
        news: &ShellNews,
    ) -> Option<Box<Formatting>> {
        match news {
            ShellNews::Ended(_) | ShellNews::Failed(_) => self.format_on(*written),
            _ => return Some(written),
        }
        None
    }

    /// The file is as it stays. `text` is what formatters have made of it, if one cared.
    pub(in crate::world) fn formatted(&mut self, written: Formatting, text: Option<String>) {
        match written.then {
            Then::Call(call) => self.call_formatted(&written.session, call, text),
            Then::Late(plan) => self.tell_written(&written.session, &plan),
        }
    }
}

impl FormatterAsk {
    /// Does the running turn of this session wait for it?
    pub(in crate::world) fn is_of_turn(&self, session: &str) -> bool {
        matches!(self, Self::Written(written) if written.is_of_turn(session))
    }
}

impl Formatting {
    /// Does the running turn of this session wait for it?
    pub(crate) fn is_of_turn(&self, session: &str) -> bool {
        matches!(self.then, Then::Call(_)) && self.session == session
    }
}

impl Formatter {
    /// The shell line that formats a file, if the formatter is there and cares for such files.
    fn line_for(&self, path: &str) -> Option<String> {
        let end = Path::new(path).extension().map(|end| format!(".{}", end.to_string_lossy()))?;
        let words = self.command.as_ref().filter(|_| self.extensions.contains(&end))?;
        let variables = self.environment.iter().map(|(name, word)| format!("{name}={word}"));
        let words = words.iter().map(|word| word.replacen("$FILE", path, 1));
        let all: Vec<String> = variables.chain(words).map(|word| quoted(&word)).collect();
        Some(format!("exec env {} </dev/null >/dev/null 2>&1", all.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatter_is_told_the_file_once_in_each_word() {
        let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let one = Formatter {
            name: "one".into(),
            extensions: words(&[".txt", ".erb"]),
            command: Some(words(&["fmt", "$FILE:$FILE", "it's"])),
            environment: vec![("A".into(), "b c".into())],
        };
        let line = r"exec env 'A=b c' 'fmt' '/w/a.txt:$FILE' 'it'\''s' </dev/null >/dev/null 2>&1";
        assert_eq!(one.line_for("/w/a.txt").as_deref(), Some(line));
        assert!(one.line_for("/w/a.html.erb").is_some());
        for other in ["/w/.txt", "/w/txt", "/w/a.TXT", "/w/a.txt/b"] {
            assert_eq!(one.line_for(other), None, "{other}");
        }
        assert_eq!(Formatter { command: None, ..one }.line_for("/w/a.txt"), None);
    }
}
