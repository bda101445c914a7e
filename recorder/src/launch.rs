//! Starts a server as a user would, but with an environment of its own, and waits until it answers.
//!
//! A program that does not become a server is told apart by how it failed, because that is what its user has to
//! mend: not there, ended, silent, unclear, or not answering.

use crate::capture::Credentials;
use crate::clock::{self, Limits};
use crate::process::{ProcessGroup, Stopped, gated};
use crate::sandbox::{HOME_FOLDERS, Sandbox};
use crate::server_log::{ServerLog, without_secrets};
use fixtures::ServerKind;
use fixtures::scenario::Ending;
use serde_json::{Map, Value, json};
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;

mod error;
mod version;

pub use error::LaunchError;
use version::{Unhealthy, healthy_version, told_version};

/// The model's key: the scripted model takes any, so this one opens nothing.
const MODEL_KEY: &str = "scripted";

/// What to start.
#[derive(Clone)]
pub struct LaunchSpec {
    /// The program: an absolute path, or a name on `path_env`.
    pub program: PathBuf,
    /// Arguments before `serve --hostname 127.0.0.1 --port N`.
    pub args: Vec<String>,
    /// Which server it is, or behaves like.
    pub server: ServerKind,
    /// Address of the model's endpoint, without `/v1`.
    pub model_url: String,
    /// The password that the server shall ask for; make a new one for each run.
    pub password: String,
    /// Added to the server's environment; wins over what stands there.
    pub env: Vec<(String, String)>,
    /// The server's `PATH`.
    pub path_env: OsString,
    /// Keep what the server says, and let it say what it does.
    pub log: Option<ServerLog>,
}

/// A running server. Dropping it ends it and its children by force; [`Server::stop`] asks first.
#[derive(Debug)]
pub struct Server {
    group: ProcessGroup,
    url: String,
    version: String,
    credentials: Credentials,
}

impl Server {
    /// Starts a server in the sandbox and waits until it answers.
    pub async fn launch(spec: &LaunchSpec, sandbox: &Sandbox, limits: &Limits) -> Result<Self, LaunchError> {
        // Between the choice of a port and its use somebody else may take it.
        const OTHER_PORTS: usize = 2;
        for _ in 0..OTHER_PORTS {
            match Self::launch_on(free_port()?, spec, sandbox, limits).await {
                Err(LaunchError::PortTaken { .. }) => {}
                launched => return launched,
            }
        }
        Self::launch_on(free_port()?, spec, sandbox, limits).await
    }

    async fn launch_on(
        port: u16,
        spec: &LaunchSpec,
        sandbox: &Sandbox,
        limits: &Limits,
    ) -> Result<Self, LaunchError> {
        let program = find(&spec.program, &spec.path_env)?;
        let command = command(spec, &program, sandbox, port);
        let mut group = ProcessGroup::start(command, sandbox.guardian(), spec.log.clone())
            .await
            .map_err(|source| LaunchError::Start { program, source })?;
        let url = match ready_url(&mut group, spec, limits.ready).await {
            // The program is ended by now, so it is not its own port that is found taken.
            Err(LaunchError::Ended { program, stderr, .. }) if is_taken(port) => {
                return Err(LaunchError::PortTaken { program, port, stderr });
            }
            url => url?,
        };
        // Later lines are still read, and dropped.
        group.stdout.close();
        let credentials =
            Credentials { user: spec.server.word().to_owned(), password: spec.password.clone() };
        let version = match healthy_version(&url, &credentials, limits.health).await {
            Err(Unhealthy::Unknown(problem)) => told_version(spec, sandbox, limits).await.ok_or(problem),
            other => other.map_err(Unhealthy::problem),
        };
        match version {
            Ok(version) => Ok(Self { group, url, version, credentials }),
            Err(problem) => {
                // Whether killing succeeded is of no interest beside the problem itself.
                drop(group.kill().await);
                let stderr = last_words(&group, &spec.password);
                Err(LaunchError::NotHealthy { url, problem, stderr })
            }
        }
    }

    /// Its address, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The release that it says it is, `7.7.7`; usable as part of a file's name.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What it asks for.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Ends it by this signal, and starts it again at the same address.
    pub async fn restart(
        mut self,
        ending: Ending,
        spec: &LaunchSpec,
        sandbox: &Sandbox,
        limits: &Limits,
    ) -> Result<Self, LaunchError> {
        let port = self.url.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = port.map_or_else(free_port, Ok)?;
        match ending {
            Ending::Term => {
                let stopped = self.group.stop_leader(limits.stop).await;
                stopped.map_err(|source| LaunchError::Stop { url: self.url, source })?;
            }
            Ending::Kill => {
                let killed = self.group.kill().await;
                killed.map_err(|source| LaunchError::Stop { url: self.url, source })?;
            }
        }
        Self::launch_on(port, spec, sandbox, limits).await
    }

    /// Asks it to end; after [`Limits::stop`] it and its children are ended.
    pub async fn stop(self, limits: &Limits) -> Result<Stopped, LaunchError> {
        let url = self.url;
        self.group.stop(limits.stop).await.map_err(|source| LaunchError::Stop { url, source })
    }
}

