//! To which project a folder belongs, and on which branch it is: what its repository says.

use crate::javascript::trimmed_end;
use sha1::{Digest as _, Sha1};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// The project of what belongs to no repository, or to one without a commit.
pub(crate) const GLOBAL: &str = "global";

/// A folder's project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its id.
    pub id: String,
    /// The folder of its repository; `/` without one.
    pub worktree: String,
    /// Where the repository is at home of which that folder is another worktree; else the same.
    pub home: String,
    /// Is there a repository?
    pub is_repository: bool,
}

/// The branch that is checked out, and the one that others are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Branches {
    pub(crate) current: Option<String>,
    pub(crate) default: Option<String>,
}

impl Project {
    /// The project of a folder. `mark` is the file in which the server keeps the id, where it has been before.
    pub(crate) fn of(folder: &Path, mark: &str) -> Self {
        let Some(Repository { worktree, common, .. }) = Repository::of(folder) else {
            return Self::of_none();
        };
        let kept = || {
            fs::read_to_string(common.join(mark))
                .ok()
                .map(|id| id.trim().to_owned())
                .filter(|id| !id.is_empty())
        };
        let id = Seeking::begin(&worktree, kept()).id();
        let worktree = worktree.to_string_lossy().into_owned();
        let home = common.file_name().is_some_and(|name| name == ".git").then(|| common.parent()).flatten();
        Self {
            id: id.unwrap_or_else(|| GLOBAL.to_owned()),
            home: home.map_or_else(|| worktree.clone(), |home| home.to_string_lossy().into_owned()),
            worktree,
            is_repository: true,
        }
    }

    pub(crate) fn of_none() -> Self {
        Self { id: GLOBAL.to_owned(), worktree: "/".to_owned(), home: "/".to_owned(), is_repository: false }
    }

    /// The repository of a folder with this first commit.
    pub(crate) fn begun(id: String, worktree: &str) -> Self {
        Self { id, worktree: worktree.to_owned(), home: worktree.to_owned(), is_repository: true }
    }
}

impl Branches {
    /// Those of the repository that a folder belongs to. One that is not there has none, whatever is above it.
    pub(crate) fn of(folder: &Path) -> Self {
        let Some(Repository { git, common, .. }) = Repository::of(folder).filter(|_| folder.is_dir()) else {
            return Self::default();
        };
        let target = |file: PathBuf, prefix: &str| {
            let head = fs::read_to_string(file).ok()?;
            head.trim().strip_prefix("ref: ")?.strip_prefix(prefix).map(str::to_owned)
        };
        let packed = fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
        let is_branch = |name: &&str| {
            common.join("refs/heads").join(name).is_file()
                || packed.lines().any(|line| line.ends_with(&format!(" refs/heads/{name}")))
        };
        let usual = || ["main", "master"].iter().find(|name| is_branch(name)).map(|&name| name.to_owned());
        let remote = target(common.join("refs/remotes/origin/HEAD"), "refs/remotes/origin/");
        Self { current: target(git.join("HEAD"), "refs/heads/"), default: remote.or_else(usual) }
    }
}

/// A repository, as one of its worktrees has it.
pub(super) struct Repository {
    worktree: PathBuf,
    /// Where git keeps what is the worktree's own.
    pub(super) git: PathBuf,
    /// Where it keeps the rest.
    pub(super) common: PathBuf,
}

impl Repository {
    /// That to which a folder belongs.
    fn of(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// The one with this worktree.
    pub(super) fn at(worktree: &Path) -> Option<Self> {
        let mut git = worktree.join(".git");
        if !fs::metadata(&git).ok()?.is_dir() {
            let elsewhere = fs::read_to_string(&git).ok()?;
            git = worktree.join(elsewhere.trim().strip_prefix("gitdir: ")?);
        }
        let common = fs::read_to_string(git.join("commondir")).ok().map(|path| git.join(path.trim()));
        let common = common.and_then(|common| common.canonicalize().ok()).unwrap_or_else(|| git.clone());
        Some(Self { worktree: worktree.to_path_buf(), git, common })
    }
}

/// The worktrees of a folder's repository, but for the one where it is at home; sorted, as git lists them.
pub(crate) fn other_worktrees(folder: &Path) -> Vec<String> {
    let Some(Repository { common, .. }) = Repository::of(folder) else { return Vec::new() };
    let mut found: Vec<String> = fs::read_dir(common.join("worktrees"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let git = fs::read_to_string(entry.path().join("gitdir")).ok()?;
            let git = entry.path().join(git.trim());
            Some(git.parent()?.to_string_lossy().into_owned())
        })
        .collect();
    found.sort();
    found
}

/// A project's id that git is asked for: at once for all that may say it, since a server that begins waits for it.
struct Seeking {
    origin: Option<Child>,
    kept: Option<String>,
    first_commits: Option<Child>,
}

impl Seeking {
    fn begin(worktree: &Path, kept: Option<String>) -> Self {
        let origin = begin_git(worktree, &["config", "--get", "remote.origin.url"]);
        let walk = || begin_git(worktree, &["rev-list", "--max-parents=0", "HEAD"]);
        let first_commits = if kept.is_none() { walk() } else { None };
        Self { origin, kept, first_commits }
    }

