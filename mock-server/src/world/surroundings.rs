//! What the world asks of the machine around its sessions, and what it is told: the vocabulary of reads over REST and
//! of what a server keeps in its home.

pub use super::market::{MarketFound, MarketWish};
use super::tools::{FormatterAsk, Formatting};
pub use super::tui_settings::{TuiFound, TuiWish};
use super::{
    EffectResult, FileChange, Formatter, Found, Purpose, ShellWish, Ticket, WorktreeFound, WorktreeWish,
    World,
};
use super::{
    agent_file, alongside, commit_words, config, files, find_lines, market, planning, rule_files, sources,
    tui_settings, vcs, worktrees,
};
use serde_json::Value;

/// Something about the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceWish {
    /// What stands at a path, seen from a folder that must not be left.
    Browse {
        /// The folder, absolute.
        folder: String,
        /// The path, absolute.
        path: String,
        /// The folder of the project, whose patterns say what is ignored.
        project: String,
    },
    /// The paths of all files and folders below a folder that are not ignored.
    Names {
        /// The folder, absolute.
        folder: String,
        /// The folder of the project, whose patterns say what is ignored.
        project: String,
    },
    /// The files below this folder, absolute, that are not ignored, with what stands in them.
    Contents(String),
    /// What has changed in a project since the commit with which it began, or since the checked out commit and a branch
    /// went apart.
    Since {
        /// A folder of the project, absolute.
        folder: String,
        /// That branch.
        branch: Option<String>,
    },
    /// The branches of the repository that a folder belongs to.
    Branches {
        /// The folder, absolute.
        folder: String,
    },
    /// The shells that the machine offers.
    Shells,
    /// Is there such a program?
    Program {
        /// Its name or path; nobody's wish is the shell that people get.
        name: Option<String>,
        /// The shells that are wished for.
        shells: Vec<ShellWish>,
        /// The folder from which a path is seen, absolute.
        folder: String,
    },
    /// Which of these files and folders of the workspace are there.
    Existing(Vec<String>),
    /// Keep a text in the server's home, for its owner alone.
    Keep {
        /// Relative to the home.
        path: String,
        /// The text.
        content: String,
    },
    /// Write a text file into the workspace.
    Write {
        /// Absolute.
        path: String,
        /// The text.
        content: String,
    },
    /// Take an agent's files away, and its entries in files of settings.
    ForgetAgent {
        /// What it is called.
        name: String,
        /// The folders of settings in which its file may lie, absolute.
        folders: Vec<String>,
        /// The files of settings that may have it, absolute.
        settings: Vec<String>,
    },
    /// Make a folder in the workspace, by its absolute path.
    MakeFolder(String),
    /// Ask git about a folder.
    Git {
        /// The folder, absolute.
        folder: String,
        /// The words of each question.
        asks: Vec<Vec<String>>,
    },
    /// The formatters of a folder.
    Formatters {
        /// The folder, absolute.
        folder: String,
        /// The folder of its project.
        project: String,
        /// What the settings say of formatters.
        settings: Value,
    },
    /// What formatters have made of a file.
    Formatted {
        /// Its absolute path.
        path: String,
        /// It is to begin with a byte order mark.
        has_mark: bool,
    },
    /// Something about worktrees.
    Worktree(WorktreeWish),
    /// Something about what is installed from the marketplace.
    Market(MarketWish),
    /// Does something listen at this port of the machine's own?
    Port(u64),
}

impl PlaceWish {
    /// The place that it is about.
    pub(crate) fn place(&self) -> Option<&str> {
        match self {
            Self::Browse { folder, .. }
            | Self::Names { folder, .. }
            | Self::Contents(folder)
            | Self::Since { folder, .. }
            | Self::Branches { folder }
            | Self::Git { folder, .. }
            | Self::Formatters { folder, .. }
            | Self::Program { folder, .. } => Some(folder),
            Self::Write { path, .. } | Self::Formatted { path, .. } | Self::MakeFolder(path) => Some(path),
            Self::Existing(paths) => paths.first().map(String::as_str),
            Self::Worktree(wish) => Some(wish.place()),
            Self::Market(wish) => Some(wish.place()),
            Self::ForgetAgent { folders, .. } => folders.first().map(String::as_str),
            Self::Shells | Self::Keep { .. } | Self::Port(_) => None,
        }
    }
}

