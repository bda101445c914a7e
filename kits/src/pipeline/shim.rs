//! A `git` in front of git: it counts its calls, and holds at one of them, so that a runner can be killed between any two.
//! Calls that come at once get a number each. What holds waits for a pipe whose other end is the harness's: it ends with it,
//! whoever has been killed before.

use crate::scene::{Troubled, our_fault};
use harness::machine::Machine;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

/// A folder to be put before all others on the `PATH`, and a git in it that holds.
pub(super) struct Shim {
    _folder: tempfile::TempDir,
    path: String,
    gate: Gate,
}

/// Two pipes, `told` and `hold`: a program writes into the one, and waits for the other. It ends with this.
pub(super) struct Gate {
    /// What the program that holds was told.
    told: BufReader<Receiver>,
    /// As long as these are open, a pipe is neither without a writer nor without a reader.
    _open: [Sender; 2],
    _held: Receiver,
}

impl Gate {
    pub(super) fn make(place: &Path) -> Result<Self, Troubled> {
        for name in ["told", "hold"] {
            let made = Command::new("mkfifo").arg(place.join(name)).status().map_err(failed)?;
            if !made.success() {
                return Err(our_fault(format!("mkfifo ended with {made}")));
            }
        }
        let (told, its_writer) = both_ends(&place.join("told"))?;
        let (held, its_holder) = both_ends(&place.join("hold"))?;
        Ok(Self { told: BufReader::new(told), _open: [its_writer, its_holder], _held: held })
    }

    /// Waits until a program holds; gives what it was told.
    pub(super) async fn holds(&mut self) -> Result<String, Troubled> {
        let mut words = String::new();
        self.told.read_line(&mut words).await.map_err(failed)?;
        Ok(words.trim_end().to_owned())
    }
}

impl Shim {
    /// Holds at the call of this number, from 1; at none when there are fewer.
    pub(super) fn holding_at(call: usize) -> Result<Self, Troubled> {
        let folder = tempfile::Builder::new().prefix("standin-shim-").tempdir().map_err(failed)?;
        let place = folder.path();
        let git = on_the_path("git")?;
        let gate = Gate::make(place)?;
        let (place, git) = (place.display(), git.display());
        // `set -C` makes a file only where there is none: so no two calls have one number. When the folder is gone, there is
        // nobody to be called for.
        let text = format!(
            "#!/bin/sh\n\
             set -C\n\
             call=1\n\
             while ! command : 2>/dev/null >'{place}/call-'$call; do\n\
             [ -d '{place}' ] || exit 1\n\
             call=$((call + 1))\n\
             done\n\
             if [ $call -eq {call} ]; then\n\
             printf '%s\\n' \"$*\" >>'{place}/told'\n\
             read -r _ <'{place}/hold'\n\
             exit 1\n\
             fi\n\
             exec '{git}' \"$@\"\n",
        );
        put_program(folder.path(), "git", &text)?;
        let path = path_behind(folder.path())?;
        Ok(Self { _folder: folder, path, gate })
    }

    /// The `PATH` that a runner is to use for what it starts.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Waits until a call holds; gives what it was told.
    pub(super) async fn holds(&mut self) -> Result<String, Troubled> {
        self.gate.holds().await
    }
}

fn failed(error: std::io::Error) -> Troubled {
    our_fault(format!("failed to make a shim: {error}"))
}

fn both_ends(pipe: &Path) -> Result<(Receiver, Sender), Troubled> {
    let reader = OpenOptions::new().open_receiver(pipe).map_err(failed)?;
    let writer = OpenOptions::new().open_sender(pipe).map_err(failed)?;
    Ok((reader, writer))
}

fn folders() -> Vec<PathBuf> {
    std::env::split_paths(&Machine::of_this_process().path_env).collect()
}

pub(super) fn on_the_path(program: &str) -> Result<PathBuf, Troubled> {
    let found = folders().iter().map(|folder| folder.join(program)).find(|it| it.is_file());
    found.ok_or_else(|| our_fault(format!("{program} is not on the PATH: install it")))
}

/// A program that is a script.
pub(super) fn put_program(folder: &Path, name: &str, text: &str) -> Result<(), Troubled> {
    let program = folder.join(name);
    fs::write(&program, text).map_err(failed)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(failed)
}

/// The `PATH` of this process, with this folder before all others.
pub(super) fn path_behind(folder: &Path) -> Result<String, Troubled> {
    let all = std::iter::once(folder.to_owned()).chain(folders());
    let path = std::env::join_paths(all).map_err(|error| our_fault(error.to_string()))?;
    Ok(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt as _;
    use futures_util::stream::FuturesUnordered;
    use harness::clock::within;
    use std::time::Duration;

    const SOON: Duration = Duration::from_secs(20);

    fn git(shim: &Shim) -> tokio::process::Child {
        let mut git = tokio::process::Command::new("git");
        git.arg("--version").env("PATH", shim.path()).stdout(std::process::Stdio::null());
        git.spawn().unwrap()
    }

    #[tokio::test]
    async fn of_calls_that_come_at_once_exactly_one_holds() {
        let mut shim = Shim::holding_at(5).unwrap();
        let mut calls: FuturesUnordered<_> = (0..12)
            .map(|_| {
                let mut call = git(&shim);
                async move { call.wait().await.unwrap().code() }
            })
            .collect();
        let mut codes = Vec::new();
        while codes.len() < 11 {
            codes.push(within(SOON, calls.next()).await.unwrap().unwrap());
        }
        assert_eq!(codes, [Some(0); 11]);
        assert_eq!(within(SOON, shim.holds()).await.unwrap().unwrap(), "--version");
        // The one that holds ends with the harness's end of its pipe, and without a signal.
        drop(shim);
        assert_eq!(within(SOON, calls.next()).await.unwrap(), Some(Some(1)));
    }
}
