//! An adapter for runners that are commands: a line for the shell for each thing that is asked, and nothing to program.

use crate::adapter::{Adapter, Screen};
use crate::shell::{ended, filled};
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::process::Command;

/// The lines of a runner. `{issue}`, `{folder}`, `{server}`, `{user}`, `{password}`, `{phases}`, `{agent}`, `{file}` and
/// `{ask_limit_s}` are filled in, and are in the environment as `PIPELINE_ISSUE` and so on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commands {
    /// What the runner is called.
    #[serde(default = "nameless")]
    pub name: String,
    /// Begins the pipeline of an issue.
    pub run: String,
    /// Goes on with it.
    pub resume: Option<String>,
    /// Sweeps what is left of it.
    pub cleanup: Option<String>,
    /// Prints how far it is, as JSON: `{"phase": …, "agent": …, "status": …}`.
    pub status: Option<String>,
    /// Takes back what an agent did to a file.
    pub revert: Option<String>,
    /// What it can do, without the `pipeline.` before each word; `checkpoint` at least.
    pub can: Vec<String>,
    /// What it declares, as `policy = "seed"`.
    #[serde(default)]
    pub declares: BTreeMap<String, String>,
}

fn nameless() -> String {
    "a runner".to_owned()
}

impl Adapter for Commands {
    fn introduce(&self) -> Value {
        let can: Vec<String> = self.can.iter().map(|word| format!("pipeline.{word}")).collect();
        json!({"name": self.name, "clock": "real", "capabilities": can, "declares": self.declares})
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            let line = match method.as_str() {
                "pipeline/run" => Some(&self.run),
                "pipeline/resume" => self.resume.as_ref(),
                "pipeline/cleanup" => self.cleanup.as_ref(),
                "pipeline/status" => self.status.as_ref(),
                "diff/revertFile" => self.revert.as_ref(),
                _ => None,
            };
            let line = line.ok_or_else(|| RpcError::unsupported(&method))?;
            let words = words(&params);
            let mut command = Command::new("/bin/sh");
            command.args(["-c", &filled(line, &words)]).kill_on_drop(true);
            if let Some(folder) = params["folder"].as_str() {
                command.current_dir(folder);
            }
            if let Some(path) = params["path"].as_str() {
                command.env("PATH", path);
            }
            for (name, value) in &words {
                command.env(format!("PIPELINE_{}", name.to_ascii_uppercase()), value);
            }
            let output = command.output().await.map_err(|error| RpcError::failed(error.to_string()))?;
            let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
            if !said.trim().is_empty() {
                screen.show(json!({"kind": "notice", "text": said}));
            }
            match output.status.success() {
                true if method == "pipeline/status" => serde_json::from_slice(&output.stdout)
                    .map_err(|error| RpcError::failed(format!("what it prints is no JSON: {error}"))),
                true => Ok(json!({"status": "success"})),
                false => Err(RpcError::failed(ended(output.status, &said))),
            }
        })
    }
}

/// What stands for what. Phases are told as `name:agent`, with a `!` where the agent edits destructively, and `@image` where
/// it works beside a container.
fn words(params: &Value) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let phase = |phase: &Value| {
        let mark = if phase["destructive"] == true { "!" } else { "" };
        let image = phase["image"].as_str().map(|image| format!("@{image}")).unwrap_or_default();
        format!("{}:{}{mark}{image}", text(&phase["phase"]), text(&phase["agent"]))
    };
    let phases: Vec<String> = params["phases"].as_array().into_iter().flatten().map(phase).collect();
    let server = &params["server"];
    vec![
        ("issue", text(&params["issue"])),
        ("folder", text(&params["folder"])),
        ("server", text(&server["url"])),
        ("user", text(&server["user"])),
        ("password", text(&server["password"])),
        ("phases", phases.join(" ")),
        ("agent", text(&params["agent"])),
        ("file", text(&params["file"])),
        ("ask_limit_s", params["askLimitS"].to_string()),
    ]
}