/// What the machine says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceFound {
    /// What stands there.
    Browsed(Browsed),
    /// The paths, relative to the folder and in the order of the servers' index; those of folders end in a slash.
    Names(Option<Vec<String>>),
    /// The files, or why there are none.
    Contents(Result<Found, String>),
    /// The changes, sorted by path.
    Changes(Vec<FileChange>),
    /// The branch that is checked out, and the one that others are compared with.
    Branches {
        /// None where no branch is.
        current: Option<String>,
        /// None where nothing says which.
        default: Option<String>,
    },
    /// The shells' paths, in order.
    Shells(Vec<String>),
    /// What the program is called; none where there is none.
    Program(Option<String>),
    /// Those that are there.
    Existing(Vec<String>),
    /// The files that an agent was taken out of, or that are gone with it.
    Forgotten(Vec<String>),
    /// It is kept, or not.
    Kept(Result<(), String>),
    /// What git says to each question, without the space behind it; nothing where there is no such folder, or no git.
    Git(Option<Vec<String>>),
    /// The formatters, in the order in which they are told.
    Formatters(Vec<Formatter>),
    /// The file without its mark; nothing when it is gone.
    Formatted(Option<String>),
    /// What it says of worktrees.
    Worktree(WorktreeFound),
    /// What it says of the marketplace.
    Market(MarketFound),
    /// What the files of the server's own screen say.
    Tui(TuiFound),
    /// Whether something listens there.
    Port(bool),
}

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Browsed {
    /// Nothing, not even a link that leads nowhere.
    Nothing,
    /// Something, but not inside of the folder.
    Outside,
    /// A folder: the files and folders in it that are no links, and the project's patterns.
    Folder {
        /// Each name, and whether it is a folder's.
        entries: Vec<(String, bool)>,
        /// The text of the project's `.gitignore` and `.ignore`.
        patterns: String,
    },
    /// A file: its bytes.
    File(Vec<u8>),
    /// Neither file nor folder.
    Other,
}

/// What the machine's word is for.
#[derive(Debug)]
pub(super) enum PlaceAsk {
    /// `files`: somebody looks at a file or a folder.
    Look(files::Look),
    /// `files`: somebody looks for a name.
    Find(files::Find),
    /// `find_lines`: somebody looks for lines.
    FindLines(find_lines::FindLines),
    /// `vcs`: somebody asks what has changed.
    Changes(vcs::Question),
    /// `vcs`: somebody asks for the branch of a folder.
    Branches(super::Ticket),
    /// `config`: a setting is kept, and the request answered.
    Setting(config::Change),
    /// The same, before it is known what the file says.
    SettingRead(config::Change),
    /// `apart`: somebody asks for the shells.
    Shells(super::Ticket),
    /// `terminals`: somebody wants one.
    Terminal(Box<alongside::TerminalWish>),
    /// `alongside`: a program is to begin, if the port is free that will say that it is ready.
    FreePort(Box<alongside::Launch>),
    /// The same: is the program of that name ready?
    ReadyPort(String),
    /// `sources`: somebody asks where settings come from.
    Sources(sources::Sources),
    /// The same: somebody wants something of settings.
    OverlayRead(Box<sources::OverlayRead>),
    /// The same: a client has changed the settings of a project.
    OverlayWritten(sources::OverlayWritten),
    /// `rule_files`: somebody looks at the rules of a project.
    Rules(rule_files::RuleFiles),
    /// Which of the files that may be a plan are there.
    Plan(planning::PlanSought),
    /// The same, when they are written.
    RulesWritten(rule_files::RuleFiles),
    /// `agent_file`: an agent is kept, and the request answered.
    AgentFile(agent_file::AgentFile),
    /// The same: an agent is taken away.
    AgentGone(Ticket, String),
    /// `vcs`: which branch is checked out in the folder of an instance.
    Branch(String),
    /// `vcs`: somebody asks what a branch has changed.
    OnBranch(vcs::Question, String),
    /// `commit_words`: somebody wants the message of a commit.
    Commit(commit_words::CommitWish),
    /// The same, when it is known which files have changed.
    CommitDiffs(Box<commit_words::Committed>),
    /// `vcs`: which files git knows.
    Tracked(vcs::Question, Vec<super::FileChange>),
    /// `tools`: which formatters there are.
    Formatters(Box<FormatterAsk>),
    /// The same: the formatters have done with a file.
    Formatted(Box<Formatting>),
    /// `worktrees`: somebody asks about them.
    Worktree(worktrees::Ask),
    /// `market`: somebody installs something, takes it away, or asks what there is.
    Market(Box<market::MarketAsk>),
    /// `tui_settings`: somebody reads or changes those of the server's own screen.
    Tui(tui_settings::TuiAsk),
    /// Nobody waits for it.
    Nobody,
}

