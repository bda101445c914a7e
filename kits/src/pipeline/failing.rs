//! A `git` in front of git that writes down what it is told, and fails: at one of its calls, whenever it is told certain words, or
//! never. What a runner makes of that is seen without a kill: git says no where a disk is full, a lock is held, a folder is busy.

use super::shim::{on_the_path, path_behind, put_program};
use crate::scene::{Troubled, our_fault};
use std::fs;

/// A folder to be put before all others on the `PATH`, and a git in it that fails.
pub(super) struct Failing {
    folder: tempfile::TempDir,
    path: String,
}

impl Failing {
    /// Fails at the call of this number, from 1, and at no other.
    pub(super) fn at(call: usize) -> Result<Self, Troubled> {
        Self::when(&format!("[ $call -eq {call} ]"))
    }

    /// Fails whenever these words are among what it is told.
    pub(super) fn told(words: &str) -> Result<Self, Troubled> {
        Self::when(&format!("case \" $* \" in *' {words} '*) ;; *) false ;; esac"))
    }

    /// Only writes down what it is told.
    pub(super) fn never() -> Result<Self, Troubled> {
        Self::when("false")
    }

    fn when(condition: &str) -> Result<Self, Troubled> {
        let folder = tempfile::Builder::new().prefix("standin-shim-").tempdir();
        let folder = folder.map_err(|error| our_fault(format!("failed to make a shim: {error}")))?;
        let git = on_the_path("git")?;
        let (place, git) = (folder.path().display(), git.display());
        // `set -C` makes a file only where there is none: so no two calls have one number.
        let text = format!(
            "#!/bin/sh\n\
             set -C\n\
             call=1\n\
             while ! command : 2>/dev/null >'{place}/call-'$call; do\n\
             [ -d '{place}' ] || exit 1\n\
             call=$((call + 1))\n\
             done\n\
             printf '%s\\n' \"$*\" >>'{place}/journal'\n\
             if {condition}; then\n\
             printf '%s\\n' \"$*\" >>'{place}/failed'\n\
             echo 'fatal: unable to write: Device or resource busy' >&2\n\
             exit 128\n\
             fi\n\
             exec '{git}' \"$@\"\n",
        );
        put_program(folder.path(), "git", &text)?;
        let path = path_behind(folder.path())?;
        Ok(Self { folder, path })
    }

    /// The `PATH` that a runner is to use for what it starts.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Which of its calls were told one of these words, by their first one.
    pub(super) fn saying(&self, words: &[String]) -> Vec<String> {
        let told = fs::read_to_string(self.folder.path().join("journal")).unwrap_or_default();
        let says = |line: &&str| words.iter().any(|word| line.contains(word));
        let begin = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        told.lines().filter(says).map(begin).collect()
    }

    /// What the first call that has failed was told, if one has.
    pub(super) fn has_failed(&self) -> Option<String> {
        let told = fs::read_to_string(self.folder.path().join("failed")).ok()?;
        Some(told.lines().next().unwrap_or_default().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(shim: &Failing, args: &[&str]) -> bool {
        let output = Command::new("git").args(args).env("PATH", shim.path()).output().unwrap();
        output.status.success()
    }

    #[test]
    fn one_call_fails_and_no_other() {
        let shim = Failing::at(2).unwrap();
        let codes = [(); 3].map(|()| git(&shim, &["--version"]));
        assert_eq!(codes, [true, false, true]);
        assert_eq!(shim.has_failed().as_deref(), Some("--version"));
    }

    #[test]
    fn calls_with_these_words_fail_each_time() {
        let shim = Failing::told("worktree remove").unwrap();
        assert!(git(&shim, &["--version"]));
        assert_eq!(shim.has_failed(), None);
        assert_eq!(shim.saying(&["--ver".to_owned()]), ["--version"]);
        assert_eq!(shim.saying(&["else".to_owned()]), Vec::<String>::new());
        assert!(!git(&shim, &["-C", "/", "worktree", "remove", "--force", "a"]));
        assert!(!git(&shim, &["worktree", "remove", "b"]));
        assert_eq!(shim.has_failed().as_deref(), Some("-C / worktree remove --force a"));
    }
}
