//! Servers as programs of their own, each in a fresh home: how long they take until they are ready, and what they hold.

use crate::pinned;
use crate::start_up;
use fixtures::{ServerKind, catalog};
use harness::machine::Machine;
use recorder::group::Group;
use recorder::sandbox::Sandbox;
use serde_json::Value;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader};

/// No server is this slow to begin.
const LONGEST: Duration = Duration::from_secs(60);
/// Whose files the folder has that they are started in.
const SCENARIO: &str = "text/welcome";

/// A server that is measured.
#[derive(Debug, Clone)]
pub(super) struct Contender {
    pub(super) name: &'static str,
    program: PathBuf,
    args: &'static [&'static str],
}

/// What is built here.
pub(super) struct Built {
    standin: PathBuf,
    bare: PathBuf,
}

/// One that runs, with what is kept of it.
pub(super) struct Running {
    group: Group,
    pub(super) place: SocketAddr,
    /// From its start to its ready line.
    pub(super) took: Duration,
    /// Deleted after it.
    _sandbox: Sandbox,
}

/// Any port; to the real commands 0 is the usual one.
const SERVE: &[&str] = &["serve", "--port", "0.5"];
const AS_KILO: &[&str] = &["as", "kilo", "serve", "--port", "0.5"];
const AS_OPENCODE: &[&str] = &["as", "opencode", "serve", "--port", "0.5"];

impl Built {
    /// Builds the stand-in as users have it, and the server that it is measured beside. Each by a command of its own:
    /// together they would have other features.
    pub(super) fn now(root: &Path) -> Result<Self, String> {
        let bare = [
            "cargo",
            "build",
            "--release",
            "--locked",
            "--package",
            "mock-server",
            "--example",
            "bare_server",
        ];
        Ok(Self {
            standin: program(root, start_up::BUILD, "standin")?,
            bare: program(root, &bare, "bare_server")?,
        })
    }

    pub(super) fn bare(&self) -> Contender {
        Contender { name: "bare hyper", program: self.bare.clone(), args: &[] }
    }

    /// The stand-in under the name of a server.
    pub(super) fn stand_in(&self, server: ServerKind) -> Contender {
        let (name, args) = match server {
            ServerKind::Kilo => ("stand-in as kilo", AS_KILO),
            ServerKind::Opencode => ("stand-in as opencode", AS_OPENCODE),
        };
        Contender { name, program: self.standin.clone(), args }
    }
}

/// Builds a program, and tells where it is.
fn program(root: &Path, build: &[&str], name: &str) -> Result<PathBuf, String> {
    let told = ["--message-format", "json-render-diagnostics"];
    let mut words = build.iter().chain(&told);
    let built = Command::new(words.next().unwrap_or(&"cargo"))
        .args(words)
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    let said = String::from_utf8_lossy(&built.stdout);
    let artifacts: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of_name = artifacts.iter().filter(|one| one["target"]["name"] == name);
    let program = of_name.filter_map(|one| one["executable"].as_str()).next();
    program.map(PathBuf::from).ok_or_else(|| format!("{name} could not be built"))
}

/// The real server, which is installed when it is not there.
pub(super) fn real(server: ServerKind, npm_dir: &Path, machine: &Machine) -> Result<Contender, String> {
    let name = match server {
        ServerKind::Kilo => "real kilo",
        ServerKind::Opencode => "real opencode",
    };
    let program = pinned::program(server, npm_dir, machine)?;
    Ok(Contender { name, program: program.path, args: SERVE })
}

impl Contender {
    /// Starts it, and waits until it is ready.
    #[expect(clippy::disallowed_methods, reason = "to measure is to look at the clock")]
    pub(super) async fn started(&self, path_env: &OsString) -> Result<Running, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", self.name);
        let scenario = catalog::scenario(SCENARIO).map_err(|error| failed(&error))?;
        let sandbox = Sandbox::create(&scenario, path_env).map_err(|error| failed(&error))?;
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(self.args)
            .current_dir(sandbox.workspace())
            .env_clear()
            .env("PATH", path_env)
            .env("HOME", sandbox.home())
            .env("TMPDIR", sandbox.home().join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("npm_config_offline", "true")
            .env("KILO_TELEMETRY_LEVEL", "off")
            .env("KILO_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let begun = Instant::now();
        let mut group = Group::start(command).map_err(|error| failed(&error))?;
        let stdout = group.take_stdout().ok_or_else(|| failed(&"it has no output"))?;
        let mut lines = BufReader::new(stdout).lines();
        let ready = async {
            while let Some(line) = lines.next_line().await.map_err(|error| failed(&error))? {
                if let Some((_, url)) = line.split_once(start_up::READY) {
                    return Ok(url.to_owned());
                }
            }
            Err(failed(&"it ended before it was ready"))
        };
        let url = recorder::clock::within(LONGEST, ready).await;
        let took = begun.elapsed();
        let url =
            url.ok_or_else(|| failed(&format!("it was not ready within {} s", LONGEST.as_secs())))??;
        let place = url.trim().trim_start_matches("http://").parse();
        let place = place.map_err(|_| failed(&format!("this is no address: {url}")))?;
        Ok(Running { group, place, took, _sandbox: sandbox })
    }
}

impl Running {
    /// What it holds now, where the system tells.
    pub(super) fn holds(&self) -> Result<Held, String> {
        let folder = PathBuf::from(format!("/proc/{}", self.group.number()));
        let failed = |error: std::io::Error| format!("failed to read {}: {error}", folder.display());
        let status = std::fs::read_to_string(folder.join("status")).map_err(failed)?;
        let number = |key: &str| -> u32 {
            let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
        };
        let bytes = |key: &str| 1024.0 * f64::from(number(key));
        let files = std::fs::read_dir(folder.join("fd")).map_err(failed)?.count();
        Ok(Held { own: bytes("RssAnon"), resident: bytes("VmRSS"), threads: number("Threads"), files })
    }

    /// Ends it and its children.
    pub(super) async fn end(mut self) -> Result<(), String> {
        self.group.kill().await.map(drop).map_err(|error| format!("failed to end a server: {error}"))
    }
}

/// What a process holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Held {
    /// Memory that is its own, in bytes.
    pub(super) own: f64,
    /// With the pages of its program and of the system's libraries, which the system maps as it likes and takes back when
    /// it needs them.
    pub(super) resident: f64,
    pub(super) threads: u32,
    /// Open files, sockets among them.
    pub(super) files: usize,
}

/// The middle one.
pub(super) fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or_default()
}
