//! What a world wants done outside it, and what comes back.

use super::io::EffectId;
use super::mcp::ToolServer;
use super::patch;
use super::surroundings::{PlaceFound, PlaceWish, TuiWish};
use crate::model::ChatRequest;
use crate::project_files::{NextFiles, ProjectFiles};
use crate::workspace::Project;
use fixtures::ServerKind;
use serde_json::{Map, Value};
use std::sync::Arc;

/// What goes on while the files are looked at. It decides which of the two is told first, so that a server that takes
/// its time takes as much of it as the real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// The model is asked for a title.
    Title,
    /// The next step begins.
    NextStep,
    /// It is being found out what the prompt has changed.
    Summary,
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Keep the state of the folder's files, and give it a name.
    Snapshot {
        /// The folder; none when empty.
        directory: String,
        /// What goes on meanwhile.
        beside: Beside,
    },
    /// What changed between two snapshots.
    Changes {
        /// Name of the older one.
        from: String,
        /// Name of the newer one.
        to: String,
        /// What goes on meanwhile.
        beside: Beside,
    },
    /// Look at a place: what a file holds, which names a folder has.
    Read {
        /// An absolute path.
        path: String,
    },
    /// Look at a place that is to be read, and at the instructions that lie around it.
    Study {
        /// An absolute path.
        path: String,
    },
    /// Look at all files below a place that git would keep.
    Search {
        /// An absolute path.
        path: String,
        /// Only these.
        chosen: Option<Chosen>,
    },
    /// Write a text file, with the folders above it, or take it away.
    Write {
        /// An absolute path.
        path: String,
        /// The content; without any the file goes.
        content: Option<String>,
    },
    /// Say which of these absolute paths are folders; nothing else of them is looked at.
    Look {
        /// The paths.
        paths: Vec<String>,
    },
    /// Look whether a folder is there that a client names, and to which project it belongs.
    Ground {
        /// The folder, absolute.
        folder: String,
    },
    /// Get a page.
    Fetch(PageWish),
    /// Run a shell line, and tell of it while it runs.
    Run(ShellLine),
    /// Start a server of tools, or find it, and tell what it says until it is dropped.
    Start(ToolServer),
    /// Make these files as they were in a snapshot; those that it does not have go.
    Restore {
        /// A folder of the project.
        directory: String,
        /// Each with the name of its snapshot; paths are relative to the project. `None` is every file of the snapshot.
        files: Vec<RestoredFile>,
    },
    /// Come back after all that is already on its way.
    Yield,
    /// Come back when this answer of the model is over; if the model is at an address, after a moment at the latest.
    Begin {
        /// The answer.
        within: EffectId,
    },
    /// Come back when it is this late.
    Wait {
        /// Milliseconds since 1970.
        until_ms: u64,
    },
    /// Ask the model.
    AskModel(ChatRequest),
    /// Something about the machine around the sessions.
    Place(PlaceWish),
    /// Read the settings of the server's own screen, or change them.
    Tui(TuiWish),
    /// What do the files of the workspace say now?
    ReadProject {
        /// The folder that they are about.
        directory: String,
        /// To which it belongs.
        project: Project,
        /// The settings that lie in none of them.
        settings: Map<String, Value>,
    },
    /// Read what the files of a folder and of those above it say to the next generation.
    ReadNext {
        /// The folder, absolute.
        directory: String,
        /// The server's own settings.
        settings: Map<String, Value>,
    },
}

/// How an effect ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectResult {
    /// The snapshot's name: the id of its git tree.
    Snapshot(String),
    /// The changed files, sorted by path.
    Changes(Vec<FileChange>),
    /// What stands at the place.
    Read(Result<Found, String>),
    /// What stands at the place, and around it.
    Studied(Box<Sight>),
    /// The file is written.
    Written(Result<(), String>),
    /// The paths, and whether each is a folder.
    Looked(Vec<(String, bool)>),
    /// Whether the folder is there; its project, if it is another one than that of the server's own folder.
    Ground(Footing, Option<Box<Project>>),
    /// The page, or why there is none.
    Fetched(Result<Page, String>),
    /// Everything before has been done.
    Yielded,
    /// It is that late.
    Waited,
    /// What the machine says.
    Place(PlaceFound),
    /// What the files of the workspace say.
    Project(Box<ProjectFiles>),
    /// What they say to the next generation; nothing where there is no such folder.
    NextFiles(Option<Arc<NextFiles>>),
}

