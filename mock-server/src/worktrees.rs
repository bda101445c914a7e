//! Worktrees on the machine, for the world: what git does with them. A worktree is made in the server's home alone, and
//! changed or taken away only where agents may go.

use crate::workspace::{Branches, Workspace, other_worktrees, run_git};
use crate::world::{Compared, WorktreeFound, WorktreeWish};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::UNIX_EPOCH;

/// Branches that others are compared with, in order.
const USUAL: &[&str] = &["main", "master", "dev", "develop"];
/// What git says of paths is not escaped.
const PLAIN_PATHS: &[&str] = &["-c", "core.quotepath=false"];

impl Workspace {
    /// Does what the world wishes of worktrees. Without a `home` none is made.
    pub(crate) fn worktrees(&self, wish: WorktreeWish, home: Option<&Path>) -> WorktreeFound {
        match wish {
            WorktreeWish::Add { root, folder, names } => {
                match home.filter(|home| Path::new(&folder).starts_with(home)) {
                    Some(_) => add(Path::new(&root), Path::new(&folder), &names),
                    None => {
                        WorktreeFound::NotAdded("WorktreeCreateFailedError", "There is no home".to_owned())
                    }
                }
            }
            WorktreeWish::Fill(folder) => {
                WorktreeFound::Done(git(Path::new(&folder), &["reset", "--hard"]).map(|_| ()))
            }
            WorktreeWish::List { root, known } => WorktreeFound::Listed {
                others: other_worktrees(Path::new(&root)),
                standing: known.into_iter().filter(|folder| Path::new(folder).is_dir()).collect(),
            },
            WorktreeWish::Reset { root, folder } => {
                WorktreeFound::Done(self.reset_worktree(Path::new(&root), &folder))
            }
            WorktreeWish::Remove { root, folder } => {
                WorktreeFound::Done(self.remove_worktree(Path::new(&root), &folder, home))
            }
            WorktreeWish::Compare { folder, base, file } => {
                let folder = Path::new(&folder);
                let is_here = folder.canonicalize().is_ok_and(|real| real.starts_with(self.root()));
                let files = match file {
                    _ if !is_here => None,
                    Some(file) => self.compare_one(folder, base, &file),
                    None => self.compare(folder, base),
                };
                WorktreeFound::Compared(files.unwrap_or_default())
            }
        }
    }

    fn reset_worktree(&self, root: &Path, folder: &str) -> Result<(), String> {
        let real = real_path(folder);
        if !other_worktrees(root).contains(&real) {
            return Err("Worktree not found".to_owned());
        }
        self.may_change(&real)?;
        let branch = Branches::of(root).default.ok_or("Default branch not found")?;
        let worktree = Path::new(&real);
        git(worktree, &["reset", "--hard", &branch])?;
        git(worktree, &["clean", "-ffdx"])?;
        let left = text(&git(worktree, &["status", "--porcelain=v1"])?.stdout);
        if left.trim().is_empty() {
            return Ok(());
        }
        Err(format!("Worktree reset left local changes:\n{}", left.trim()))
    }

    /// As on the real servers, a folder that is no worktree is taken away, too.
    fn remove_worktree(&self, root: &Path, folder: &str, home: Option<&Path>) -> Result<(), String> {
        let real = real_path(folder);
        let listed = text(&git(root, &["worktree", "list", "--porcelain"])?.stdout);
        let Some(entry) = entry_of(&listed, &real) else {
            if !Path::new(&real).exists() {
                return Ok(());
            }
            self.may_clear(Path::new(&real), home)?;
            return fs::remove_dir_all(&real).map_err(|error| error.to_string());
        };
        if entry.is_first {
            return Err(format!("fatal: '{real}' is a main working tree\n"));
        }
        if Path::new(&real).exists() {
            self.may_change(&real)?;
        }
        git(root, &["worktree", "remove", "--force", &real])?;
        if Path::new(&real).exists() {
            fs::remove_dir_all(&real).map_err(|error| error.to_string())?;
        }
        match entry.branch {
            Some(branch) => git(root, &["branch", "-D", &branch]).map(|_| ()),
            None => Ok(()),
        }
    }

