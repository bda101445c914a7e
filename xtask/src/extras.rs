//! What `cargo xtask test --extra` knows: for each word, how to find out whether its tool is here, and what to run
//! with it. A word whose tool is missing is untestable; it never counts as a pass.

use crate::adapters::{self, Client};
use crate::outcome::Outcome;
use crate::{clients, control_clients, package, page, real, step};
use clap::ValueEnum;
use harness::say;
use std::fmt;
use std::path::Path;

/// A part of the tests that needs more than a Rust toolchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Extra {
    /// The control API's client and adapters in TypeScript, and acpx: node, and npm for the compiler and the SDKs.
    Node,
    /// The control API's client and adapters in Python: python3, and pip for the SDK.
    Python,
    /// The real servers' screens as clients: tmux, node, and an npm that can install both.
    Tmux,
    /// The page of a report in a browser: Chromium.
    Chromium,
    /// The real servers, and their own commands as clients: an npm that can install them.
    Real,
    /// Real clients of the real servers: node, and an npm that can install both.
    Clients,
    /// The same clients through the recording proxy.
    Proxied,
    /// The packages of a release, installed from their files: node, npm and python3.
    Packages,
}

impl fmt::Display for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Tmux => "tmux",
            Self::Chromium => "chromium",
            Self::Real => "real",
            Self::Clients => "clients",
            Self::Proxied => "proxied",
            Self::Packages => "packages",
        })
    }
}

/// Probes the tools of a word, then runs its steps. What can't be tested is printed here, at once.
pub(crate) fn run(extra: Extra, root: &Path) -> Outcome {
    say!("\n== --extra {extra}");
    let outcome = perform(extra, root, step::answers);
    if let Outcome::Untestable(line) = &outcome {
        say!("{line}");
    }
    outcome
}

fn perform(extra: Extra, root: &Path, answers: fn(&[&str]) -> bool) -> Outcome {
    let outcome = match probe(extra, answers) {
        Err(why) => Outcome::Untestable(why.into()),
        Ok(()) => steps(extra, root),
    };
    match outcome {
        Outcome::Untestable(why) => Outcome::Untestable(format!("untestable: {extra}: {why}")),
        known => known,
    }
}

/// The tools are here, or: why they are not, and how to get them.
fn probe(extra: Extra, answers: fn(&[&str]) -> bool) -> Result<(), &'static str> {
    let version = |program| answers(&[program, "--version"]);
    let (found, missing) = match extra {
        Extra::Node => (
            version("node") && version("npm"),
            "node or npm is not on the PATH; install Node.js, which brings both",
        ),
        Extra::Python => (
            version("python3"),
            "python3 is not on the PATH; install Python with the system's package manager",
        ),
        Extra::Tmux if !answers(&["tmux", "-V"]) => {
            (false, "tmux is not on the PATH; install it with the system's package manager")
        }
        Extra::Chromium => (
            page::BROWSERS.into_iter().any(version),
            "neither chromium, chromium-browser nor google-chrome is on the PATH; install one of them",
        ),
        Extra::Packages => (
            version("node") && version("npm") && version("python3"),
            "node, npm or python3 is not on the PATH; install Node.js, which brings the first two, and Python",
        ),
        Extra::Real | Extra::Clients | Extra::Proxied | Extra::Tmux => (
            (extra == Extra::Real || version("node")) && answers(&NPM_KNOWS_A_REAL_SERVER),
            "npm is missing or can't reach its registry; install Node.js and see that \
             `npm view opencode-ai version` answers",
        ),
    };
    if found { Ok(()) } else { Err(missing) }
}

/// Asks the registry that npm is set up with for one package that the tests need. Without retries, or a machine
/// that is offline would wait for minutes.
const NPM_KNOWS_A_REAL_SERVER: [&str; 6] =
    ["npm", "view", "opencode-ai", "version", "--fetch-retries=0", "--fetch-timeout=20000"];

fn steps(extra: Extra, root: &Path) -> Outcome {
    match extra {
        Extra::Real => both(real::run(root), &[Client::KiloRun, Client::OpencodeRun], root),
        Extra::Clients | Extra::Proxied => {
            clients::run(&clients::Arguments::everything(extra == Extra::Proxied), root)
        }
        Extra::Node => both(
            control_clients::typescript(root),
            &[Client::Typescript, Client::AcpTypescript, Client::Acpx],
            root,
        ),
        Extra::Python => both(
            control_clients::python(root),
            &[Client::Python, Client::AcpPython, Client::Guard, Client::PipelineRunner],
            root,
        ),
        Extra::Chromium => page::run(root),
        Extra::Packages => package::installed::run(root),
        Extra::Tmux => clients::run(&clients::Arguments::screens(), root),
    }
}

/// What came of a step, and of these clients in front of the harness.
fn both(step: Outcome, clients: &[Client], root: &Path) -> Outcome {
    Outcome::of_all([step, adapters::run(&adapters::Arguments::of(clients), root)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn untestable(extra: Extra, answers: fn(&[&str]) -> bool) -> String {
        match perform(extra, Path::new("."), answers) {
            Outcome::Untestable(line) => line,
            other => panic!("{extra} has nothing to run, and yet: {other:?}"),
        }
    }

    #[test]
    fn a_missing_tool_is_named_with_how_to_get_it() {
        assert_eq!(
            untestable(Extra::Tmux, |_| false),
            "untestable: tmux: tmux is not on the PATH; install it with the system's package manager"
        );
        assert!(
            untestable(Extra::Tmux, |line| line[0] == "tmux").starts_with("untestable: tmux: npm is missing")
        );
        assert_eq!(
            untestable(Extra::Node, |line| line[0] == "node"),
            "untestable: node: node or npm is not on the PATH; install Node.js, which brings both"
        );
    }

    #[test]
    fn a_word_is_shown_as_it_is_typed() {
        for extra in Extra::value_variants() {
            assert_eq!(
                extra.to_possible_value().map(|value| value.get_name().to_owned()),
                Some(extra.to_string())
            );
        }
    }
}
