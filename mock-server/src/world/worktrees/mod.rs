//! Other worktrees of a repository, in which agents work side by side: clients have them made, listed, taken back to
//! the branch that they left, and taken away. `compare` — what one has changed (Kilo); `copies` — what a project knows
//! of those that others have made.

mod compare;
mod copies;

use super::routes::body_of;
use super::surroundings::{PlaceAsk, PlaceFound, PlaceWish};
use super::{ApiRequest, Effect, Footing, Purpose, ReplyBody, ShellLine, ShellNews, Ticket, World};
use crate::workspace::Project;
use fixtures::ServerKind;
use serde_json::{Value, json};
use std::collections::VecDeque;

pub use compare::Compared;

/// How many names are tried.
const NAMES: usize = 26;
/// How long a line may run that is to prepare a worktree.
const PATIENCE_MS: u64 = 600_000;
const NO_GIT: &str = "Worktrees are only supported for git projects";

/// Something about the worktrees of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeWish {
    /// Make one, with a branch of its own and still without files.
    Add {
        /// The worktree that it is made from, absolute.
        root: String,
        /// The folder in which it is to lie, absolute: in the server's home.
        folder: String,
        /// What it may be called: the first that is free.
        names: Vec<String>,
    },
    /// Check its files out.
    Fill(String),
    /// Which there are.
    List {
        /// One of them, absolute.
        root: String,
        /// Folders that may be there.
        known: Vec<String>,
    },
    /// Take one back to the branch that others are compared with.
    Reset {
        /// The worktree from which that is asked.
        root: String,
        /// The one that is meant.
        folder: String,
    },
    /// Take one away, with its branch.
    Remove {
        /// The worktree from which that is asked.
        root: String,
        /// The one that is meant.
        folder: String,
    },
    /// What has changed in it.
    Compare {
        /// A folder in it, absolute.
        folder: String,
        /// The branch that it left; nobody's choice is the usual one.
        base: Option<String>,
        /// This file alone.
        file: Option<String>,
    },
}

impl WorktreeWish {
    /// The place that it is about.
    pub(crate) fn place(&self) -> &str {
        match self {
            Self::Add { root, .. }
            | Self::List { root, .. }
            | Self::Reset { root, .. }
            | Self::Remove { root, .. } => root,
            Self::Fill(folder) | Self::Compare { folder, .. } => folder,
        }
    }
}

/// What the machine says of worktrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeFound {
    /// It is there, by this name.
    Added(String),
    /// It can't be made: the error's name, and what git says.
    NotAdded(&'static str, String),
    /// It is done, or not.
    Done(Result<(), String>),
    /// The other worktrees, or why they can't be told; and those of the known folders that are there.
    Listed {
        /// All but the repository's home.
        others: Vec<String>,
        /// Known ones.
        standing: Vec<String>,
    },
    /// Each file that has changed, as git has them.
    Compared(Vec<Compared>),
}

/// What the machine's word is for.
#[derive(Debug)]
pub(super) enum Ask {
    Added(Box<Wanted>),
    Filled(Box<Begun>),
    Listed(Ticket),
    Reset(Ticket, String),
    Removed {
        ticket: Ticket,
        project: String,
        folder: String,
    },
    Compared(Ticket, compare::View),
    /// `copies`: an instance begins.
    Copies(String),
}

/// A worktree that somebody wants.
#[derive(Debug)]
pub(super) struct Wanted {
    ticket: Ticket,
    project: String,
    folder: String,
    line: String,
}

/// A worktree that is there, and what is still to be done in it.
#[derive(Debug)]
pub(super) struct Begun {
    directory: String,
    name: Option<String>,
    lines: VecDeque<String>,
}

impl World {
    /// Answers a request about worktrees. `None` when it is none of these.
    pub(super) fn about_worktrees(&mut self, request: &ApiRequest, operation: &str) -> Option<()> {
        match operation {
            "worktree.create" | "worktree.remove" | "worktree.reset" => {
                let directory = self.directory_of(request);
                let Some(project) = self.repository_of(&directory).cloned() else {
                    self.refuse_worktree(request.ticket, "WorktreeNotGitError", NO_GIT);
                    return Some(());
                };
                match operation {
                    "worktree.create" => self.create_worktree(request, project),
                    "worktree.remove" => self.remove_worktree(request, project),
                    _ => self.reset_worktree(request, project),
                }
            }
            "worktree.list" => self.list_worktrees(request),
            "worktree.diff" => self.compare(request, compare::View::Whole),
            "worktree.diffSummary" => self.compare(request, compare::View::Summary),
            "worktree.diffFile" => self.compare(request, compare::View::File),
            _ => return None,
        }
        Some(())
    }

