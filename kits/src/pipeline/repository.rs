//! The folder of a case: a git repository in which somebody works already, and what the harness sees of it.

use super::phases::{AT_THE_BEGINNING, OF_THE_LIBRARY, PHASES, Phase, RUNS_FROM_THE_BEGINNING, TOPIC, base};
use crate::git::said;
use crate::scene::{Troubled, our_fault};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the person has changed and not committed.
pub(super) const OWN_WORDS: &str = "My own words, not committed.\n";
/// What the person has begun, and git does not know yet.
pub(super) const UNTRACKED: (&str, &str) = ("mine/begun.txt", "My own file, not added.\n");
/// What the person is about to commit.
pub(super) const STAGED: (&str, &str) = ("mine/staged.txt", "My own file, added and not committed.\n");
/// What the person has put away.
const STASHED: (&str, &str) = ("ideas.md", "My own words, put away.\n");
const STASH: &str = "the person's own";
/// What is left in a worktree of before, and nowhere else.
pub(super) const UNFINISHED: &str = "Unfinished, and nowhere else.\n";
/// What the person adds where an agent adds something else.
pub(super) const OWN_LINE: &str = "the person's line\n";
/// What must never stand in a patch.
pub(super) const SECRET: &str = "canary-of-the-env-file";

/// A repository.
pub(super) struct Repository {
    pub(super) root: PathBuf,
    /// The folder around it, in which nothing else may appear.
    around: PathBuf,
    pub(super) base: String,
    /// What the person has set, as git lists it.
    pub(super) settings: Vec<String>,
}

