//! Which release a server is: it says so at `/global/health`, or, where an old one has no such place, to who asks its
//! program.

use super::{LaunchSpec, find, surround};
use crate::capture::Credentials;
use crate::clock::{self, Limits};
use crate::process::{ProcessGroup, gated};
use crate::sandbox::Sandbox;
use crate::server_log::without_secrets;
use reqwest::StatusCode;
use serde_json::Value;
use std::time::Duration;

/// Why a server did not say its version.
#[derive(Debug)]
pub(super) enum Unhealthy {
    /// It knows no `/global/health`, or says so in its way: OpenCode's before 1.1 pass what they don't know on to the
    /// network. What is said of it.
    Unknown(String),
    /// It is not well.
    Ill(String),
}

impl Unhealthy {
    pub(super) fn problem(self) -> String {
        match self {
            Self::Unknown(problem) | Self::Ill(problem) => problem,
        }
    }
}

/// The version of a server that says it is healthy, or what is wrong with it.
pub(super) async fn healthy_version(
    url: &str,
    credentials: &Credentials,
    limit: Duration,
) -> Result<String, Unhealthy> {
    let ask = async {
        let client = reqwest::Client::builder().no_proxy().build()?;
        let request = client
            .get(format!("{url}/global/health"))
            .basic_auth(&credentials.user, Some(&credentials.password));
        let response = request.send().await?;
        Ok::<_, reqwest::Error>((response.status(), response.text().await?))
    };
    let (status, body) = match clock::within(limit, ask).await {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => {
            return Err(Unhealthy::Ill(format!("could not be asked: {}", crate::capture::causes(&error))));
        }
        None => return Err(Unhealthy::Ill(format!("did not answer within {} s", limit.as_secs_f32()))),
    };
    if matches!(status, StatusCode::NOT_FOUND | StatusCode::INTERNAL_SERVER_ERROR) {
        return Err(Unhealthy::Unknown(format!("answered {status}")));
    }
    if !status.is_success() {
        return Err(Unhealthy::Ill(format!("answered {status}")));
    }
    let health: Value = serde_json::from_str(&body).unwrap_or_default();
    match health["version"].as_str() {
        Some(version) if health["healthy"] == true && is_version(version) => Ok(version.to_owned()),
        _ => Err(Unhealthy::Ill(format!(
            "answered {}, where {{\"healthy\":true,\"version\":…}} was expected: is it this server?",
            without_secrets(&body.chars().take(200).collect::<String>(), &credentials.password)
        ))),
    }
}

/// It becomes part of a file's name, so nothing else may hide in it.
fn is_version(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
    text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(is_allowed)
}

/// What the program answers to `--version`, if that is one.
pub(super) async fn told_version(spec: &LaunchSpec, sandbox: &Sandbox, limits: &Limits) -> Option<String> {
    let mut command = gated(&find(&spec.program, &spec.path_env).ok()?);
    command.args(&spec.args).arg("--version");
    surround(&mut command, spec.server, &spec.model_url, sandbox, &spec.path_env);
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    let mut group = ProcessGroup::start(command, sandbox.guardian(), None).await.ok()?;
    let line = clock::within(limits.ready, group.stdout.recv()).await.flatten();
    // Whether killing succeeded is of no interest beside what it said.
    drop(group.kill().await);
    line.map(|line| line.trim().to_owned()).filter(|line| is_version(line))
}
