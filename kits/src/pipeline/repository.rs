//! The folder of a case: a git repository in which somebody works already, and what the harness sees of it.

use super::stage::{PHASES, Phase};
use crate::git::said;
use crate::scene::{Troubled, our_fault};
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the person has changed and not committed.
pub(super) const OWN_WORDS: &str = "My own words, not committed.\n";
/// What the person has begun, and git does not know yet.
const UNTRACKED: (&str, &str) = ("mine/begun.txt", "My own file, not added.\n");
/// What the person is about to commit.
pub(super) const STAGED: (&str, &str) = ("mine/staged.txt", "My own file, added and not committed.\n");
/// What the person has put away.
const STASHED: (&str, &str) = ("ideas.md", "My own words, put away.\n");
const STASH: &str = "the person's own";
/// What is left in a worktree of before, and nowhere else.
pub(super) const UNFINISHED: &str = "Unfinished, and nowhere else.\n";
/// What the person adds where an agent adds something else.
pub(super) const OWN_LINE: &str = "the person's line\n";
/// What stands in the submodule.
const OF_THE_LIBRARY: &str = "library\n";
/// What must never stand in a patch.
pub(super) const SECRET: &str = "canary-of-the-env-file";

/// A repository.
pub(super) struct Repository {
    pub(super) root: PathBuf,
    /// The folder around it, in which nothing else may appear.
    around: PathBuf,
    base: String,
}

impl Repository {
    pub(super) fn make(around: &Path) -> Result<Self, Troubled> {
        let around = around.canonicalize().map_err(|error| our_fault(error.to_string()))?;
        let mut repository = Self { root: around.join("work"), around, base: String::new() };
        repository.write("README.md", "An app.\n")?;
        for file in ["src/app.txt", "logo.bin", "old.txt"] {
            repository.write(file, base(file))?;
        }
        repository.write(STASHED.0, "Ideas.\n")?;
        repository.write(".gitignore", ".kilo/\n.env\n")?;
        repository.write(".env", SECRET)?;
        repository.git(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
        for (name, value) in [
            ("user.name", "Standin"),
            ("user.email", "standin@example.invalid"),
            ("commit.gpgsign", "false"),
            ("core.hooksPath", "/dev/null"),
        ] {
            repository.git(&["config", name, value])?;
        }
        repository.commit("The beginning")?;
        repository.base = repository.git(&["rev-parse", "HEAD"])?;
        repository.write(STASHED.0, STASHED.1)?;
        repository.git(&["stash", "push", "--quiet", "--message", STASH])?;
        repository.write("README.md", OWN_WORDS)?;
        repository.write(UNTRACKED.0, UNTRACKED.1)?;
        Ok(repository)
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
            let before = fs::read_to_string(self.root.join(file)).unwrap_or_default();
            self.write(file, &format!("{before}{}", done(phase, file)))?;
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

    fn git_in(&self, folder: &Path, args: &[&str]) -> Result<String, String> {
        said(Command::new("git").args(args).current_dir(folder)).map(|told| told.trim_end().to_owned())
    }

    /// All that the checks ask for.
    pub(super) fn seen(&self) -> Result<Value, Troubled> {
        let text = |path: &str| fs::read_to_string(self.root.join(path)).ok();
        let files: Map<String, Value> = PHASES
            .iter()
            .flat_map(|phase| phase.files)
            .map(|file| ((*file).to_owned(), json!(text(file))))
            .collect();
        let worktrees = self.git(&["worktree", "list", "--porcelain"])?;
        let entries =
            worktrees.split("\n\n").filter(|entry| entry.lines().any(|line| line.starts_with("prunable")));
        let prunable: Vec<&str> = entries.filter_map(|entry| entry.lines().next()).collect();
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
            "person": self.of_the_person(&stashes)?,
            "staged": self.git(&["diff", "--cached", "--name-only"])?,
            "checkpoints": self.checkpoints(),
            "diffs": names(&self.root.join(".kilo/logs/diffs")),
            "files": files,
            "worktrees": worktrees,
            "prunable": prunable,
            "refs": refs,
            "stashes": stashes.lines().collect::<Vec<_>>(),
            "merging": self.root.join(".git/MERGE_HEAD").exists() || !self.git(&["ls-files", "--unmerged"])?.is_empty(),
            "leftOver": self.has_unfinished(&refs),
            "library": text("lib/lib.txt").map(|text| text == OF_THE_LIBRARY),
            "around": names(&self.around),
            "own": names(&self.root.join(".kilo")),
            "kept": self.kept(&refs),
        }))
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

