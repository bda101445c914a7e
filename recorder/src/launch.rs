//! Starts a server as a user would, but with an environment of its own, and waits until it answers.
//!
//! A program that does not become a server is told apart by how it failed, because that is what its user has to
//! mend: not there, ended, silent, unclear, or not answering.

use crate::capture::Credentials;
use crate::clock::{self, Limits};
use crate::process::{ProcessGroup, Stopped};
use crate::sandbox::{HOME_FOLDERS, Sandbox};
use fixtures::ServerKind;
use fixtures::redact::{Redactor, Secrets, pseudonym};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::Command;

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
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// There is no free port.
    #[error("failed to find a free port on 127.0.0.1: {0}")]
    NoPort(#[source] io::Error),
    /// There is no such program.
    #[error("there is no program {}: install it, or name it by its absolute path", .program.display())]
    NotFound {
        /// As it was given.
        program: PathBuf,
    },
    /// The system refused to start it.
    #[error("failed to start {}: {source}", .program.display())]
    Start {
        /// As it was given.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended.
    #[error("{} ended before it was ready ({status}); its last words:\n{stderr}", .program.display())]
    Ended {
        /// As it was given.
        program: PathBuf,
        /// How.
        status: ExitStatus,
        /// The last lines of stderr.
        stderr: String,
    },
    /// It did not say that it is ready.
    #[error(
        "{} did not say '{expected}' within {} s: is it this server? Its last words:\n{stderr}",
        .program.display(), .limit.as_secs_f32()
    )]
    NotReady {
        /// As it was given.
        program: PathBuf,
        /// The line that was waited for.
        expected: String,
        /// How long.
        limit: Duration,
        /// The last lines of stderr.
        stderr: String,
    },
    /// Its ready line is not the one of this server.
    #[error("{} said {line:?}, where '{expected}' was expected: is it this server?", .program.display())]
    Garbled {
        /// As it was given.
        program: PathBuf,
        /// What it said.
        line: String,
        /// The line that was waited for.
        expected: String,
    },
    /// It said that it is ready, and did not answer as it should.
    #[error("{url}/global/health {problem}; the server's last words:\n{stderr}")]
    NotHealthy {
        /// The server's address.
        url: String,
        /// What happened.
        problem: String,
        /// The last lines of stderr.
        stderr: String,
    },
    /// It could not be ended.
    #[error("failed to end {url}: {source}")]
    Stop {
        /// The server's address.
        url: String,
        /// Why.
        source: io::Error,
    },
}

/// A running server. Dropping it ends it and its children by force; [`Server::stop`] asks first.
#[derive(Debug)]
pub struct Server {
    group: ProcessGroup,
    url: String,
    credentials: Credentials,
}

impl Server {
    /// Starts a server in the sandbox and waits until it answers.
    pub async fn launch(spec: &LaunchSpec, sandbox: &Sandbox, limits: &Limits) -> Result<Self, LaunchError> {
        let command = command(spec, sandbox, free_port().map_err(LaunchError::NoPort)?);
        let program = spec.program.clone();
        let mut group = ProcessGroup::start(command).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => LaunchError::NotFound { program },
            _ => LaunchError::Start { program, source },
        })?;
        let url = ready_url(&mut group, spec, limits.ready).await?;
        // Later lines are still read, and dropped.
        group.stdout.close();
        let credentials =
            Credentials { user: spec.server.word().to_owned(), password: spec.password.clone() };
        let mut server = Self { group, url, credentials };
        if let Some(problem) = server.health_problem(limits.health).await {
            // Whether killing succeeded is of no interest beside the problem itself.
            drop(server.group.kill().await);
            let stderr = last_words(&server.group, &spec.password);
            return Err(LaunchError::NotHealthy { url: server.url.clone(), problem, stderr });
        }
        Ok(server)
    }

    /// Its address, `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it asks for.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Asks it to end; after [`Limits::stop`] it and its children are ended.
    pub async fn stop(self, limits: &Limits) -> Result<Stopped, LaunchError> {
        let url = self.url;
        self.group.stop(limits.stop).await.map_err(|source| LaunchError::Stop { url, source })
    }

    async fn health_problem(&self, limit: Duration) -> Option<String> {
        let ask = async {
            let client = reqwest::Client::builder().no_proxy().build()?;
            let request = client
                .get(format!("{}/global/health", self.url))
                .basic_auth(&self.credentials.user, Some(&self.credentials.password));
            request.send().await
        };
        match clock::within(limit, ask).await {
            Some(Ok(response)) if response.status().is_success() => None,
            Some(Ok(response)) => Some(format!("answered {}", response.status())),
            Some(Err(error)) => Some(format!("could not be asked: {}", crate::capture::causes(&error))),
            None => Some(format!("did not answer within {} s", limit.as_secs_f32())),
        }
    }
}

/// Both real servers try their usual port first when they are given port 0, and would meet the user's own server
/// there. So a free port is chosen here.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn command(spec: &LaunchSpec, sandbox: &Sandbox, port: u16) -> Command {
    let prefix = spec.server.env_prefix();
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .args(["serve", "--hostname", "127.0.0.1", "--port", &port.to_string()])
        .current_dir(sandbox.workspace())
        .env_clear()
        .env("PATH", &spec.path_env)
        .env("HOME", sandbox.home())
        .env("LANG", "C.UTF-8")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        // OpenCode installs a package into every fresh home. While it does, it neither is offline nor ends when asked.
        .env("npm_config_offline", "true")
        .env("KILO_TELEMETRY_LEVEL", "off")
        .env("KILO_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env(format!("{prefix}_SERVER_PASSWORD"), &spec.password)
        .env(
            format!("{prefix}_CONFIG_CONTENT"),
            server_config(&spec.model_url, sandbox.config()).to_string(),
        );
    for (name, place) in HOME_FOLDERS {
        command.env(name, sandbox.home().join(place));
    }
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command
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
            LaunchError::Garbled { program, line: quoted(&line, &spec.password), expected }
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
        words => quoted(&words, password),
    }
}

/// A program may say its password, or the key of somebody else; messages don't.
fn quoted(words: &str, password: &str) -> String {
    let mut secrets = Secrets::default();
    secrets.add(password);
    let hidden = match password {
        "" => words.to_owned(),
        password => words.replace(password, &pseudonym(password)),
    };
    Redactor::new(&secrets).text(&hidden)
}

#[cfg(test)]
mod tests;