/// The program as a path: its own, or the first of its name on the `PATH`.
pub(crate) fn find(program: &Path, path_env: &OsStr) -> Result<PathBuf, LaunchError> {
    let candidates: Vec<PathBuf> = if program.components().count() > 1 {
        vec![program.to_owned()]
    } else {
        std::env::split_paths(path_env).map(|folder| folder.join(program)).collect()
    };
    let is_program = |path: &&PathBuf| {
        path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if let Some(found) = candidates.iter().find(is_program) {
        return Ok(found.clone());
    }
    let program = program.to_owned();
    match candidates.into_iter().find(|path| path.exists()) {
        Some(program) => Err(LaunchError::NotExecutable { program }),
        None => Err(LaunchError::NotFound { program }),
    }
}

/// Both real servers try their usual port first when they are given port 0, and would meet the user's own server
/// there. So a free port is chosen here.
pub(crate) fn free_port() -> Result<u16, LaunchError> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound.map(|address| address.port()).map_err(LaunchError::NoPort)
}

fn is_taken(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

fn command(spec: &LaunchSpec, program: &Path, sandbox: &Sandbox, port: u16) -> Command {
    let mut command = gated(program);
    command
        .args(&spec.args)
        .args(["serve", "--hostname", "127.0.0.1", "--port", &port.to_string()])
        .args(spec.log.as_ref().map(|_| "--print-logs"));
    surround(&mut command, spec.server, &spec.model_url, sandbox, &spec.path_env);
    command
        .env(format!("{}_SERVER_PASSWORD", spec.server.env_prefix()), &spec.password)
        .envs(spec.env.iter().map(|(name, value)| (name, value)));
    command
}

/// The folder and the environment of a program that is at home in a sandbox.
pub(crate) fn surround(
    command: &mut Command,
    server: ServerKind,
    model_url: &str,
    sandbox: &Sandbox,
    path_env: &OsStr,
) {
    command
        .current_dir(sandbox.workspace())
        .env_clear()
        .env("PATH", path_env)
        .env("HOME", sandbox.home())
        .env("LANG", "C.UTF-8")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // OpenCode installs a package into every fresh home. While it does, it neither is offline nor ends when asked.
        .env("npm_config_offline", "true")
        .env("KILO_TELEMETRY_LEVEL", "off")
        .env("KILO_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env(
            format!("{}_CONFIG_CONTENT", server.env_prefix()),
            server_config(model_url, sandbox.config()).to_string(),
        );
    for (name, place) in HOME_FOLDERS {
        command.env(name, sandbox.home().join(place));
    }
}

/// The configuration of a server whose only model is the scripted one; the scenario's own part wins.
fn server_config(model_url: &str, scenario: &Map<String, Value>) -> Value {
    let mut config = json!({
        "model": "fake/fake",
        "small_model": "fake/fake",
        "provider": { "fake": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Fake",
            "options": { "baseURL": format!("{model_url}/v1"), "apiKey": MODEL_KEY },
            "models": { "fake": {
                "name": "Fake",
                "tool_call": true,
                "limit": { "context": 100_000, "output": 10_000 },
            } },
        } },
        "autoupdate": false,
        "share": "disabled",
    });
    merge(&mut config, &Value::Object(scenario.clone()));
    config
}

/// Puts `from` over `into`: tables are merged, everything else is replaced.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Waits for the ready line. Whatever goes wrong, the program is ended before the error is returned.
async fn ready_url(
    group: &mut ProcessGroup,
    spec: &LaunchSpec,
    limit: Duration,
) -> Result<String, LaunchError> {
    let before_address = format!("{} server listening on ", spec.server.word());
    let expected = format!("{before_address}http://127.0.0.1:PORT");
    let program = spec.program.clone();
    let leader = group.leader();
    let line = clock::within(limit, async {
        tokio::select! {
            biased;
            line = ready_line(group) => Some(line),
            () = ProcessGroup::leader_ended(leader) => None,
        }
    })
    .await;
    let address = line.as_ref().and_then(Option::as_ref).and_then(|line| address(line, &before_address));
    if let Some(url) = address {
        return Ok(url.to_owned());
    }
    let ended = group.kill().await;
    let stderr = last_words(group, &spec.password);
    Err(match (line, ended) {
        (_, Err(source)) => LaunchError::Start { program, source },
        (Some(Some(line)), _) => {
            LaunchError::Garbled { program, line: without_secrets(&line, &spec.password), expected }
        }
        (Some(None), Ok(status)) => LaunchError::Ended { program, status, stderr },
        (None, _) => LaunchError::NotReady { program, expected, limit, stderr },
    })
}

/// The first line of stdout that speaks of listening. Never ready when stdout ends without it.
async fn ready_line(group: &mut ProcessGroup) -> String {
    while let Some(line) = group.stdout.recv().await {
        if line.contains("listening") {
            return line;
        }
    }
    std::future::pending().await
}

/// The address in a ready line: loopback, with a port, and nothing after it.
fn address<'a>(line: &'a str, before_address: &str) -> Option<&'a str> {
    let address = line.trim().strip_prefix(before_address)?;
    let port: u16 = address.strip_prefix("http://127.0.0.1:")?.parse().ok()?;
    (port != 0).then_some(address)
}

/// What a program said last, for a message.
fn last_words(group: &ProcessGroup, password: &str) -> String {
    match group.last_words() {
        words if words.is_empty() => "(none)".to_owned(),
        words => without_secrets(&words, password),
    }
}

#[cfg(test)]
mod tests;