    /// What has changed since the branches went apart; nothing where there is no such branch.
    fn compare(&self, folder: &Path, base: Option<String>) -> Option<Vec<Compared>> {
        let apart = fork_point(folder, base)?;
        let known = known_changes(folder, &apart, &[]);
        let others = git(folder, &["ls-files", "--others", "--exclude-standard"]);
        let others = others.map(|said| text(&said.stdout)).unwrap_or_default();
        let is_new = |path: &&str| known.iter().all(|file| file.path != *path);
        let new = others.trim().lines().filter(is_new).filter_map(|path| self.new_file(folder, path));
        let new: Vec<Compared> = new.collect();
        Some(known.into_iter().map(|change| self.with_texts(folder, &apart, change)).chain(new).collect())
    }

    /// The same of one file.
    fn compare_one(&self, folder: &Path, base: Option<String>, file: &str) -> Option<Vec<Compared>> {
        let apart = fork_point(folder, base)?;
        if git(folder, &["ls-files", "--error-unmatch", "--", file]).is_err() {
            return Some(self.new_file(folder, file).into_iter().collect());
        }
        let known = known_changes(folder, &apart, &["--", file]);
        Some(known.into_iter().take(1).map(|change| self.with_texts(folder, &apart, change)).collect())
    }

    /// What stands in a file below the folder, however it is named; a link leads only where agents may go.
    fn contents(&self, folder: &Path, path: &str) -> Option<Vec<u8>> {
        let real = folder.join(path.trim_start_matches('/')).canonicalize().ok()?;
        (self.lets_into(&real) && real.is_file()).then(|| fs::read(real).ok())?
    }

    /// A file that git does not know.
    fn new_file(&self, folder: &Path, path: &str) -> Option<Compared> {
        let bytes = self.contents(folder, path)?;
        Some(Compared {
            path: path.to_owned(),
            before: String::new(),
            after: text(&bytes),
            lines: (bytes.split_inclusive(|byte| *byte == b'\n').count() as u64, 0),
            status: "added",
            is_tracked: false,
            stamp: stamp(folder, path),
        })
    }

    fn with_texts(&self, folder: &Path, apart: &str, mut change: Compared) -> Compared {
        if change.status != "added" {
            let before = git(folder, &["show", &format!("{apart}:{}", change.path)]);
            change.before = before.map(|said| text(&said.stdout)).unwrap_or_default();
        }
        if change.status != "deleted" {
            change.after = self.contents(folder, &change.path).map(|bytes| text(&bytes)).unwrap_or_default();
        }
        change
    }

    /// What is no worktree goes only below the workspace and the server's home, wherever agents may go: a client that
    /// names the wrong folder is not to lose what nobody has shown to the server.
    fn may_clear(&self, folder: &Path, home: Option<&Path>) -> Result<(), String> {
        let places = std::iter::once(self.root()).chain(home);
        if places.into_iter().any(|place| folder != place && folder.starts_with(place)) {
            return Ok(());
        }
        let folder = folder.display();
        Err(format!(
            "The stand-in takes {folder} away in no case: it is no worktree, and outside of the workspace"
        ))
    }

    fn may_change(&self, folder: &str) -> Result<(), String> {
        if self.lets_into(Path::new(folder)) {
            return Ok(());
        }
        Err(format!("The stand-in may not go to {folder}; start it with --allow-outside to let it"))
    }
}

fn add(root: &Path, folder: &Path, names: &[String]) -> WorktreeFound {
    let failed = |message: String| WorktreeFound::NotAdded("WorktreeCreateFailedError", message);
    if let Err(error) = fs::create_dir_all(folder) {
        return failed(error.to_string());
    }
    let is_free = |name: &&String| {
        let branch = format!("refs/heads/opencode/{name}");
        !folder.join(name).exists() && git(root, &["show-ref", "--verify", "--quiet", &branch]).is_err()
    };
    let Some(name) = names.iter().find(is_free) else {
        let message = "Failed to generate a unique worktree name".to_owned();
        return WorktreeFound::NotAdded("WorktreeNameGenerationFailedError", message);
    };
    let place = folder.join(name).to_string_lossy().into_owned();
    match git(root, &["worktree", "add", "--no-checkout", "-b", &format!("opencode/{name}"), &place]) {
        Ok(_) => WorktreeFound::Added(name.clone()),
        Err(message) => failed(message),
    }
}

