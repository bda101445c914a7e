//! A careful runner, and mutants of it. It knows git and a server's REST; of the stand-in it knows nothing.

use crate::adapter::{Adapter, Screen};
use crate::git::alone;
use crate::kit::Mutant;
use futures_util::future::BoxFuture;
use harness::protocol::RpcError;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::process::Command;

pub(super) const MUTANTS: &[Mutant] = &[
    Mutant { name: "checkpoint-before-work", about: "says success, and then sends the agent" },
    Mutant { name: "late-checkpoint", about: "tidies up between the merge and the checkpoint" },
    Mutant { name: "restart-from-first", about: "does everything again after a kill" },
    Mutant { name: "skip-failed", about: "a phase with a checkpoint is done, whatever its status" },
    Mutant { name: "newest-by-time", about: "goes on behind the checkpoint with the latest time" },
    Mutant { name: "torn-is-done", about: "a checkpoint is done if its file is there, whole or not" },
    Mutant { name: "wrong-issue", about: "takes checkpoints of issues whose number begins alike" },
    Mutant { name: "missing-field", about: "leaves next_agent out" },
    Mutant { name: "local-time", about: "writes times without a zone" },
    Mutant { name: "no-files", about: "never says which files were changed" },
    Mutant { name: "resume-in-main", about: "sends agents into the person's checkout when it resumes" },
    Mutant { name: "no-fork", about: "makes no way back" },
    Mutant { name: "patch-overwrite", about: "a second diff of an agent replaces the first" },
    Mutant { name: "no-untracked", about: "new files are in no diff" },
    Mutant { name: "merge-on-fail", about: "merges what a failed agent has left" },
    Mutant { name: "reuses-worktree", about: "goes on in a worktree that a killed agent has changed" },
    Mutant { name: "leak-on-kill", about: "sweeps nothing" },
    Mutant { name: "force-remove", about: "sweeps every worktree, whoever works in it" },
    Mutant { name: "unsafe-issue", about: "takes the issue as part of a path as it comes" },
    Mutant { name: "stash-all", about: "makes its way back of what the person has not committed" },
];

/// A fixed point in time will do: no rule of this runner looks at it.
const NOW: &str = "2026-01-01T12:00:00Z";

pub(super) struct Runner {
    mutant: Option<&'static str>,
}

