//! What the reference asks of others: git, docker, the server, the disk.

use super::asks::{listen, question};
use super::{Phase, Pipeline, Server};
use crate::git::alone;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tokio::process::Command;

/// What is done with a question that nobody is there to answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unasked {
    /// It is answered with no.
    SaysNo,
    /// A mutant says yes.
    SaysYes,
    /// Another one waits.
    Waits,
}

/// What came of an agent's work.
pub(super) enum Said {
    /// It is done; these are its last words.
    Words(String),
    /// The server says that it is not, in whatever words.
    Failed,
    /// It has asked for leave, and nobody is there.
    Asks,
}

/// Sends an agent to work, and waits until it is done. What it asks is answered with no: there is nobody.
pub(super) async fn prompt(
    asked: &Pipeline,
    phase: &Phase,
    place: &Path,
    plan: Option<&str>,
    unasked: Unasked,
) -> Result<Said, String> {
    let Server { url, user, password } = &asked.server;
    let client = reqwest::Client::builder().no_proxy().build().map_err(|error| error.to_string())?;
    let post = |path: String, body: Value| {
        let request = client.post(format!("{url}{path}")).query(&[("directory", place.to_string_lossy())]);
        let request = request.basic_auth(user, Some(password)).json(&body);
        async move {
            let answer = request.send().await.map_err(|error| error.to_string())?;
            let is_success = answer.status().is_success();
            let body: Value = answer.json().await.unwrap_or_default();
            Ok::<_, String>((is_success, body))
        }
    };
    let (_, session) = post("/session".to_owned(), json!({"title": asked.issue})).await?;
    let Some(id) = session["id"].as_str() else {
        return Err(format!("the server makes no session: {session}"));
    };
    let plan = plan.map(|plan| format!("\n\nThe plan, as it was handed over:\n\n{plan}")).unwrap_or_default();
    let text = format!("Issue {}, phase {}. Do your part.{plan}", asked.issue, phase.phase);
    let body = json!({"agent": phase.agent, "parts": [{"type": "text", "text": text}]});
    let events = listen(&client, asked, place).await?;
    let question = async {
        match unasked {
            Unasked::Waits => std::future::pending().await,
            _ => question(events, id).await,
        }
    };
    let work = post(format!("/session/{id}/message"), body);
    tokio::pin!(work, question);
    let (is_success, said) = tokio::select! {
        said = &mut work => said?,
        which = question => {
            let yes = unasked == Unasked::SaysYes;
            let reply = json!({"reply": if yes { "once" } else { "reject" }});
            post(format!("/permission/{which}/reply"), reply).await?;
            let said = work.await?;
            if !yes {
                return Ok(Said::Asks);
            }
            said
        }
    };
    if !is_success || said.pointer("/info/error").is_some() {
        return Ok(Said::Failed);
    }
    let mut parts = said["parts"].as_array().into_iter().flatten();
    let last = parts.rfind(|part| part["type"] == "text").and_then(|part| part["text"].as_str());
    Ok(Said::Words(last.unwrap_or_default().to_owned()))
}

/// git, in this folder, found where the pipeline says.
pub(super) async fn git(asked: &Pipeline, folder: &Path, args: &[&str]) -> Result<String, String> {
    said(asked, "git", folder, args).await
}

/// A program, in this folder, found where the pipeline says.
pub(super) async fn said(
    asked: &Pipeline,
    program: &str,
    folder: &Path,
    args: &[&str],
) -> Result<String, String> {
    let said = bytes_of(asked, program, folder, args).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

/// The same, byte for byte.
pub(super) async fn bytes_of(
    asked: &Pipeline,
    program: &str,
    folder: &Path,
    args: &[&str],
) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    if let Some(path) = &asked.path {
        command.env("PATH", path);
    }
    alone(command.as_std_mut());
    command.args(args).current_dir(folder).kill_on_drop(true);
    let output = command.output().await.map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{program} {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr))),
    }
}

pub(super) fn put(path: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(told)?;
    let partial = path.with_extension("partial");
    fs::write(&partial, text).and_then(|()| fs::rename(&partial, path)).map_err(told)
}
