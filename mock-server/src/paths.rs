//! The corpus of paths on a disk: the files and links of a case, a tool that acts, and canaries that tell what it touched.
//!
//! The tool is bounded: what would be done outside of the case's own folder is told and not done.

mod machine;
mod trace;

pub use machine::Machine;

use fixtures::error::FileError;
use fixtures::paths::corpus::{Asked, Case};
use fixtures::paths::disk::Disk;
use fixtures::paths::realpath::resolved;
use fixtures::paths::{Policy, ground, posix};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use trace::Trace;

/// Why a case is not on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotMade {
    /// This machine can't have it, and why.
    NotApplicable(String),
    /// It should have been possible.
    Failed(FileError),
}

/// How a program reads a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// As it stands, as the kernel and so every line of a shell does. It makes no folders.
    AsItStands,
    /// `..` is folded in the text first, as most file tools do. They make the folders that are missing.
    Folded,
}

/// What came of what the tool tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    /// It wrote somewhere below the base.
    Wrote,
    /// The system refused it.
    Refused,
    /// It would have been outside of the base, so it was not done.
    Beyond,
}

/// A case on the disk.
#[derive(Debug)]
pub struct Made {
    base: PathBuf,
    asked: Asked,
    before: Trace,
}

/// Makes the files and the links of a case in a folder that is empty or not there yet.
pub fn make(case: &Case, base: &Path, machine: &Machine) -> Result<Made, NotMade> {
    if let Some(reason) = machine.can_not(case) {
        return Err(NotMade::NotApplicable(reason.to_owned()));
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error: std::io::Error| NotMade::Failed(FileError::io(path, "make it for a case", &error))
    };
    fs::create_dir_all(base).map_err(failed(base))?;
    // Where the base itself is reached by a link, the text and the disk would tell two stories.
    let base = base.canonicalize().map_err(failed(base))?;
    let Some(text) = base.to_str() else {
        return Err(NotMade::NotApplicable("the folder's name is no text".to_owned()));
    };
    for (place, content) in ground::FILES {
        let path = base.join(place);
        fs::create_dir_all(path.parent().unwrap_or(&base)).map_err(failed(&path))?;
        fs::write(&path, content).map_err(failed(&path))?;
    }
    for (place, target) in case.drawn(text) {
        let path = Path::new(&place);
        fs::create_dir_all(path.parent().unwrap_or(&base)).map_err(failed(path))?;
        symlink(target, path).map_err(failed(path))?;
    }
    let asked = case.asked(Policy::Realpath, text);
    let before = Trace::of(&base, &asked.roots).map_err(failed(&base))?;
    Ok(Made { asked, before, base })
}

impl Made {
    /// The folder that holds all of it, without links in its path.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// What a guard is asked.
    #[must_use]
    pub fn asked(&self) -> &Asked {
        &self.asked
    }

    /// The tool writes at the path: at the end of a file that is there, in a new one, or in one in the folder.
    #[must_use]
    pub fn act(&self, reading: Reading) -> Acted {
        let Some(absolute) = posix::absolute(&self.asked.roots, &self.asked.path) else {
            return Acted::Refused;
        };
        let path = match reading {
            Reading::AsItStands => absolute,
            Reading::Folded => format!("/{}", posix::folded(&absolute).join("/")),
        };
        let Ok(leads_to) = resolved(&path, &Disk) else { return Acted::Refused };
        if !Path::new(&format!("/{}", leads_to.join("/"))).starts_with(&self.base) {
            return Acted::Beyond;
        }
        if write(Path::new(&path), reading).is_ok() { Acted::Wrote } else { Acted::Refused }
    }

    /// What is not as it was, outside of all roots.
    pub fn touched(&self) -> Result<Vec<PathBuf>, FileError> {
        let now = Trace::of(&self.base, &self.asked.roots);
        let now = now.map_err(|error| FileError::io(&self.base, "look at its canaries", &error))?;
        Ok(self.before.differs_from(&now))
    }
}

fn write(path: &Path, reading: Reading) -> std::io::Result<()> {
    let file = if path.is_dir() { path.join("touched.txt") } else { path.to_owned() };
    if let Some(folder) = file.parent().filter(|_| reading == Reading::Folded) {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().append(true).create(true).open(file)?.write_all(b"touched\n")
}