impl PlaceAsk {
    /// Does the running turn of this session wait for it?
    pub(super) fn is_of_turn(&self, session: &str) -> bool {
        match self {
            Self::Formatters(ask) => ask.is_of_turn(session),
            Self::Formatted(written) => written.is_of_turn(session),
            _ => false,
        }
    }
}

impl World {
    /// Asks the machine.
    pub(super) fn ask_place(&mut self, ask: PlaceAsk, wish: PlaceWish) {
        self.effect(Purpose::Place(Box::new(ask)), super::Effect::Place(wish));
    }

    /// The machine has answered.
    pub(super) fn place_told(&mut self, ask: PlaceAsk, found: PlaceFound) {
        match (ask, found) {
            (PlaceAsk::Look(look), PlaceFound::Browsed(browsed)) => self.looked(look, browsed),
            (PlaceAsk::Find(find), PlaceFound::Names(names)) => self.found(&find, names),
            (PlaceAsk::FindLines(find), PlaceFound::Contents(found)) => {
                self.lines_found(&find, &found.unwrap_or(Found::Nothing { beside: None }));
            }
            (PlaceAsk::Changes(question), PlaceFound::Changes(changes)) => self.changed(question, changes),
            (PlaceAsk::Branches(ticket), PlaceFound::Branches { current, default }) => {
                self.tell_branches(ticket, current, default);
            }
            (PlaceAsk::SettingRead(change), PlaceFound::Browsed(browsed)) => {
                self.setting_read(change, &browsed)
            }
            (PlaceAsk::Setting(change), PlaceFound::Kept(_)) => self.setting_kept(change),
            (PlaceAsk::Shells(ticket), PlaceFound::Shells(paths)) => self.list_shells(ticket, &paths),
            (PlaceAsk::Terminal(wish), PlaceFound::Program(program)) => self.open_terminal(&wish, program),
            (PlaceAsk::FreePort(launch), PlaceFound::Port(is_taken)) => self.launched(*launch, is_taken),
            (PlaceAsk::ReadyPort(id), PlaceFound::Port(is_taken)) => self.port_seen(&id, is_taken),
            (PlaceAsk::Sources(asked), PlaceFound::Existing(paths)) => self.tell_sources(asked, &paths),
            (PlaceAsk::OverlayRead(read), PlaceFound::Browsed(browsed)) => self.overlay_read(*read, &browsed),
            (PlaceAsk::OverlayWritten(written), PlaceFound::Kept(_)) => self.overlay_written(written),
            (PlaceAsk::Plan(sought), PlaceFound::Existing(paths)) => self.plan_found(sought, &paths),
            (PlaceAsk::Rules(files), PlaceFound::Browsed(browsed)) => self.rules_seen(files, &browsed),
            (PlaceAsk::RulesWritten(files), PlaceFound::Kept(_)) => self.look_at_rules(files),
            (PlaceAsk::AgentFile(file), PlaceFound::Kept(_)) => self.agent_file_kept(file),
            (PlaceAsk::AgentGone(ticket, directory), PlaceFound::Forgotten(gone)) => {
                self.agent_gone(ticket, &directory, &gone);
            }
            (PlaceAsk::Branch(directory), PlaceFound::Branches { current, .. }) => {
                self.on_branch(&directory, current);
            }
            (PlaceAsk::OnBranch(question, folder), PlaceFound::Branches { current, default }) => {
                self.branch_known((question, folder), current, default);
            }
            (PlaceAsk::Commit(wish), PlaceFound::Git(said)) => self.changes_to_commit(wish, said),
            (PlaceAsk::CommitDiffs(of), PlaceFound::Git(said)) => self.diffs_to_commit(&of, said),
            (PlaceAsk::Tracked(question, changes), PlaceFound::Git(said)) => {
                self.tracked(&question, changes, said);
            }
            (PlaceAsk::Formatters(ask), PlaceFound::Formatters(all)) => self.formatters_told(*ask, &all),
            (PlaceAsk::Formatted(written), PlaceFound::Formatted(text)) => self.formatted(*written, text),
            (PlaceAsk::Worktree(ask), PlaceFound::Worktree(found)) => self.worktrees_told(ask, found),
            (PlaceAsk::Market(ask), PlaceFound::Market(found)) => self.market_told(*ask, found),
            (PlaceAsk::Tui(ask), PlaceFound::Tui(found)) => self.tui_settings_told(&ask, found),
            (PlaceAsk::Nobody, _) => {}
            (ask, found) => debug_assert!(false, "{ask:?} can't take {found:?}"),
        }
    }
}

impl From<PlaceFound> for EffectResult {
    fn from(found: PlaceFound) -> Self {
        Self::Place(found)
    }
}
