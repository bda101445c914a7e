//! The repository as the rules see it: a list of files with their text. Rules read nothing else, so a test can
//! show them a repository of two lines.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

/// One file that git tracks, or would track.
#[derive(Debug)]
pub(super) struct File {
    /// Its path from the root, with `/` between the parts.
    pub(super) path: String,
    /// Its text; `None` if it is not UTF-8, or a link.
    pub(super) text: Option<String>,
    /// Its size in bytes.
    pub(super) size: u64,
}

/// All files, and the words that the documentation may use.
#[derive(Debug)]
pub(super) struct Repo {
    files: Vec<File>,
    /// The names of xtask's commands.
    pub(super) xtask_commands: Vec<String>,
}

/// What is left over by a run that was cut short. Ignored by git, so they are asked for by name.
pub(super) const LEFTOVERS: [&str; 4] = [".snap.new", ".pending-snap", ".partial", ".partial.new"];

/// Folders that hold nothing of ours, for a copy of the repository that git can't tell about.
const FOREIGN: [&str; 3] = ["target", ".git", "node_modules"];

impl Repo {
    /// Reads the repository, or says why that can't be done.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        for path in list(root)? {
            if let Some(file) = read_file(root, path)? {
                files.push(file);
            }
        }
        Ok(Self { files, xtask_commands: crate::command_names() })
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    /// The text of one file, if there is such a file and it has text.
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path)?.text.as_deref()
    }

    /// There is a file of this path, or a folder that holds one.
    pub(super) fn has(&self, path: &str) -> bool {
        let inside = |file: &File| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        path.is_empty() || self.files.iter().any(|file| file.path == path || inside(file))
    }

    /// The paths and texts of the files whose path ends so.
    pub(super) fn texts<'a>(&'a self, ending: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let matching = self.files.iter().filter(move |file| file.path.ends_with(ending));
        matching.filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }
}

fn list(root: &Path) -> Result<BTreeSet<String>, String> {
    if !root.join(".git").exists() {
        return walk(root);
    }
    let Some(mut files) = git_list(root, &["-co", "--exclude-standard"])? else { return walk(root) };
    let patterns: Vec<String> = LEFTOVERS.iter().map(|ending| format!("--exclude=*{ending}")).collect();
    let mut arguments = vec!["-oi"];
    arguments.extend(patterns.iter().map(String::as_str));
    arguments.extend(["--", ".", ":(exclude)target"]);
    files.extend(git_list(root, &arguments)?.unwrap_or_default());
    Ok(files)
}

/// What git lists; `None` if there is no git on this machine.
fn git_list(root: &Path, arguments: &[&str]) -> Result<Option<BTreeSet<String>>, String> {
    let output = match Command::new("git").args(["ls-files", "-z"]).args(arguments).current_dir(root).output()
    {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("git could not be started: {error}; is it installed properly?")),
    };
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`git ls-files` in {} failed; git says: {}", root.display(), why.trim()));
    }
    let paths = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    Ok(Some(paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()))
}

fn walk(root: &Path) -> Result<BTreeSet<String>, String> {
    let ours = |entry: &walkdir::DirEntry| !FOREIGN.iter().any(|folder| entry.file_name() == *folder);
    let mut files = BTreeSet::new();
    for entry in walkdir::WalkDir::new(root).into_iter().filter_entry(ours) {
        let entry = entry.map_err(|error| format!("the repository could not be listed: {error}"))?;
        if let (false, Ok(path)) = (entry.file_type().is_dir(), entry.path().strip_prefix(root)) {
            files.insert(path.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(files)
}

/// Reads one file; `None` for what is gone (deleted, and not yet committed) or is no file (a submodule).
fn read_file(root: &Path, path: String) -> Result<Option<File>, String> {
    let full = root.join(&path);
    let failed = |error| format!("{path} could not be read: {error}; see its permissions");
    let meta = match fs::symlink_metadata(&full) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if meta.is_dir() {
        return Ok(None);
    }
    let text = match meta.is_file() {
        true => match fs::read(&full) {
            Ok(bytes) => String::from_utf8(bytes).ok(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        },
        false => None,
    };
    Ok(Some(File { path, text, size: meta.len() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Repo {
        /// A repository of these paths and texts; xtask's commands are `test` and `tidy`.
        pub(in crate::tidy) fn of(files: &[(&str, &str)]) -> Self {
            let files = files.iter().map(|(path, text)| File {
                path: (*path).to_owned(),
                text: Some((*text).to_owned()),
                size: text.len() as u64,
            });
            Self { files: files.collect(), xtask_commands: vec!["test".into(), "tidy".into()] }
        }
    }

    fn write(root: &Path, files: &[&str]) {
        for file in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }

    fn listed(root: &Path) -> Vec<String> {
        Repo::read(root).unwrap().files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn git_tells_what_is_ours_and_leftovers_are_seen_though_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(Command::new("git").args(["init", "--quiet"]).current_dir(root).status().unwrap().success());
        fs::write(root.join(".gitignore"), "/target\n*.snap.new\nignored\n").unwrap();
        write(root, &["src/a.rs", "ignored", "cases/a.snap.new", "target/debug/b", "target/c.partial"]);
        assert_eq!(listed(root), [".gitignore", "cases/a.snap.new", "src/a.rs"]);
    }

    #[test]
    fn without_git_the_folders_are_walked() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &["src/a.rs", "target/debug/b", "x/node_modules/c.js"]);
        assert_eq!(listed(folder.path()), ["src/a.rs"]);
    }

    #[test]
    fn what_git_refuses_is_not_taken_for_an_empty_repository() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".git"), "gitdir: nowhere\n").unwrap();
        let why = Repo::read(folder.path()).unwrap_err();
        assert!(why.contains("git says: fatal: not a git repository"), "{why}");
    }

    #[test]
    fn a_folder_is_there_when_a_file_in_it_is() {
        let repo = Repo::of(&[("docs/a.md", "")]);
        assert!(repo.has("docs") && repo.has("docs/a.md") && !repo.has("doc") && !repo.has("docs/b.md"));
    }
}