/// A page that is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWish {
    /// Where it is.
    pub url: String,
    /// What kinds are liked.
    pub accept: &'static str,
    /// How long it may take, in all.
    pub timeout_ms: u64,
    /// Who asks; brought to this host alone.
    pub bearer: Option<String>,
    /// How many bytes are read.
    pub bytes_max: usize,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its content type.
    pub kind: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A line for the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLine {
    /// The line.
    pub line: String,
    /// Where it runs.
    pub directory: String,
    /// What it takes for its person's own folder.
    pub home: String,
    /// Who runs it, and says so in its environment.
    pub server: ServerKind,
    /// How long it may run.
    pub timeout_ms: u64,
    /// The shells that are wished for: the first, if it is there, or else the machine's.
    pub shells: Vec<ShellWish>,
    /// A person's line: what its shell is called.
    pub shell_name: Option<String>,
    /// It runs in a terminal.
    pub screen: Option<OnScreen>,
}

/// A shell that somebody wishes for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellWish {
    /// The settings do: a path, or a name.
    Settings(String),
    /// The environment of the server does: a path.
    Environment(String),
}

/// A program in a terminal, which people look at and type to; its line says the same to a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnScreen {
    /// The terminal's name.
    pub id: String,
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What its environment has besides.
    pub environment: Vec<(String, String)>,
    /// How high the screen is at first.
    pub rows: u16,
    /// How wide.
    pub columns: u16,
}

/// What a running line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellNews {
    /// It has printed this, to either of its outputs.
    Printed(String),
    /// It is over, and so is all that it started.
    Ended(ShellEnd),
    /// It could not begin.
    Failed(String),
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellEnd {
    /// By itself, with its code; without one it was killed by others.
    Exited(Option<i32>),
    /// It ran for too long.
    TimedOut,
    /// The person ended the turn.
    Stopped,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No file and no folder.
    Nothing {
        /// The names beside it, as a folder's; `None` when not even the folder is there.
        beside: Option<Vec<String>>,
    },
    /// A folder: the names in it, sorted; those of folders end in a slash.
    Folder(Vec<String>),
    /// A file: its bytes.
    File(Vec<u8>),
    /// All files below a folder, which are not the repository's own: paths relative to it, sorted, and bytes.
    Tree(Vec<(String, Vec<u8>)>),
}

/// Which files are meant: what is chosen by its name is meant though git would not keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// A pattern for paths relative to the place.
    pub pattern: String,
    /// Folders whose names begin with a dot are looked into.
    pub in_hidden: bool,
}

/// What there is to read at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight {
    /// The place without links; where nothing stands, its folder.
    pub path: String,
    /// What stands there.
    pub found: Found,
    /// Instructions from the place's folder up to the workspace, which is left out: where they lie, and what they are.
    pub guides: Vec<(String, String)>,
    /// Why none of that is to be shown.
    pub closed: Option<String>,
}

/// What is to be as it was in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoredFile {
    /// The snapshot's name.
    pub tree: String,
    /// The file, relative to the folder; every file of the snapshot when absent.
    pub path: Option<String>,
}

/// A file that two snapshots differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Relative to the folder.
    pub path: String,
    /// The old content; `None` when the file is new.
    pub before: Option<String>,
    /// The new content; `None` when the file is gone.
    pub after: Option<String>,
    /// Its modes before and after, in git's words.
    pub modes: (&'static str, &'static str),
    /// How git abbreviates its old and its new content: the texts may have lost what is no text.
    pub blobs: (String, String),
}

/// The mode of a usual file.
const PLAIN: &str = "100644";
/// So much of a file git looks at to know whether it is text.
const LOOKED_AT: usize = 8_000;

/// How git abbreviates the content of what is not there.
pub(crate) const NO_BLOB: &str = "0000000";

impl FileChange {
    /// A usual file whose contents are these texts.
    #[must_use]
    pub fn of_texts(path: &str, before: Option<&str>, after: Option<&str>) -> Self {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let blob = |text: Option<&str>| {
            text.map_or_else(|| NO_BLOB.to_owned(), |text| patch::git_blob(text.as_bytes())[..7].to_owned())
        };
        Self {
            path: path.to_owned(),
            before: text(before),
            after: text(after),
            modes: (PLAIN, PLAIN),
            blobs: (blob(before), blob(after)),
        }
    }

    /// Is this no text, as git sees it? What holds a zero is none.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        let contents = [&self.before, &self.after].into_iter().flatten();
        contents.into_iter().any(|content| content.bytes().take(LOOKED_AT).any(|byte| byte == 0))
    }
}

/// What stands where a folder is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Footing {
    /// A folder.
    There,
    /// Nothing.
    Nowhere,
    /// A file, or its path leads through one.
    OnFile,
}