/// A worktree, as git lists it.
struct Entry {
    branch: Option<String>,
    is_first: bool,
}

fn entry_of(listed: &str, folder: &str) -> Option<Entry> {
    let entries = listed.split("\n\n").enumerate();
    let mut found = entries.filter_map(|(at, entry)| {
        let path = entry.lines().find_map(|line| line.strip_prefix("worktree "))?;
        let branch = entry.lines().find_map(|line| line.strip_prefix("branch refs/heads/"));
        (real_path(path) == folder).then(|| Entry { branch: branch.map(str::to_owned), is_first: at == 0 })
    });
    found.next()
}

/// Where the branches went apart.
fn fork_point(folder: &Path, base: Option<String>) -> Option<String> {
    let base = base.unwrap_or_else(|| usual_branch(folder));
    Some(text(&git(folder, &["merge-base", "HEAD", &base]).ok()?.stdout).trim().to_owned())
}

fn usual_branch(folder: &Path) -> String {
    let kinds = ["refs/remotes/origin/", "refs/heads/"];
    let names = kinds.iter().flat_map(|kind| USUAL.iter().map(move |name| (kind, name)));
    let mut there = names.filter(|(kind, name)| {
        git(folder, &["show-ref", "--verify", "--quiet", &format!("{kind}{name}")]).is_ok()
    });
    match there.next() {
        Some((kind, name)) if kind.contains("remotes") => format!("origin/{name}"),
        Some((_, name)) => (*name).to_owned(),
        None => USUAL[0].to_owned(),
    }
}

/// The files that git knows, without their texts.
fn known_changes(folder: &Path, apart: &str, which: &[&str]) -> Vec<Compared> {
    let ask = |kind: &str| {
        let ask = [PLAIN_PATHS, &["diff", kind, "--no-renames", apart], which].concat();
        git(folder, &ask).map(|said| text(&said.stdout)).unwrap_or_default()
    };
    let counted = ask("--numstat");
    let counts: BTreeMap<&str, (u64, u64)> = counted
        .lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, '\t');
            let mut count = || fields.next().map(|count| count.parse().unwrap_or(0));
            let (added, removed) = (count()?, count()?);
            Some((fields.next()?, (added, removed)))
        })
        .collect();
    let named = ask("--name-status");
    let files = named.trim().lines().filter_map(|line| line.split_once('\t'));
    let files = files.map(|(letter, path)| {
        let status = match letter {
            "A" => "added",
            "D" => "deleted",
            _ => "modified",
        };
        Compared {
            path: path.to_owned(),
            before: String::new(),
            after: String::new(),
            lines: counts.get(path).copied().unwrap_or_default(),
            status,
            is_tracked: true,
            stamp: if letter == "D" { format!("deleted:{apart}") } else { stamp(folder, path) },
        }
    });
    files.collect()
}

/// Its size and when it was changed, in milliseconds.
fn stamp(folder: &Path, path: &str) -> String {
    let Ok(file) = fs::metadata(folder.join(path)) else { return format!("missing:{path}") };
    let changed = file.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "the servers tell it so")]
    let ms = changed.as_secs() as f64 * 1000.0 + f64::from(changed.subsec_nanos()) / 1_000_000.0;
    format!("{}:{ms}", file.len())
}

fn real_path(folder: &str) -> String {
    fs::canonicalize(folder).map_or_else(|_| folder.to_owned(), |real| real.to_string_lossy().into_owned())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What git says to this, or why it does not do it.
fn git(folder: &Path, arguments: &[&str]) -> Result<Output, String> {
    let said = run_git(folder, arguments).map_err(|error| error.to_string())?;
    if said.status.success() {
        return Ok(said);
    }
    Err(if said.stderr.is_empty() { text(&said.stdout) } else { text(&said.stderr) })
}