    fn refuse_worktree(&mut self, ticket: Ticket, name: &str, message: &str) {
        let body = json!({"name": name, "data": {"message": message}});
        self.reply(ticket, 400, ReplyBody::Json(body));
    }

    fn ask_worktrees(&mut self, ask: Ask, wish: WorktreeWish) {
        self.ask_place(PlaceAsk::Worktree(ask), PlaceWish::Worktree(wish));
    }

    fn create_worktree(&mut self, request: &ApiRequest, project: Project) {
        let body = body_of(request);
        let word = |key: &str| body[key].as_str().unwrap_or_default();
        let (name, line) = (branch_word(word("name")), word("startCommand").to_owned());
        let mut names = Vec::with_capacity(NAMES);
        for at in 0..NAMES {
            names.push(match at {
                _ if name.is_empty() => self.ids.slug(),
                0 => name.clone(),
                _ => format!("{name}-{}", self.ids.slug()),
            });
        }
        let (home, server) = (&self.config.home, self.profile.server.word());
        let folder = format!("{home}/.local/share/{server}/worktree/{}", project.id);
        let wanted = Wanted { ticket: request.ticket, project: project.id, folder: folder.clone(), line };
        let wish = WorktreeWish::Add { root: project.worktree, folder, names };
        self.ask_worktrees(Ask::Added(Box::new(wanted)), wish);
    }

    fn list_worktrees(&mut self, request: &ApiRequest) {
        let directory = self.directory_of(request);
        let Some(project) = self.repository_of(&directory).cloned() else {
            return self.reply_json(request.ticket, json!([]));
        };
        let known = self.sandboxes_of(&project.id);
        let wish = WorktreeWish::List { root: project.worktree, known };
        self.ask_worktrees(Ask::Listed(request.ticket), wish);
    }

    fn reset_worktree(&mut self, request: &ApiRequest, project: Project) {
        let folder = self.folder_in(request);
        if folder == project.worktree {
            let message = "Cannot reset the primary workspace";
            return self.refuse_worktree(request.ticket, "WorktreeResetFailedError", message);
        }
        let wish = WorktreeWish::Reset { root: project.worktree, folder: folder.clone() };
        self.ask_worktrees(Ask::Reset(request.ticket, folder), wish);
    }

    fn remove_worktree(&mut self, request: &ApiRequest, project: Project) {
        let folder = self.folder_in(request);
        self.dispose(&folder);
        let wish = WorktreeWish::Remove { root: project.worktree, folder: folder.clone() };
        self.ask_worktrees(Ask::Removed { ticket: request.ticket, project: project.id, folder }, wish);
    }

    /// The folder that a request's body names.
    fn folder_in(&self, request: &ApiRequest) -> String {
        let body = body_of(request);
        super::resolved(&self.config.directory, body["directory"].as_str().unwrap_or_default())
    }

    /// The machine has answered.
    pub(super) fn worktrees_told(&mut self, ask: Ask, found: WorktreeFound) {
        match (ask, found) {
            (Ask::Added(wanted), WorktreeFound::Added(name)) => self.worktree_added(*wanted, name),
            (Ask::Added(wanted), WorktreeFound::NotAdded(name, message)) => {
                self.refuse_worktree(wanted.ticket, name, &message);
            }
            (Ask::Filled(begun), WorktreeFound::Done(Ok(()))) => {
                let wish = Effect::Ground { folder: begun.directory.clone() };
                self.effect(Purpose::Worktree(begun), wish);
            }
            (Ask::Filled(begun), WorktreeFound::Done(Err(message))) => {
                self.emit(&begun.directory, "worktree.failed", json!({"message": message}));
            }
            (Ask::Listed(ticket), WorktreeFound::Listed { others, standing }) => {
                self.tell_worktrees(ticket, &others, standing);
            }
            (Ask::Reset(ticket, folder), WorktreeFound::Done(Ok(()))) => {
                self.reply_json(ticket, json!(true));
                let project = self.project_of(&folder);
                let lines = VecDeque::from([self.start_line_of(&project)]);
                self.prepare_worktree(Begun { directory: folder, name: None, lines });
            }
            (Ask::Reset(ticket, _), WorktreeFound::Done(Err(message))) => {
                self.refuse_worktree(ticket, "WorktreeResetFailedError", &message);
            }
            (Ask::Removed { ticket, project, folder }, WorktreeFound::Done(Ok(()))) => {
                self.forget_sandbox(&project, &folder);
                self.reply_json(ticket, json!(true));
            }
            (Ask::Removed { ticket, .. }, WorktreeFound::Done(Err(message))) => {
                self.refuse_worktree(ticket, "WorktreeRemoveFailedError", &message);
            }
            (Ask::Compared(ticket, view), WorktreeFound::Compared(files)) => {
                self.tell_comparison(ticket, view, &files);
            }
            (Ask::Copies(directory), WorktreeFound::Listed { others, standing }) => {
                self.copies_found(&directory, &others, &standing);
            }
            (ask, found) => debug_assert!(false, "{ask:?} can't take {found:?}"),
        }
    }

