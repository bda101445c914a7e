//! A fresh workspace as a git repository with one commit, as a recorded one is: the same files make the same commit. No
//! program is needed for it, but the agent may use its own.

use super::blob::{Blob, Known};
use super::project::Repository;
use super::tree::{LINK, PLAIN, PROGRAM, Tree, encoded_tree, hex, id_of, read_project};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Who commits, when and why: part of the commit's id.
const COMMITTER: &str = "Standin <standin@example.invalid> 1767225600 +0000";
const REASON: &str = "The workspace of a scenario";
const CONFIG: &str =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";

/// Makes the repository of a folder; the id of its commit.
pub(crate) fn make(root: &Path) -> io::Result<String> {
    let git = root.join(".git");
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "logs/refs/heads"] {
        fs::create_dir_all(git.join(folder))?;
    }
    let (files, _) = read_project(root, &mut Known::default(), std::iter::empty());
    let mut objects = Objects::below(&git);
    for blob in files.values() {
        objects.keep("blob", &blob.content)?;
    }
    let top = objects.keep_tree(&Tree::of(&files))?;
    let commit = format!("tree {}\nauthor {COMMITTER}\ncommitter {COMMITTER}\n\n{REASON}\n", hex(&top));
    let commit = hex(&objects.keep("commit", commit.as_bytes())?);
    let log = format!("{} {commit} {COMMITTER}\tcommit (initial): {REASON}\n", "0".repeat(40));
    for (path, text) in [
        ("HEAD", "ref: refs/heads/main\n"),
        ("config", CONFIG),
        ("COMMIT_EDITMSG", &format!("{REASON}\n")),
        ("refs/heads/main", &format!("{commit}\n")),
        ("logs/HEAD", &log),
        ("logs/refs/heads/main", &log),
    ] {
        fs::write(git.join(path), text)?;
    }
    fs::write(git.join("index"), index(root, &files)?)?;
    Ok(commit)
}

/// The files of the commit that is checked out; `None` where git keeps any of them in a way that is not read here.
pub(crate) fn checked_out(root: &Path) -> Option<BTreeMap<String, Blob>> {
    let Repository { git, common, .. } = Repository::at(root)?;
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let id = match head.trim().strip_prefix("ref: ") {
        Some(branch) => fs::read_to_string(common.join(branch)).ok()?,
        None => head,
    };
    at_commit(root, id.trim())
}

/// The files of a commit.
pub(crate) fn at_commit(root: &Path, id: &str) -> Option<BTreeMap<String, Blob>> {
    let git = Repository::at(root)?.common;
    let commit = String::from_utf8(kept(&git, id)?).ok()?;
    let mut files = BTreeMap::new();
    read_kept_tree(&git, commit.strip_prefix("tree ")?.get(..40)?, "", &mut files)?;
    Some(files)
}

fn read_kept_tree(git: &Path, id: &str, prefix: &str, files: &mut BTreeMap<String, Blob>) -> Option<()> {
    let content = kept(git, id)?;
    let mut rest = content.as_slice();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (mode, name) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
        let id = hex(rest.get(end + 1..end + 21)?);
        match mode {
            "40000" => read_kept_tree(git, &id, &format!("{prefix}{name}/"), files)?,
            PLAIN => drop(files.insert(format!("{prefix}{name}"), Blob::new(PLAIN, kept(git, &id)?))),
            PROGRAM => drop(files.insert(format!("{prefix}{name}"), Blob::new(PROGRAM, kept(git, &id)?))),
            LINK => drop(files.insert(format!("{prefix}{name}"), Blob::new(LINK, kept(git, &id)?))),
            _ => return None,
        }
        rest = &rest[end + 21..];
    }
    Some(())
}

/// What an object holds that has a file of its own.
fn kept(git: &Path, id: &str) -> Option<Vec<u8>> {
    let (folder, file) = id.split_at_checked(2)?;
    let packed = fs::read(git.join("objects").join(folder).join(file)).ok()?;
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed.as_slice()).read_to_end(&mut bytes).ok()?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(bytes.split_off(end + 1))
}

/// The objects of a repository, while they are written.
struct Objects<'a> {
    git: &'a Path,
    /// One for all: what it needs is much more than what is packed.
    packer: ZlibEncoder<Vec<u8>>,
}

impl<'a> Objects<'a> {
    fn below(git: &'a Path) -> Self {
        Self { git, packer: ZlibEncoder::new(Vec::new(), Compression::default()) }
    }

    fn keep_tree(&mut self, tree: &Tree) -> io::Result<[u8; 20]> {
        for inner in tree.folders.values() {
            self.keep_tree(inner)?;
        }
        self.keep("tree", &encoded_tree(tree))
    }

    fn keep(&mut self, kind: &str, content: &[u8]) -> io::Result<[u8; 20]> {
        let id = id_of(kind, content);
        let name = hex(&id);
        let (folder, file) = name.split_at(2);
        let folder = self.git.join("objects").join(folder);
        fs::create_dir_all(&folder)?;
        write!(self.packer, "{kind} {}\0", content.len())?;
        self.packer.write_all(content)?;
        fs::write(folder.join(file), self.packer.reset(Vec::new())?)?;
        Ok(id)
    }
}

/// What git knows of the files without reading them, in its version 2.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "git keeps the lower 32 bits")]
fn index(root: &Path, files: &BTreeMap<String, Blob>) -> io::Result<Vec<u8>> {
    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend((files.len() as u32).to_be_bytes());
    for (path, blob) in files {
        let place = fs::symlink_metadata(root.join(path))?;
        let mode = u32::from_str_radix(blob.mode, 8).unwrap_or_default();
        let start = bytes.len();
        for number in [
            place.ctime() as u32,
            place.ctime_nsec() as u32,
            place.mtime() as u32,
            place.mtime_nsec() as u32,
            place.dev() as u32,
            place.ino() as u32,
            mode,
            place.uid(),
            place.gid(),
            place.size() as u32,
        ] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(blob.id);
        bytes.extend((path.len().min(0xfff) as u16).to_be_bytes());
        bytes.extend(path.as_bytes());
        // At least one zero, up to a multiple of eight.
        bytes.resize(start + (bytes.len() - start) / 8 * 8 + 8, 0);
    }
    let sum: [u8; 20] = Sha1::digest(&bytes).into();
    bytes.extend(sum);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn git_takes_it_for_its_own() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("src/deep")).unwrap();
        for (path, text) in [
            ("a.txt", "a\n"),
            ("src/a.txt", "a\n"),
            ("src/deep/é.txt", ""),
            (".gitignore", "*.log\n"),
            ("x.log", "x"),
        ] {
            fs::write(folder.path().join(path), text).unwrap();
        }
        let commit = make(folder.path()).unwrap();
        assert_eq!(
            checked_out(folder.path()),
            Some(read_project(folder.path(), &mut Known::default(), std::iter::empty()).0)
        );
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.args(args).current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null");
            // A machine without git has nobody who could look.
            git.output()
                .map(|output| (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned()))
                .ok()
        };
        for (args, said) in [
            (&["log", "--format=%H %an %s"][..], format!("{commit} Standin {REASON}\n")),
            (&["status", "--short"], String::new()),
            (&["fsck", "--strict"], String::new()),
            (
                &["-c", "core.quotePath=false", "ls-files"],
                ".gitignore\na.txt\nsrc/a.txt\nsrc/deep/é.txt\n".to_owned(),
            ),
        ] {
            assert!(git(args).is_none_or(|found| found == (true, said)), "{args:?}: {:?}", git(args));
        }
    }
}