impl Repository {
    pub(super) fn make(around: &Path) -> Result<Self, Troubled> {
        let around = around.canonicalize().map_err(|error| our_fault(error.to_string()))?;
        let mut repository =
            Self { root: around.join("work"), around, base: String::new(), settings: Vec::new() };
        repository.write("README.md", "An app.\n")?;
        for file in AT_THE_BEGINNING {
            repository.write(file, base(file))?;
        }
        let runs = fs::Permissions::from_mode(0o755);
        fs::set_permissions(repository.root.join(RUNS_FROM_THE_BEGINNING), runs)
            .map_err(|error| our_fault(error.to_string()))?;
        repository.write(STASHED.0, "Ideas.\n")?;
        repository.write(".gitignore", ".kilo/\n.env\n")?;
        repository.write(".env", SECRET)?;
        repository.git(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
        for (name, value) in [
            ("user.name", "Standin"),
            ("user.email", "standin@example.invalid"),
            ("commit.gpgsign", "false"),
            ("core.hooksPath", "/dev/null"),
            ("core.autocrlf", "false"),
            ("core.fileMode", "true"),
        ] {
            repository.git(&["config", name, value])?;
        }
        repository.settings =
            repository.git(&["config", "--local", "--list"])?.lines().map(str::to_owned).collect();
        repository.commit("The beginning")?;
        repository.base = repository.git(&["rev-parse", "HEAD"])?;
        repository.write(STASHED.0, STASHED.1)?;
        repository.git(&["stash", "push", "--quiet", "--message", STASH])?;
        Ok(repository)
    }

    /// Git is told nothing of the runner's folder.
    pub(super) fn forget_kilo(&mut self) -> Result<(), Troubled> {
        self.write(".gitignore", ".env\n")?;
        self.git(&["commit", "--quiet", "--message", "Nothing of .kilo", ".gitignore"])?;
        self.base = self.git(&["rev-parse", "HEAD"])?;
        Ok(())
    }

    /// The person works on a branch of their own, which is ahead of the one that all began with.
    pub(super) fn branch_off(&mut self, branch: &str) -> Result<(), Troubled> {
        self.git(&["checkout", "--quiet", "-b", branch])?;
        self.write("topic.md", TOPIC)?;
        self.commit("A topic")?;
        self.base = self.git(&["rev-parse", "HEAD"])?;
        Ok(())
    }

    /// The person is in the middle of something.
    pub(super) fn begin_own_work(&self) -> Result<(), Troubled> {
        self.write("README.md", OWN_WORDS)?;
        self.write(UNTRACKED.0, UNTRACKED.1)
    }

    /// The person is about to commit something.
    pub(super) fn stage(&self) -> Result<(), Troubled> {
        self.write(STAGED.0, STAGED.1)?;
        self.git(&["add", STAGED.0]).map(drop)
    }

    /// What the person has not committed, each with whether it is as it was.
    fn of_the_person(&self, stashes: &str) -> Result<Value, Troubled> {
        let status = self.git(&["status", "--porcelain", "--untracked-files=all"])?;
        let is_so = |state: &str, (path, words): (&str, &str)| {
            let is_there = fs::read_to_string(self.root.join(path)).is_ok_and(|text| text == words);
            is_there && status.lines().any(|line| line.trim_start() == format!("{state} {path}"))
        };
        let stash = stashes.lines().find_map(|line| line.split_once(' ').filter(|it| it.1.ends_with(STASH)));
        let holds = |hash: &str| {
            let shown = self.git_in(&self.root, &["show", &format!("{hash}:{}", STASHED.0)]);
            shown.is_ok_and(|text| text == STASHED.1.trim_end())
        };
        Ok(json!({
            "changed": is_so("M", ("README.md", OWN_WORDS)),
            "begun": is_so("??", UNTRACKED),
            "staged": is_so("A ", STAGED),
            "ignored": fs::read_to_string(self.root.join(".env")).is_ok_and(|text| text == SECRET),
            "stash": stash.is_some_and(|(hash, _)| holds(hash)),
        }))
    }

    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), Troubled> {
        let path = self.root.join(path);
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| our_fault(format!("failed to write {}: {error}", path.display())))
    }

    /// A repository of its own within this one. Its place is a folder of this machine, which git takes as a submodule only
    /// with `-c protocol.file.allow=always`.
    pub(super) fn add_library(&mut self) -> Result<(), Troubled> {
        let library = self.around.join("library");
        fs::create_dir_all(&library).map_err(|error| our_fault(error.to_string()))?;
        let place = library.to_string_lossy().into_owned();
        fs::write(library.join("lib.txt"), OF_THE_LIBRARY).map_err(|error| our_fault(error.to_string()))?;
        let who = ["-c", "user.name=Standin", "-c", "user.email=standin@example.invalid", "-C", &place];
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main", &place])?;
        self.git(&[&who[..], &["add", "--all"]].concat())?;
        self.git(&[&who[..], &["commit", "--quiet", "--message", "A library"]].concat())?;
        self.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &place, "lib"])?;
        self.git(&["commit", "--quiet", "--message", "With a library"])?;
        self.base = self.git(&["rev-parse", "HEAD"])?;
        Ok(())
    }

    /// The person commits, or only writes, a line where the lead developer writes one.
    pub(super) fn own_line(&self, commits: bool) -> Result<(), Troubled> {
        self.write("src/app.txt", &format!("app\n{OWN_LINE}"))?;
        if commits {
            self.git(&["commit", "--quiet", "--message", "The person's", "src/app.txt"])?;
        }
        Ok(())
    }

    /// What a phase leaves when it has been done and merged.
    pub(super) fn do_work(&self, phase: &Phase) -> Result<(), Troubled> {
        for file in phase.files {
            if phase.removes.contains(file) {
                self.git(&["rm", "--quiet", file])?;
                continue;
            }
            let before = text_in(&self.root.join(file)).unwrap_or_default();
            self.write(file, &phase.after(file, &before))?;
            self.git(&["add", file])?;
        }
        self.git(&["commit", "--quiet", "--message", phase.name]).map(drop)
    }

    fn commit(&self, message: &str) -> Result<(), Troubled> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "--message", message]).map(drop)
    }

    /// What git answers.
    pub(super) fn git(&self, args: &[&str]) -> Result<String, Troubled> {
        self.git_in(&self.root, args).map_err(|why| our_fault(format!("git {}: {why}", args.join(" "))))
    }

    pub(super) fn git_in(&self, folder: &Path, args: &[&str]) -> Result<String, String> {
        said(Command::new("git").args(args).current_dir(folder)).map(|told| told.trim_end().to_owned())
    }

    /// All that the checks ask for.
    pub(super) fn seen(&self) -> Result<Value, Troubled> {
        let text = |path: &str| text_in(&self.root.join(path));
        let files: Map<String, Value> = PHASES
            .iter()
            .flat_map(|phase| phase.files)
            .map(|file| ((*file).to_owned(), json!(text(file))))
            .collect();
        let worktrees = self.git(&["worktree", "list", "--porcelain"])?;
        let entries =
            worktrees.split("\n\n").filter(|entry| entry.lines().any(|line| line.starts_with("prunable")));
        let prunable: Vec<&str> = entries.filter_map(|entry| entry.lines().next()).collect();
        let is_locked = |entry: &&str| entry.lines().any(|line| line.starts_with("locked"));
        let locked: Vec<&str> = worktrees
            .split("\n\n")
            .filter(is_locked)
            .filter_map(|entry| entry.lines().next()?.strip_prefix("worktree "))
            .map(|it| self.below(it))
            .collect();
        let worktrees: Vec<&str> = worktrees
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "))
            .map(|it| self.below(it))
            .collect();
        let stashes = self.git(&["stash", "list", "--format=%H %s %gs"])?;
        let refs = self.git(&["for-each-ref", "--format=%(refname)"])?;
        let refs: Vec<&str> = refs.lines().collect();
        Ok(json!({
            "branch": self.git(&["symbolic-ref", "--short", "HEAD"])?,
            "main": self.main()?,
            "person": self.of_the_person(&stashes)?,
            "staged": self.git(&["diff", "--cached", "--name-only"])?,
            "copies": self.copies()?,
            "touched": self.touched()?,
            "reset": self.reset()?,
            "checkpoints": self.checkpoints(),
            "diffs": names(&self.root.join(".kilo/logs/diffs")),
            "files": files,
            "worktrees": worktrees,
            "prunable": prunable,
            "locked": locked,
            "refs": refs,
            "stashes": stashes.lines().collect::<Vec<_>>(),
            "ways": self.ways(&refs, &stashes, &worktrees),
            "merging": self.root.join(".git/MERGE_HEAD").exists() || !self.git(&["ls-files", "--unmerged"])?.is_empty(),
            "library": text("lib/lib.txt").map(|text| text == OF_THE_LIBRARY),
            "around": names(&self.around),
            "own": names(&self.root.join(".kilo")),
            "reserved": self.reserved(&refs),
        }))
    }

    /// Where ways back lead: the files that are gone or other there than where the person's branch stands, but for what is
    /// the person's own; work that is not there yet may be beside them. One that leads nowhere has no such list.
    fn ways(&self, refs: &[&str], stashes: &str, worktrees: &[&str]) -> Vec<Value> {
        const SIGN: &str = "checkpoint/";
        let own = ["README.md", UNTRACKED.0, STAGED.0, STASHED.0];
        let is_own = |file: &str| own.contains(&file) || file.starts_with(".kilo/");
        let way = |name: &str, place: &str| {
            let asked = ["diff", "--name-only", "--no-renames", "--diff-filter=DMT", "HEAD", place, "--"];
            let diff = self.git_in(&self.root, &asked);
            let other = diff.ok().map(|files| {
                files.lines().filter(|file| !is_own(file)).map(str::to_owned).collect::<Vec<_>>()
            });
            json!({"name": name, "other": other})
        };
        let of_refs = refs.iter().filter(|name| name.contains(SIGN)).map(|name| way(name, name));
        let stashed =
            stashes.lines().filter_map(|line| line.split_once(' ')).filter(|it| it.1.contains(SIGN));
        let of_stashes = stashed.map(|(hash, words)| way(words, hash));
        let of_worktrees = worktrees.iter().filter(|path| path.contains(SIGN)).map(|path| {
            let head = self.git_in(&self.root.join(path), &["rev-parse", "HEAD"]);
            way(path, &head.unwrap_or_default())
        });
        of_refs.chain(of_stashes).chain(of_worktrees).collect()
    }

    /// What git calls new in the person's checkout, and lies in worktrees.
    fn copies(&self) -> Result<Vec<String>, Troubled> {
        let new = self.git(&["ls-files", "--others", "--exclude-standard", "--", ".kilo/worktrees"])?;
        Ok(new.lines().map(str::to_owned).collect())
    }

    /// What stands on the branch that all began with.
    pub(super) fn main(&self) -> Result<String, Troubled> {
        self.git(&["rev-parse", "refs/heads/main"])
    }

    fn below<'a>(&self, path: &'a str) -> &'a str {
        let root = self.root.to_string_lossy().into_owned();
        path.strip_prefix(&root).map_or(path, |rest| rest.trim_start_matches('/'))
    }

    fn checkpoints(&self) -> Vec<Value> {
        let folder = self.root.join(".kilo/logs/checkpoints");
        let read = |name: &String| {
            let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
            json!({"file": name, "says": serde_json::from_str::<Value>(&text).ok()})
        };
        names(&folder).iter().filter(|name| name.ends_with(".json")).map(read).collect()
    }

    /// All files of the checkout, but for what git ignores; and the names of those that can be run.
    pub(super) fn tree(&self) -> Result<(Value, BTreeSet<String>), Troubled> {
        let listed = self.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let read = |name: &str| Some((name.to_owned(), json!(text_in(&self.root.join(name))?)));
        let files = listed.split('\0').filter_map(read).collect::<Map<String, Value>>();
        let runs = files.keys().filter(|name| runs(&self.root.join(name))).cloned().collect();
        Ok((files.into(), runs))
    }

    /// Folders and files of the runner, and refs, with a part that is no name on every system.
    fn reserved(&self, refs: &[&str]) -> Vec<String> {
        let below = walkdir::WalkDir::new(self.root.join(".kilo")).max_depth(5);
        let paths =
            below.into_iter().flatten().map(|entry| self.below(&entry.path().to_string_lossy()).to_owned());
        let is_wrong = |path: &String| path.split('/').any(is_reserved);
        paths.chain(refs.iter().map(|&name| name.to_owned())).filter(is_wrong).collect()
    }

    /// The files below the repository in which one of these words stands, but for what git has packed.
    pub(super) fn saying(&self, words: &[String]) -> Vec<String> {
        let is_packed = |entry: &walkdir::DirEntry| entry.path().ends_with(".git/objects");
        let all = walkdir::WalkDir::new(&self.root).into_iter().filter_entry(|entry| !is_packed(entry));
        let files = all.flatten().filter(|entry| entry.file_type().is_file());
        let says = files.filter(|entry| {
            let text = fs::read(entry.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            words.iter().any(|word| text.contains(word))
        });
        says.map(|entry| self.below(&entry.path().to_string_lossy()).to_owned()).collect()
    }
}

/// What a file holds; one in letters of an older kind, as they are read in Western Europe.
pub(super) fn text_in(path: &Path) -> Option<String> {
    let read = String::from_utf8(fs::read(path).ok()?);
    Some(read.unwrap_or_else(|older| older.into_bytes().into_iter().map(char::from).collect()))
}

/// Can this file be run?
pub(super) fn runs(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| known.permissions().mode() & 0o111 != 0)
}

/// Is this no name of a file, on a system on which a repository may be checked out, too?
pub(super) fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let numbered =
        |kind: &str| stem.strip_prefix(kind).is_some_and(|end| matches!(end.as_bytes(), [b'1'..=b'9']));
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
