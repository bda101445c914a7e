//! What this machine's disk can't do, found out by trying.

use fixtures::error::FileError;
use fixtures::paths::corpus::{Case, Need};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What a disk can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// It makes links.
    pub links: bool,
    /// `A` and `a` are two files.
    pub tells_case: bool,
    /// `é` in one character and in two are two files.
    pub tells_forms: bool,
}

impl Machine {
    /// Tries it in a folder, which is empty again afterwards.
    pub fn probed(folder: &Path) -> Result<Self, FileError> {
        let failed = |error| FileError::io(folder, "try what its disk can do", &error);
        let probe = folder.join("probe");
        fs::create_dir_all(&probe).map_err(failed)?;
        for name in ["a", "caf\u{e9}"] {
            fs::write(probe.join(name), "").map_err(failed)?;
        }
        let machine = Self {
            links: symlink("a", probe.join("link")).is_ok(),
            tells_case: !probe.join("A").exists(),
            tells_forms: !probe.join("cafe\u{301}").exists(),
        };
        fs::remove_dir_all(&probe).map_err(failed)?;
        Ok(machine)
    }

    /// Why a case can't be here.
    #[must_use]
    pub fn can_not(&self, case: &Case) -> Option<&'static str> {
        let missing = |need: &Need| match need {
            Need::TellsCase => !self.tells_case,
            Need::TellsForms => !self.tells_forms,
        };
        if !self.links && !case.links.is_empty() {
            return Some("this disk makes no links");
        }
        case.needs.iter().find(|need| missing(need)).map(|need| match need {
            Need::TellsCase => "on this disk capital letters make no other file",
            Need::TellsForms => "on this disk the forms of a letter make no other file",
        })
    }
}
