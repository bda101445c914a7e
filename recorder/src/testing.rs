//! What the tests of this crate share.

pub(crate) mod fake_server;

use fixtures::ServerKind;
use fixtures::recording::{FORMAT, FileKind, Header, Performer, Provenance};
use fixtures::scenario::Scenario;
use rustix::process::Pid;
use std::ffi::OsString;
use std::path::Path;

/// The `PATH` of the tests.
#[expect(clippy::disallowed_methods, reason = "the tests' main: here the environment is read and passed on")]
pub(crate) fn path_env() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// A scenario with a file in a folder.
pub(crate) fn scenario() -> Scenario {
    let text = r#"
about = "x"
[workspace]
files = { "README.md" = "hello\n", "src/a.txt" = "a\n" }
config = { permission = { edit = "ask" }, share = "manual" }
[[agent]]
on = { prompt_contains = "write" }
steps = [{ say = "I will." }]
[user]
steps = [{ prompt = "please write it" }, { answer_permission = "once" }, { wait_for = "idle" }]
"#;
    Scenario::parse(Path::new("test.toml"), text).unwrap()
}

/// The header of a recording of Kilo.
pub(crate) fn header() -> Header {
    Header {
        format: FORMAT,
        kind: FileKind::Recording,
        server: ServerKind::Kilo,
        version: "7.7.7".into(),
        performer: Performer::Real,
        scenario: "a/b".into(),
        workspace: "/tmp/w".into(),
        by: "test".into(),
        provenance: Provenance::default(),
    }
}

/// Is there such a process, and is it more than a name that nobody has reaped yet?
pub(crate) fn is_running(pid: Pid) -> bool {
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    !stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')))
}
