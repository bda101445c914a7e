//! `cargo xtask package`: what is released of one program: an archive, packages of npm, a wheel of Python, and their
//! checksums. Nothing is published here. docs/release.md says what a platform gets, and what it can't do.

mod archive;
pub(crate) mod installed;
mod npm;
mod wheel;

use crate::outcome::Outcome;
use crate::step;
use harness::say;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What is packed.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The program; without it, it is built for release.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// For which platform, as rustc names it.
    #[arg(long, default_value = HERE, value_parser = platform)]
    target: Platform,
    /// The folder for the packages.
    #[arg(long, value_name = "DIR", default_value = "target/dist")]
    out: PathBuf,
}

/// The platform that this was built on.
const HERE: &str = concat_target();

const fn concat_target() -> &'static str {
    match (cfg!(target_os = "macos"), cfg!(target_arch = "aarch64"), cfg!(target_env = "musl")) {
        (true, true, _) => "aarch64-apple-darwin",
        (true, false, _) => "x86_64-apple-darwin",
        (false, true, true) => "aarch64-unknown-linux-musl",
        (false, true, false) => "aarch64-unknown-linux-gnu",
        (false, false, true) => "x86_64-unknown-linux-musl",
        (false, false, false) => "x86_64-unknown-linux-gnu",
    }
}

/// A platform, as everybody names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Platform {
    /// As rustc does.
    triple: &'static str,
    /// As node does: its system and its processor.
    node: (&'static str, &'static str),
    /// As pip does.
    wheel: &'static str,
}

/// All platforms that are packed for. A program for musl holds all that it needs and runs on every Linux; one for gnu needs
/// the libc of the machine that built it, so its wheel is for this machine alone.
const PLATFORMS: [Platform; 6] = [
    Platform {
        triple: "x86_64-unknown-linux-musl",
        node: ("linux", "x64"),
        wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    },
    Platform {
        triple: "aarch64-unknown-linux-musl",
        node: ("linux", "arm64"),
        wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    },
    Platform { triple: "x86_64-apple-darwin", node: ("darwin", "x64"), wheel: "macosx_10_12_x86_64" },
    Platform { triple: "aarch64-apple-darwin", node: ("darwin", "arm64"), wheel: "macosx_11_0_arm64" },
    Platform { triple: "x86_64-unknown-linux-gnu", node: ("linux", "x64"), wheel: "linux_x86_64" },
    Platform { triple: "aarch64-unknown-linux-gnu", node: ("linux", "arm64"), wheel: "linux_aarch64" },
];

fn platform(triple: &str) -> Result<Platform, String> {
    PLATFORMS.into_iter().find(|known| known.triple == triple).ok_or_else(|| {
        let known: Vec<&str> = PLATFORMS.iter().map(|known| known.triple).collect();
        format!("nothing is packed for it; there are: {}", known.join(", "))
    })
}

/// The version of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What the packages of npm and of Python are called. The command in them is `standin`.
const NAME: &str = "standin-cli";
/// What they say of themselves.
const ABOUT: &str =
    "A stand-in server, a recorder and a parity harness for programs that talk to coding-agent servers.";
/// Under which terms.
const LICENSE: &str = "MIT OR Apache-2.0";
/// The files that go with the program.
const BESIDE: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A file of a package.
struct Packed {
    path: String,
    bytes: Vec<u8>,
    /// It can be run.
    runs: bool,
}

impl Packed {
    fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), bytes: text.into().into_bytes(), runs: false }
    }

    fn program(path: impl Into<String>, bytes: &[u8]) -> Self {
        Self { path: path.into(), bytes: bytes.to_vec(), runs: true }
    }
}

pub(crate) fn run(arguments: &Arguments, root: &Path) -> Outcome {
    let triple = arguments.target.triple;
    let binary = match &arguments.binary {
        Some(binary) => binary.clone(),
        None => {
            let built = step::run(
                root,
                &["cargo", "build", "--release", "--locked", "--package", "cli", "--target", triple],
                &[],
            );
            if built != Outcome::Holds {
                return built;
            }
            root.join(format!("target/{triple}/release/standin"))
        }
    };
    let out = root.join(&arguments.out);
    match pack(&binary, arguments.target, root, &out) {
        Ok(made) => {
            made.iter().for_each(|path| say!("{}", path.display()));
            Outcome::Holds
        }
        Err(why) => Outcome::Fails(why),
    }
}

/// Packs a program, and says what was made.
pub(crate) fn pack(
    binary: &Path,
    platform: Platform,
    root: &Path,
    out: &Path,
) -> Result<Vec<PathBuf>, String> {
    let program = read(binary)?;
    let beside = BESIDE.iter().map(|name| {
        let bytes = read(&root.join(name))?;
        Ok(Packed { path: (*name).to_owned(), bytes, runs: false })
    });
    let beside: Vec<Packed> = beside.collect::<Result<_, String>>()?;
    fs::create_dir_all(out).map_err(|error| format!("failed to make {}: {error}", out.display()))?;
    let made = [
        archive::pack(&program, &beside, platform)?,
        npm::of_the_platform(&program, &beside, platform)?,
        npm::launcher(&beside)?,
        wheel::pack(&program, &beside, platform)?,
    ];
    let mut sums = String::new();
    let mut paths = Vec::new();
    for (name, bytes) in made {
        let sum = Sha256::digest(&bytes);
        let _ = writeln!(sums, "{}  {name}", hex(&sum));
        paths.push(write(out, &name, &bytes)?);
    }
    paths.push(write(out, &format!("SHA256SUMS-{}", platform.triple), sums.as_bytes())?);
    Ok(paths)
}

/// This machine's platform.
pub(crate) fn here() -> Result<Platform, String> {
    platform(HERE)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("failed to read {}: {error}", path.display()))
}

fn write(out: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = out.join(name);
    fs::write(&path, bytes).map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    Ok(path)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