    /// A repository that comes from somewhere is the same project wherever it was cloned to. Otherwise it has kept its
    /// id, or is named after the first of the commits that have none before them.
    fn id(self) -> Option<String> {
        let remote = self.origin.and_then(said_by).and_then(|url| remote_id(url.trim()));
        if let Some(known) = remote.or(self.kept) {
            // A long history is not read to its end in vain.
            if let Some(mut walk) = self.first_commits {
                let _ = walk.kill().and_then(|()| walk.wait());
            }
            return Some(known);
        }
        let commits = self.first_commits.and_then(said_by)?;
        commits.lines().map(str::trim).filter(|line| !line.is_empty()).min().map(str::to_owned)
    }
}

fn remote_id(url: &str) -> Option<String> {
    Some(hex(&Sha1::digest(format!("git-remote:{}", place_of(url)?))))
}

/// `host/path` of a remote, however it is written.
fn place_of(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            (host.split_once(':').map_or(host, |(host, _)| host), path)
        }
        None => {
            let (host, path) = url.split_once(':')?;
            (host.rsplit_once('@').map_or(host, |(_, host)| host), path)
        }
    };
    let path = path.trim_start_matches('/').trim_end_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    let is_place = !host.is_empty() && !host.contains('/') && !path.is_empty();
    is_place.then(|| format!("{}/{path}", host.to_lowercase()))
}

/// Begins to ask git; nothing where there is none.
fn begin_git(worktree: &Path, arguments: &[&str]) -> Option<Child> {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(worktree).stdin(Stdio::null()).stdout(Stdio::piped());
    git.stderr(Stdio::null()).spawn().ok()
}

/// What git says at last, if it is content.
fn said_by(git: Child) -> Option<String> {
    let said = git.wait_with_output().ok().filter(|said| said.status.success())?;
    String::from_utf8(said.stdout).ok()
}

/// What git says, whether it is content or not, without the space behind it; nothing where there is no git.
pub(crate) fn git_says(folder: &Path, arguments: &[String]) -> Option<String> {
    let said = run_git(folder, arguments).ok()?;
    Some(trimmed_end(&String::from_utf8_lossy(&said.stdout)).to_owned())
}

/// Runs git in a folder, and waits for it.
pub(crate) fn run_git(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> std::io::Result<Output> {
    Command::new("git").args(arguments).current_dir(folder).stdin(Stdio::null()).output()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_is_one_place_however_it_is_written() {
        for url in [
            "https://example.org/a/b.git",
            "https://somebody:secret@Example.org:8443/a/b",
            "ssh://git@example.org:22/a/b.git/",
            "git@example.org:a/b.git",
            "example.org:/a/b",
        ] {
            assert_eq!(place_of(url).as_deref(), Some("example.org/a/b"), "{url}");
        }
        for url in ["", "file:///a/b.git", "/a/b.git", "../b", "https://example.org", "https:///a"] {
            assert_eq!(place_of(url), None, "{url}");
        }
        // As OpenCode 1.18.33 names such a project.
        let id = hex(&Sha1::digest("git-remote:example.org/a/b"));
        assert_eq!(id, "9b1fc3a5853586e540d31f17695d369c1312af06");
    }

    #[test]
    fn a_folder_without_a_repository_belongs_to_all() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::of(folder.path(), "kilo");
        assert_eq!(
            (project.id.as_str(), project.worktree.as_str(), project.is_repository),
            (GLOBAL, "/", false)
        );
        assert_eq!(Branches::of(folder.path()), Branches::default());
    }

    #[test]
    fn a_folder_belongs_to_the_repository_above_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git/refs/heads")).unwrap();
        fs::create_dir(root.join("below")).unwrap();
        fs::write(root.join(".git/HEAD"), "ref: refs/heads/some/work\n").unwrap();
        fs::write(root.join(".git/packed-refs"), "# pack-refs\n0123 refs/heads/master\n").unwrap();
        let project = Project::of(&root.join("below"), "opencode");
        assert_eq!(
            (project.id.as_str(), Path::new(&project.worktree)),
            (GLOBAL, root.as_path()),
            "it has no commit"
        );
        let some = |name: &str| Some(name.to_owned());
        let branches = Branches::of(&root.join("below"));
        assert_eq!((branches.current, branches.default), (some("some/work"), some("master")));
        fs::write(root.join(".git/opencode"), "kept\n").unwrap();
        assert_eq!(Project::of(&root, "opencode").id, "kept");
    }

    #[test]
    fn a_repository_has_the_name_of_where_it_comes_from_or_a_kept_one_or_that_of_its_first_commit() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("a.txt"), "a\n").unwrap();
        let commit = crate::workspace::make_repository(&root).unwrap();
        // A machine without git has nobody who could say.
        if run_git(&root, &["--version"]).is_err() {
            return;
        }
        let id = || Project::of(&root, "opencode").id;
        assert_eq!(id(), commit);
        fs::write(root.join(".git/opencode"), "kept\n").unwrap();
        assert_eq!(id(), "kept");
        let config = root.join(".git/config");
        let add = |url: &str| {
            let said = fs::read_to_string(&config).unwrap();
            fs::write(&config, format!("{said}[remote \"origin\"]\n\turl = {url}\n")).unwrap();
        };
        add("/a/b.git");
        assert_eq!(id(), "kept", "a folder is no place that others know");
        add("https://example.org/a/b.git");
        assert_eq!(id(), hex(&Sha1::digest("git-remote:example.org/a/b")));
        fs::remove_file(root.join(".git/opencode")).unwrap();
        assert_eq!(id(), hex(&Sha1::digest("git-remote:example.org/a/b")));
    }
}
