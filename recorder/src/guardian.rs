//! Sees to it that nothing outlives the recorder, not even when it is killed: a small shell in a group of its own that
//! reads a pipe, and cleans up when the pipe ends. The kernel closes the pipe of whoever dies, however it dies.
//!
//! The shell ([`guardian.sh`](guardian.sh)) makes the folder that it will delete, so there is no moment at which a
//! folder stands and nobody answers for it. It also finds what has left its process group, by its home. Not found is
//! what has left the group *and* has another home: such a program hides on purpose.

use rustix::process::Pid;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

const SCRIPT: &str = include_str!("guardian.sh");

/// The guardian of one sandbox. Dropping it ends what is left and deletes the folder.
#[derive(Debug)]
pub(crate) struct Guardian {
    shell: Child,
    /// Closed on exec, as all pipes of the standard library are: a server that inherits it would keep it open.
    pipe: Mutex<Option<ChildStdin>>,
}

impl Guardian {
    /// Starts it; it makes a folder in `below`, for its owner alone.
    pub(crate) fn start(below: &Path, path_env: &OsStr) -> io::Result<(Self, PathBuf)> {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "standin-guardian"])
            .arg(below)
            .current_dir("/")
            .env_clear()
            .env("PATH", path_env)
            // What a terminal tells the foreground is not for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdout, stderr) = (shell.stdout.take(), shell.stderr.take());
        let guardian = Self { pipe: Mutex::new(shell.stdin.take()), shell };
        let (mut folder, mut words) = (Vec::new(), Vec::new());
        if let Some(mut stdout) = stdout {
            stdout.read_to_end(&mut folder)?;
        }
        if let Some(mut stderr) = stderr {
            stderr.read_to_end(&mut words)?;
        }
        if folder.is_empty() {
            let words = String::from_utf8_lossy(&words);
            return Err(io::Error::other(words.trim().to_owned()));
        }
        Ok((guardian, OsString::from_vec(folder).into()))
    }

    /// From now on this group is ended when the recorder is gone.
    pub(crate) fn watch(&self, group: Pid) -> io::Result<()> {
        self.tell("watch", group)
    }

    /// The group has been ended, and its number may be given to strangers soon.
    pub(crate) fn forget(&self, group: Pid) {
        // A guardian that is gone has forgotten everything.
        self.tell("forget", group).ok();
    }

    /// One short write, which a pipe takes whole or not at all.
    fn tell(&self, word: &str, group: Pid) -> io::Result<()> {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = pipe.as_mut().ok_or_else(|| io::Error::other("the guardian has no pipe"))?;
        pipe.write_all(format!("{word} {}\n", group.as_raw_nonzero()).as_bytes())
            .map_err(|error| io::Error::new(error.kind(), format!("the guardian does not listen: {error}")))
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        *self.pipe.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        // It ends by itself, and has no word to say about it.
        self.shell.wait().ok();
    }
}

#[cfg(test)]
mod tests;
