//! A program that the stand-in has started, with all that it starts itself: they are one process group, which is killed
//! when nobody holds it any more.

use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;

/// Where programs are looked for when the stand-in's own environment does not say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A running group; dropping it kills all of it.
pub(crate) struct Group {
    pub(crate) child: Child,
    pub(crate) leader: Pid,
}

impl Group {
    /// Of a program that was started as the leader of a group of its own.
    pub(crate) fn of(child: Child) -> Self {
        let leader = Pid::from_child(&child);
        Self { child, leader }
    }

    /// The leader is not reaped before the group has been killed, so the number can't be a stranger's.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process_group(self.leader, signal).ok();
    }

    pub(crate) fn end(&mut self) -> Option<i32> {
        self.signal(Signal::KILL);
        let status = self.child.wait().ok()?;
        // A shell tells of a signal in this way.
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

#[expect(clippy::disallowed_methods, reason = "a program finds others where the stand-in would")]
pub(crate) fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_else(|| PATH.into())
}

/// The whole path of a program that is found by its name.
pub(crate) fn in_path(name: &str) -> Option<String> {
    let folders = search_path();
    let mut places = std::env::split_paths(&folders).map(|folder| folder.join(name));
    places.find(|place| place.is_file()).map(|place| place.to_string_lossy().into_owned())
}