#[derive(Debug, Clone, Deserialize)]
struct Pipeline {
    issue: String,
    folder: PathBuf,
    #[serde(default)]
    server: Server,
    #[serde(default)]
    phases: Vec<Phase>,
    /// The `PATH` for what is started.
    path: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Server {
    url: String,
    user: String,
    password: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Phase {
    phase: String,
    agent: String,
    destructive: bool,
}

impl Adapter for Runner {
    fn introduce(&self) -> Value {
        json!({
            "name": "reference runner", "clock": "real",
            "capabilities": ["pipeline.checkpoint", "pipeline.resume", "pipeline.fork", "pipeline.difflog", "pipeline.worktree"],
            "declares": {"policy": "careful", "failed": "rerun"},
        })
    }

    fn call(
        self: Arc<Self>,
        method: String,
        params: Value,
        _screen: Screen,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        Box::pin(async move {
            if !matches!(method.as_str(), "pipeline/run" | "pipeline/resume" | "pipeline/cleanup") {
                return Err(RpcError::unsupported(&method));
            }
            let asked: Pipeline = serde_json::from_value(params)
                .map_err(|error| RpcError::invalid_params(error.to_string()))?;
            let is_plain =
                asked.issue.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_'));
            if !self.is("unsafe-issue") && (asked.issue.is_empty() || !is_plain) {
                return Err(RpcError::failed(format!("'{}' is no name for an issue", asked.issue)));
            }
            let done = match method.as_str() {
                "pipeline/cleanup" => self.sweep(&asked).await,
                _ => self.go(&asked, method == "pipeline/resume").await,
            };
            done.map_err(RpcError::failed)
        })
    }
}

impl Runner {
    pub(super) fn new(mutant: Option<&'static str>) -> Self {
        Self { mutant }
    }

    fn is(&self, name: &str) -> bool {
        self.mutant == Some(name)
    }

    async fn go(&self, asked: &Pipeline, resumes: bool) -> Result<Value, String> {
        let from = if resumes { self.first_undone(asked) } else { 0 };
        for (at, phase) in asked.phases.iter().enumerate().skip(from) {
            let next = asked.phases.get(at + 1).map(|next| next.agent.as_str());
            if self.is("checkpoint-before-work") {
                self.checkpoint(asked, phase, "success", &[], next)?;
            }
            let done = self.work(asked, phase, resumes).await?;
            if self.is("late-checkpoint") {
                self.remove(asked, phase, done.is_some()).await?;
            }
            // Between the merge and this nothing else is done: a kill there would do the work twice.
            let status = if done.is_some() { "success" } else { "fail" };
            let next = if done.is_some() { next } else { Some(phase.agent.as_str()) };
            self.checkpoint(asked, phase, status, done.as_deref().unwrap_or_default(), next)?;
            if done.is_none() {
                return Ok(json!({"status": "fail", "phase": phase.phase}));
            }
            self.remove(asked, phase, true).await?;
        }
        Ok(json!({"status": "success"}))
    }

    /// The first phase that no whole checkpoint of this issue calls a success.
    fn first_undone(&self, asked: &Pipeline) -> usize {
        if self.is("restart-from-first") {
            return 0;
        }
        if self.is("newest-by-time") {
            let time = |phase: &Phase| self.read(asked, phase).map(|it| it["timestamp"].to_string());
            let newest = (0..asked.phases.len()).filter(|at| time(&asked.phases[*at]).is_some());
            return newest.max_by_key(|at| time(&asked.phases[*at])).map_or(0, |at| at + 1);
        }
        let is_done = |phase: &Phase| match self.read(asked, phase) {
            Some(says) => {
                self.is("skip-failed")
                    || self.is("torn-is-done") && says.is_null()
                    || says["status"] == "success" && says["phase"] == phase.phase.as_str()
            }
            None => false,
        };
        asked.phases.iter().position(|phase| !is_done(phase)).unwrap_or(asked.phases.len())
    }

    /// The checkpoint of a phase; one that can't be read is null.
    fn read(&self, asked: &Pipeline, phase: &Phase) -> Option<Value> {
        let folder = asked.folder.join(".kilo/logs/checkpoints");
        let own = format!("{}-{}.json", asked.issue, phase.phase);
        let mut names: Vec<String> = vec![own];
        if self.is("wrong-issue") {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            names.extend(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()));
            names.retain(|name| {
                name.starts_with(&asked.issue) && name.ends_with(&format!("-{}.json", phase.phase))
            });
        }
        let text = names.iter().find_map(|name| fs::read_to_string(folder.join(name)).ok())?;
        Some(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Whole or not at all: a file of another name first.
    fn checkpoint(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        status: &str,
        files: &[String],
        next: Option<&str>,
    ) -> Result<(), String> {
        let time = if self.is("local-time") { "2026-01-01T12:00:00" } else { NOW };
        let files = if self.is("no-files") { &[] } else { files };
        let mut says = json!({
            "issue_number": asked.issue, "phase": phase.phase, "agent_name": phase.agent, "files_modified": files,
            "status": status, "timestamp": time, "next_agent": next,
        });
        if self.is("missing-field") {
            says.as_object_mut().map(|says| says.remove("next_agent"));
        }
        let name = format!("{}-{}.json", asked.issue, phase.phase);
        put(&asked.folder.join(".kilo/logs/checkpoints").join(name), says.to_string())
    }

    /// The files that an agent has changed, or nothing if it failed.
    async fn work(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        resumes: bool,
    ) -> Result<Option<Vec<String>>, String> {
        let root = &asked.folder;
        let place = root.join(".kilo/worktrees").join(&asked.issue).join(&phase.agent);
        let branch = format!("work/{}-{}", plain(&asked.issue), phase.agent);
        let reused = self.is("reuses-worktree") && place.exists();
        if !reused {
            self.put_away(asked, phase, &place, &branch).await?;
            let path = place.to_string_lossy().into_owned();
            git(asked, root, &["worktree", "add", "--quiet", "-b", &branch, &path]).await?;
        }
        if phase.destructive && !self.is("no-fork") {
            git(asked, root, &["branch", &free_name(asked, phase).await?]).await?;
        }
        if self.is("stash-all") {
            git(asked, root, &["stash", "push", "--include-untracked"]).await?;
        }
        let elsewhere = self.is("resume-in-main") && resumes;
        let is_done = prompt(asked, phase, if elsewhere { root } else { &place }).await?;
        if elsewhere {
            return Ok(is_done.then(Vec::new));
        }
        let stage = if self.is("no-untracked") { "--update" } else { "--all" };
        git(asked, &place, &["add", stage]).await?;
        let diff = git(asked, &place, &["diff", "--cached", "--binary", "HEAD"]).await?;
        git(asked, &place, &["add", "--all"]).await?;
        let files = git(asked, &place, &["diff", "--cached", "--name-only", "HEAD"]).await?;
        let message = format!("{}: {}", asked.issue, phase.phase);
        git(asked, &place, &["commit", "--quiet", "--allow-empty", "--message", &message]).await?;
        if is_done || self.is("merge-on-fail") {
            git(asked, root, &["merge", "--quiet", "--no-edit", &branch]).await?;
        }
        self.log(asked, phase, &diff, is_done)?;
        Ok(is_done.then(|| files.lines().map(str::to_owned).collect()))
    }

    /// The worktree of a phase that is merged.
    async fn remove(&self, asked: &Pipeline, phase: &Phase, is_merged: bool) -> Result<(), String> {
        let place = asked.folder.join(".kilo/worktrees").join(&asked.issue).join(&phase.agent);
        if is_merged && place.exists() {
            git(asked, &asked.folder, &["worktree", "remove", "--force", &place.to_string_lossy()]).await?;
            let branch = format!("work/{}-{}", plain(&asked.issue), phase.agent);
            git(asked, &asked.folder, &["branch", "--quiet", "-D", &branch]).await?;
        }
        Ok(())
    }

    /// What an agent that was killed has left is kept behind a ref, and its worktree goes.
    async fn put_away(
        &self,
        asked: &Pipeline,
        phase: &Phase,
        place: &Path,
        branch: &str,
    ) -> Result<(), String> {
        let root = &asked.folder;
        git(asked, root, &["worktree", "prune"]).await?;
        if place.join(".git").exists() {
            git(asked, place, &["add", "--all"]).await?;
            if !git(asked, place, &["diff", "--cached", "--name-only", "HEAD"]).await?.is_empty() {
                git(asked, place, &["commit", "--quiet", "--message", "What was left"]).await?;
            }
            git(asked, place, &["branch", &free_name(asked, phase).await?]).await?;
            git(asked, root, &["worktree", "remove", "--force", &place.to_string_lossy()]).await?;
        }
        if git(asked, root, &["rev-parse", "--verify", "--quiet", branch]).await.is_ok() {
            git(asked, root, &["branch", "--quiet", "-D", branch]).await?;
        }
        Ok(())
    }

    /// Each diff stands behind the ones before it: together they are what the agent has made. What came to nothing stands
    /// apart.
    fn log(&self, asked: &Pipeline, phase: &Phase, diff: &str, is_done: bool) -> Result<(), String> {
        let end = if is_done { "" } else { "-failed" };
        let name = format!("{}-{}{end}.patch", asked.issue, phase.agent);
        let path = asked.folder.join(".kilo/logs/diffs").join(name);
        let before = match is_done && !self.is("patch-overwrite") {
            true => fs::read_to_string(&path).unwrap_or_default(),
            false => String::new(),
        };
        put(&path, format!("{before}{diff}"))
    }

    /// The worktrees of this issue go, but for those that hold work.
    async fn sweep(&self, asked: &Pipeline) -> Result<Value, String> {
        if self.is("leak-on-kill") {
            return Ok(json!({}));
        }
        let root = &asked.folder;
        let all = self.is("force-remove");
        let own = root.join(".kilo/worktrees").join(if all { "" } else { asked.issue.as_str() });
        let listed = git(asked, root, &["worktree", "list", "--porcelain"]).await?;
        for place in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            if !Path::new(place).starts_with(&own) || place == root.to_string_lossy() {
                continue;
            }
            let is_clean = git(asked, Path::new(place), &["status", "--porcelain"]).await?.is_empty();
            if all || is_clean {
                git(asked, root, &["worktree", "remove", "--force", place]).await?;
            }
        }
        git(asked, root, &["worktree", "prune"]).await?;
        Ok(json!({}))
    }
}

fn plain(text: &str) -> String {
    text.chars().filter(|it| it.is_ascii_alphanumeric()).collect()
}

/// A name that nobody has yet, and that is one everywhere: a time with colons is none.
async fn free_name(asked: &Pipeline, phase: &Phase) -> Result<String, String> {
    let (issue, time) = (plain(&asked.issue), plain(NOW));
    for number in 0.. {
        let name = format!("checkpoint/{issue}-{}-{time}-{number}", phase.agent);
        if git(asked, &asked.folder, &["rev-parse", "--verify", "--quiet", &name]).await.is_err() {
            return Ok(name);
        }
    }
    Err("no name is free".to_owned())
}

/// Sends an agent to work. It has not done it if the server says so, in whatever words.
async fn prompt(asked: &Pipeline, phase: &Phase, place: &Path) -> Result<bool, String> {
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
    let text = format!("Issue {}, phase {}. Do your part.", asked.issue, phase.phase);
    let body = json!({"agent": phase.agent, "parts": [{"type": "text", "text": text}]});
    let (is_success, said) = post(format!("/session/{id}/message"), body).await?;
    Ok(is_success && said.pointer("/info/error").is_none())
}

/// git, in this folder, found where the pipeline says.
async fn git(asked: &Pipeline, folder: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    if let Some(path) = &asked.path {
        command.env("PATH", path);
    }
    alone(command.as_std_mut());
    command.args(args).current_dir(folder).kill_on_drop(true);
    let output = command.output().await.map_err(|error| format!("git: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("git {}: {}", args.join(" "), text(&output.stderr))),
    }
}

fn put(path: &Path, text: String) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(told)?;
    let partial = path.with_extension("partial");
    fs::write(&partial, text).and_then(|()| fs::rename(&partial, path)).map_err(told)
}