    /// Is unfinished work of the lead developer anywhere, in a worktree or behind a ref?
    fn kept(&self, refs: &[&str]) -> bool {
        let worktrees = walkdir::WalkDir::new(self.root.join(".kilo/worktrees")).max_depth(6);
        let in_folder = worktrees.into_iter().flatten().any(|entry| {
            entry.path().ends_with("src/app.txt")
                && fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("implemented"))
        });
        in_folder || self.is_behind(refs, "implemented", &["--", "src/app.txt"])
    }

    /// Do these words stand behind one of the refs?
    fn is_behind(&self, refs: &[&str], words: &str, places: &[&str]) -> bool {
        let asked = [&["grep", "--quiet", "-F", words], refs, places].concat();
        !refs.is_empty() && self.git_in(&self.root, &asked).is_ok()
    }

    /// All files of the checkout, but for what git ignores.
    pub(super) fn tree(&self) -> Result<Value, Troubled> {
        let listed = self.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let read =
            |name: &str| Some((name.to_owned(), json!(fs::read_to_string(self.root.join(name)).ok()?)));
        Ok(listed.split('\0').filter_map(read).collect::<Map<String, Value>>().into())
    }

    /// Is what was left in a worktree of before still somewhere?
    fn has_unfinished(&self, refs: &[&str]) -> bool {
        let folder = walkdir::WalkDir::new(self.root.join(".kilo")).max_depth(8);
        let in_folder = folder
            .into_iter()
            .flatten()
            .any(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text == UNFINISHED));
        in_folder || self.is_behind(refs, UNFINISHED.trim_end(), &[])
    }

    /// Each patch, put on the beginning again: does it give what its agent has made? Of one that has failed nothing stands
    /// in the checkout. Where another agent of the case has worked in the same file, no patch alone gives it: that one is
    /// not put on anything.
    pub(super) fn patches(
        &self,
        issue: &str,
        phases: &[&Phase],
        fails: Option<&str>,
    ) -> Result<Vec<Value>, Troubled> {
        let folder = self.root.join(".kilo/logs/diffs");
        let mut seen = Vec::new();
        for name in names(&folder).iter().filter(|name| name.ends_with(".patch")) {
            let path = folder.join(name);
            let agent = PHASES.iter().find(|phase| *name == format!("{issue}-{}.patch", phase.agent));
            let is_shared = |own: &&Phase| {
                let mut others = phases.iter().filter(|other| other.agent != own.agent);
                others.any(|other| other.files.iter().any(|file| own.files.contains(file)))
            };
            if agent.as_ref().is_some_and(is_shared) {
                continue;
            }
            let copy = tempfile::tempdir().map_err(|error| our_fault(error.to_string()))?;
            let root = self.root.to_string_lossy().into_owned();
            let place = copy.path().to_string_lossy().into_owned();
            self.git(&["clone", "--quiet", "--no-checkout", &root, &place])?;
            let patch = path.to_string_lossy().into_owned();
            let applied = self
                .git_in(copy.path(), &["checkout", "--quiet", &self.base])
                .and_then(|_| self.git_in(copy.path(), &["apply", "--binary", &patch]));
            let files: Vec<&str> = PHASES
                .iter()
                .filter(|phase| {
                    agent.is_some_and(|agent| agent.agent == phase.agent) && Some(phase.name) != fails
                })
                .flat_map(|phase| phase.files.iter().copied())
                .collect();
            let differ: Vec<&str> = files
                .into_iter()
                .filter(|file| fs::read(copy.path().join(file)).ok() != fs::read(self.root.join(file)).ok())
                .collect();
            let text = fs::read_to_string(&path).unwrap_or_default();
            seen.push(json!({
                "file": name, "agent": agent.map(|phase| phase.agent), "why": applied.err(), "differ": differ,
                "secret": text.contains(SECRET),
            }));
        }
        Ok(seen)
    }
}

/// What a file holds at the beginning.
pub(super) fn base(file: &str) -> &'static str {
    match file {
        "src/app.txt" => "app\n",
        "logo.bin" => "\u{0}\u{1}\u{2}binary\u{0}",
        "old.txt" => "An old file.\n",
        _ => "",
    }
}

/// What a phase adds to a file.
pub(super) fn done(phase: &Phase, file: &str) -> &'static str {
    match (phase.name, file) {
        ("designing", _) => "designed\n",
        ("implementing", "src/new.txt") => "new\n",
        ("implementing", _) => "implemented\n",
        ("polishing", _) => "polished\n",
        ("fixing", _) => "fixed\n",
        ("styling", "logo.bin") => "\u{0}styled",
        ("styling", _) => "styled\n",
        ("linking", _) => OF_THE_LIBRARY,
        ("checking", _) => "checked\n",
        _ => "tested\n",
    }
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
