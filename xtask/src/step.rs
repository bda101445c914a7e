//! One step of a command: a program that is started in the repository's folder and speaks for itself.

use crate::outcome::Outcome;
use harness::say;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command line such as `["cargo", "fmt"]` under a heading; its output goes to the terminal as it comes.
pub(crate) fn run(root: &Path, line: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let shown = line.join(" ");
    say!("\n== {shown}");
    let Some((program, arguments)) = line.split_first() else {
        return Outcome::Untestable("an empty command line was to be run; this is a mistake in xtask".into());
    };
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(root)
        .stdin(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Outcome::Holds,
        Ok(status) => match status.code() {
            Some(code) => {
                Outcome::Fails(format!("`{shown}` ended with exit code {code}; its output is above"))
            }
            None => Outcome::Untestable(format!("`{shown}` was ended by a signal; run it again")),
        },
        Err(error) => Outcome::Untestable(format!(
            "`{shown}` could not be started: {error}; is `{program}` on the PATH?"
        )),
    }
}

/// The program starts and ends well: how a tool's presence is probed. It says nothing on the terminal.
pub(crate) fn answers(line: &[&str]) -> bool {
    let Some((program, arguments)) = line.split_first() else { return false };
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn a_failing_a_missing_and_a_killed_program_are_told_apart() {
        assert_eq!(run(here(), &["true"], &[]), Outcome::Holds);
        assert_eq!(
            run(here(), &["sh", "-c", "exit 7"], &[]),
            Outcome::Fails("`sh -c exit 7` ended with exit code 7; its output is above".into())
        );
        assert_eq!(
            run(here(), &["sh", "-c", "kill -9 $$"], &[]),
            Outcome::Untestable("`sh -c kill -9 $$` was ended by a signal; run it again".into())
        );
        let Outcome::Untestable(why) = run(here(), &["no-such-program"], &[]) else {
            panic!("a missing program must not pass for one that fails");
        };
        assert!(why.ends_with("is `no-such-program` on the PATH?"), "{why}");
    }

    #[test]
    fn the_environment_reaches_the_program() {
        assert_eq!(
            run(here(), &["sh", "-c", "test \"$GREETING\" = hello"], &[("GREETING", "hello")]),
            Outcome::Holds
        );
    }

    #[test]
    fn a_probe_needs_a_program_that_ends_well() {
        assert!(answers(&["true"]));
        assert!(!answers(&["false"]));
        assert!(!answers(&["no-such-program"]));
    }
}