    fn worktree_added(&mut self, wanted: Wanted, name: String) {
        let directory = format!("{}/{name}", wanted.folder);
        self.add_sandbox(&wanted.project, &directory);
        let body = json!({"name": name, "branch": format!("opencode/{name}"), "directory": directory});
        self.reply_json(wanted.ticket, body);
        let lines = VecDeque::from([self.start_line_of(&wanted.project), wanted.line]);
        let begun = Begun { directory: directory.clone(), name: Some(name), lines };
        self.ask_worktrees(Ask::Filled(Box::new(begun)), WorktreeWish::Fill(directory));
    }

    /// Its files are there: an instance begins in it.
    pub(super) fn worktree_filled(&mut self, begun: Begun, footing: Footing, project: Option<Project>) {
        let directory = begun.directory.clone();
        self.note_folder(&directory, footing, project);
        self.enter(&directory, false);
        self.tell_ready("worktree.ready", &begun);
        self.boot(&directory, crate::profile::BootTiming::AtConnect);
        self.prepare_worktree(begun);
    }

    fn tell_ready(&mut self, kind: &str, begun: &Begun) {
        if let Some(name) = &begun.name {
            let told = json!({"name": name, "branch": format!("opencode/{name}")});
            self.emit(&begun.directory, kind, told);
        }
    }

    /// Runs what its project, and who wanted it, have it begin with.
    fn prepare_worktree(&mut self, mut begun: Begun) {
        let runs = self.config.runs_shell;
        let next =
            std::iter::from_fn(|| begun.lines.pop_front()).find(|line| runs && !line.trim().is_empty());
        let Some(line) = next else {
            if self.profile.server == ServerKind::Kilo {
                self.tell_ready("worktree.setup.ready", &begun);
            }
            return;
        };
        let line = ShellLine {
            line: line.trim().to_owned(),
            directory: begun.directory.clone(),
            home: self.config.home.clone(),
            server: self.profile.server,
            timeout_ms: PATIENCE_MS,
            shells: Vec::new(),
            shell_name: None,
            screen: None,
        };
        self.effect(Purpose::WorktreeLine(Box::new(begun)), Effect::Run(line));
    }

    /// A line prints something, which nobody reads, or has ended; then it goes on.
    pub(super) fn worktree_line_says(&mut self, begun: Box<Begun>, news: &ShellNews) -> Option<Box<Begun>> {
        if matches!(news, ShellNews::Printed(_)) {
            return Some(begun);
        }
        self.prepare_worktree(*begun);
        None
    }

    fn tell_worktrees(&mut self, ticket: Ticket, others: &[String], standing: Vec<String>) {
        let list: Vec<Value> = if self.profile.server == ServerKind::Kilo {
            let is_ours = |folder: &String| standing.contains(folder);
            let wire = |folder: &String| json!({"directory": folder, "managed": is_ours(folder)});
            others.iter().map(wire).collect()
        } else {
            standing.into_iter().map(Value::String).collect()
        };
        self.reply_json(ticket, Value::Array(list));
    }
}

impl From<WorktreeFound> for PlaceFound {
    fn from(found: WorktreeFound) -> Self {
        Self::Worktree(found)
    }
}

/// A name as a branch and a folder can have it.
fn branch_word(name: &str) -> String {
    let mut word = String::with_capacity(name.len());
    for letter in name.trim().to_lowercase().chars() {
        match letter {
            'a'..='z' | '0'..='9' => word.push(letter),
            _ if !word.is_empty() && !word.ends_with('-') => word.push('-'),
            _ => {}
        }
    }
    word.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::branch_word;

    #[test]
    fn a_name_becomes_what_a_branch_can_be_called() {
        for (name, word) in [
            ("My Feature! x", "my-feature-x"),
            (" --a__b-- ", "a-b"),
            ("!!!", ""),
            ("Ünï", "n"),
            ("a/../b", "a-b"),
        ] {
            assert_eq!(branch_word(name), word, "{name}");
        }
    }
}
